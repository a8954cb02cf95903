"""What the routes answer, field by field: for the reference, the OpenAPI file and whoever writes a client.

A field without a word is what its name says. Times are Unix seconds.
"""

from typing import Annotated, NotRequired, TypedDict


class ErrorBody(TypedDict):
    """What went wrong."""

    code: Annotated[str, "for programs"]
    message: Annotated[str, "for people"]


class FailedAnswer(TypedDict):
    """An error."""

    error: ErrorBody


class UsageAnswer(TypedDict):
    """Tokens and dollars."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost_usd: Annotated[float | None, "null where a price is unknown"]


class ChatAnswer(TypedDict):
    """What became of a message."""

    id: Annotated[str, "the message's id; also its task's"]
    session: Annotated[str, "the session it belongs to"]
    trace_id: Annotated[str, "what `hob timeline --trace` takes"]
    state: Annotated[str, "`waiting`, or the state of its turn (see [states](states.md#turn))"]
    reply: Annotated[str | None, "the answer, and nothing else; null while there is none and where there is an error"]
    notes: Annotated[list[str], "lines about the answer that are no part of it, e.g. that another model gave it"]
    usage: Annotated[UsageAnswer, "tokens and dollars of its turn; `cost_usd` is null where a price is unknown"]
    error: NotRequired[Annotated[ErrorBody, "only where it failed: `code` and `message` ([errors](errors.md))"]]
    notice: NotRequired[Annotated[str, "only where it was cancelled: what people were told"]]
    question: NotRequired[
        Annotated[str, "only while people are asked: what, and how to answer ([how](../how-to/answer-questions.md))"]
    ]
    approvals: NotRequired[
        Annotated[list[str], "only beside `question`: the ids for `/approvals/{id}`; none where words answer it"]
    ]
    merged_into: NotRequired[Annotated[str, "only where it joined another message's turn: that message's id"]]


class DeliveryAnswer(TypedDict):
    """A webhook's delivery that was taken."""

    id: Annotated[str | None, "the message it became, for `GET /chat/{id}`; null where Hob itself had sent it"]
    state: Annotated[str, "`accepted`, `duplicate` of an earlier one with this id, or Hob's `own`"]


class HandedInAnswer(TypedDict):
    """A file that was taken."""

    id: Annotated[str, "what `attachments` of `POST /chat` takes"]
    media_type: str
    size: Annotated[int, "bytes"]


class ImportedAnswer(TypedDict):
    """What became of past messages."""

    new: Annotated[int, "messages that are kept from now on"]
    there: Annotated[int, "messages that were there already"]


class HealthAnswer(TypedDict):
    """How Hob is, for machines."""

    status: Annotated[str, "`ok` or `degraded`"]
    live: Annotated[bool, "it runs; else nothing would answer"]
    ready: Annotated[bool, "messages are accepted"]
    version: str
    problem: Annotated[str | None, "why not, where they are not"]


class SpentAnswer(TypedDict):
    """What was spent on something."""

    key: NotRequired[Annotated[str, "on what"]]
    cost_usd: Annotated[float, "as far as it is known"]
    held_usd: Annotated[float, "held for calls that run"]
    calls: int
    unknown_calls: Annotated[int, "calls without a price, which are not in the cost"]
    input_tokens: int
    cached_tokens: int
    output_tokens: int


class LimitAnswer(TypedDict):
    """A limit of spending."""

    key: str
    limit_usd: float
    spent_usd: float
    held_usd: float
    left_usd: float


class SpendingAnswer(TypedDict):
    """What was spent, on what, and what is left."""

    days: int
    by: str
    since: float
    total: SpentAnswer
    rows: list[SpentAnswer]
    limits: list[LimitAnswer]


class UnreadMessage(TypedDict):
    """A message whose outcome nobody has fetched."""

    id: str
    session: str
    state: str
    title: str
    created: float


class UnreadAnswer(TypedDict):
    """What waits to be fetched, oldest first."""

    messages: list[UnreadMessage]


class TaskAnswer(TypedDict):
    """A task."""

    id: str
    state: Annotated[str, "see [states](states.md)"]
    session: str
    trace_id: str
    title: str
    reason: str
    created: float
    updated: float


class TasksAnswer(TypedDict):
    """Tasks, newest first."""

    tasks: list[TaskAnswer]


class EventAnswer(TypedDict):
    """An event of the timeline ([kinds](timeline.md))."""

    event_id: str
    trace_id: str
    span_id: str
    parent_span_id: str | None
    at: float
    kind: str
    name: str
    status: str
    type: str
    session: str | None
    turn: str | None
    sender_id: str
    sender_name: str
    classification: str
    authorized: bool
    origin: str | None
    trust: str | None
    text: str
    media: Annotated[str | None, "the id of what came along"]
    seconds: float | None
    usage: UsageAnswer | None


class TimelineAnswer(TypedDict):
    """Events, in order."""

    events: list[EventAnswer]


class SectionAnswer(TypedDict):
    """A section of a prompt."""

    name: str
    bytes: int
    tokens: int
    cached: bool


class PromptAnswer(TypedDict):
    """What the next request of a session would hold."""

    session: str
    model: str
    sections: list[SectionAnswer]
    bytes: int
    tokens: int
    limit: Annotated[int, "the most tokens it may have"]


class RetriedAnswer(TypedDict):
    """A message that was brought back."""

    id: str
    turn: Annotated[str | None, "null for what no turn had to say"]
    state: str


class AllRetriedAnswer(TypedDict):
    """What was brought back, the oldest first."""

    retried: list[RetriedAnswer]


class KeptFile(TypedDict):
    """A file that was left as it is."""

    path: str
    reason: str


class UndoneAnswer(TypedDict):
    """What was put back, or would be."""

    turn: str
    words: Annotated[str, "the first words of the message that the turn was for"]
    restored: list[str]
    unchanged: list[str]
    kept: list[KeptFile]
    running: Annotated[list[str], "what the turn has started and still runs"]
    back: Annotated[str, "the `id` that takes this back"]
    diff: NotRequired[Annotated[str, "only with `preview`"]]


class ApprovalAnswer(TypedDict):
    """A question for leave."""

    id: str
    state: Annotated[str, "see [states](states.md)"]
    tool: str
    reason: str
    rule: str
    shown: Annotated[str, "all that would be done"]
    scopes: Annotated[list[str], "how far a leave may reach here"]
    session: str
    requester: str
    message: Annotated[str | None, "the message whose turn waits for the answer"]
    asked: float
    expires: float
    answered: float | None
    by: str
    scope: str
    note: str


class ApprovalsAnswer(TypedDict):
    """Questions, oldest first."""

    approvals: list[ApprovalAnswer]


class SettledAnswer(ApprovalAnswer):
    """A question as it stands now."""

    line: Annotated[str, "the same for people"]


class GrantAnswer(TypedDict):
    """A leave that holds for more than once."""

    id: str
    tool: str
    session: Annotated[str | None, "null where it holds everywhere"]
    requester: str
    directory: str
    given: float
    by: str


class GrantsAnswer(TypedDict):
    """Leaves, oldest first."""

    grants: list[GrantAnswer]


class IdAnswer(TypedDict):
    """Something by its id."""

    id: str
