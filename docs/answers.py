"""What the API and `/ws` answer, field by field: for the reference, the OpenAPI file and authors of clients.

A field without a word is what its name says. Times are Unix seconds. Messages of `/ws` have, beside these fields, their
`type`, and the `ref` of what they answer, if one was given. The formats below `/v1` are OpenAI's.
"""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict


class ErrorBody(TypedDict):
    """What went wrong."""

    code: Annotated[str, "for programs"]
    message: Annotated[str, "for people"]


class Failed(TypedDict):
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
    choices: NotRequired[
        Annotated[list[str], "only beside `question`, where it offers some: one of them, or its number, answers"]
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
    """A message whose outcome was not fetched yet."""

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
    seed: Annotated[
        str, "`Identity`, `Bootstrap`, `Working Memory`, `Observations`, `Skills Summary`, `RAG`, `Conversation`"
    ]
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
    message: Annotated[str | None, "what `GET /chat/{id}` takes; null for a reply that is sent again"]
    state: str


class StoppedAnswer(TypedDict):
    """How much was ended."""

    ended: int


class LiftedAnswer(TypedDict):
    """Whether anything was held."""

    lifted: bool


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


class RebuiltAnswer(TypedDict):
    """A model call of a turn, and whether its request can be built again."""

    step: Annotated[int, "the number of its step in the journal"]
    model: str
    sent: Annotated[str, "the SHA-256 of the body that was sent; empty where that was not noted"]
    identical: Annotated[bool | None, "the same bytes would be sent again; null: that cannot be told"]
    why: Annotated[str, "why not, or why it cannot be told"]


class ReplayedCall(TypedDict):
    """A tool that a model called."""

    name: str
    arguments: Annotated[str, "JSON, as the model wrote it"]
    recorded: Annotated[bool, "it was answered with what the turn's tool gave; else with that it was not made"]


class ReplaySide(TypedDict):
    """What came of a turn with one model."""

    model: str
    text: str
    calls: list[ReplayedCall]
    rounds: Annotated[int, "how often the model was asked"]
    seconds: Annotated[float, "the model's time, without that of the tools"]
    trouble: Annotated[str, "why it has no end, if it has none"]
    cost_usd: float | None
    input_tokens: int
    output_tokens: int


class ReplayAnswer(TypedDict):
    """A turn, and the same with another model."""

    turn: str
    trace: str
    rebuilt: list[RebuiltAnswer]
    then: ReplaySide
    now: Annotated[ReplaySide | None, "null where no model was named"]
    difference: Annotated[list[str], "of the texts: the lines of a unified diff"]


class ApprovalAnswer(TypedDict):
    """A question for approval."""

    id: str
    state: Annotated[str, "see [states](states.md)"]
    tool: str
    reason: str
    rule: str
    shown: Annotated[str, "all that would be done"]
    question: Annotated[
        dict[str, Any] | None, "the values that `shown` was made of; null for a question of an older Hob"
    ]
    scopes: Annotated[list[str], "how far an approval may reach here"]
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
    """An approval that holds for more than once."""

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


class OpenAIErrorBody(TypedDict):
    """What went wrong, as OpenAI tells it."""

    message: Annotated[str, "for people"]
    type: Annotated[str, "what kind of error, by the status"]
    param: Annotated[str | None, "the field that is wrong, where it is one"]
    code: Annotated[str, "for programs"]


class OpenAIFailed(TypedDict):
    """An error, as OpenAI tells it."""

    error: OpenAIErrorBody


class Completion(TypedDict):
    """An answer, in OpenAI's form."""

    id: str
    object: str
    created: int
    model: Annotated[str, "as it was asked for"]
    choices: Annotated[list[dict[str, Any]], "one: `message.content` is the answer"]
    usage: Annotated[dict[str, Any], "tokens of all that the turn asked its models"]
    hob: Annotated[dict[str, Any], "`id`, `session`, `trace_id`, `state`, `notes`; `question` and `approvals`"]


class ResponseAnswer(TypedDict):
    """A response, in OpenAI's form."""

    id: str
    object: str
    created_at: int
    status: str
    model: Annotated[str, "as it was asked for; `hob` where it is looked up later"]
    output: Annotated[list[dict[str, Any]], "one message; none before there is an answer"]
    usage: Annotated[dict[str, Any] | None, "tokens of all that the turn asked its models"]
    error: Annotated[dict[str, Any] | None, "only where it failed"]
    hob: NotRequired[Annotated[dict[str, Any], "the same as of a completion"]]


class ModelAnswer(TypedDict):
    """A model that a request may name."""

    id: str
    object: str
    created: int
    owned_by: str


class ModelsAnswer(TypedDict):
    """Models that a request may name."""

    object: str
    data: list[ModelAnswer]


class EmbeddingAnswer(TypedDict):
    """Vectors, in the order of the texts."""

    object: str
    data: Annotated[list[dict[str, Any]], "`embedding` is a list of numbers, or base64 of little-endian float32"]
    model: str
    usage: dict[str, Any]


class WelcomeMessage(TypedDict):
    """The token is good: from now on everything may be said."""

    version: str
    who: Annotated[str, "whose token it is: `api:` and its name, or `local:owner` at the Unix socket"]
    sender_class: Annotated[str, "whose words come in with it: `owner`, `member` or `stranger`"]
    scopes: list[str]


class CursorMessage(TypedDict):
    """A place among the events."""

    cursor: Annotated[int, "go on with `after` this"]


class EventMessage(TypedDict):
    """Something that happened."""

    cursor: Annotated[int, "go on with `after` this"]
    event: Annotated[EventAnswer, "as `GET /timeline` tells it ([kinds](timeline.md))"]


class AcceptedMessage(TypedDict):
    """The message is durable."""

    id: Annotated[str, "the message's id"]
    session: str
    trace_id: str


class PieceMessage(TypedDict):
    """Text, as it grows."""

    id: Annotated[str, "the message's id"]
    text: str


class RetractedMessage(TypedDict):
    """Something streamed is void."""

    id: Annotated[str, "the message's id"]


class ProgressMessage(TypedDict):
    """What is going on."""

    id: Annotated[str, "the message's id"]
    what: str
    name: str
    text: str


class QuestionMessage(ChatAnswer):
    """The message as it is, and what is asked."""

    asked: Annotated[list[ApprovalAnswer], "each question for approval; none where words answer it: `send` them"]


class StoppedMessage(TypedDict):
    """A stop was asked for."""

    id: Annotated[str, "the message's id"]
    stopped: Annotated[bool, "false where nothing was left to stop; its `result` tells how it ended"]


class PongMessage(TypedDict):
    """A sign of life."""


class CanvasShownMessage(TypedDict):
    """Which canvas page this browser shows."""

    page: Annotated[str, "its id; empty: none"]
    version: int


class CanvasAskMessage(TypedDict):
    """A question to the page."""

    ask: Annotated[str, "the question's id"]
    script: Annotated[str, "what is to be run in it; empty: how does it look"]


class CanvasAnsweredMessage(TypedDict):
    """An answer of the page came."""

    ask: Annotated[str, "the question's id"]
    taken: Annotated[bool, "false where nobody waits for it any more"]


class ErrorMessage(TypedDict):
    """What was said had no effect, or its following has ended."""

    error: ErrorBody
    id: NotRequired[Annotated[str, "the message's id, where there is one"]]
    retry_after: NotRequired[Annotated[int, "seconds after which to try again"]]


MESSAGES: Mapping[str, tuple[Any, str]] = {
    "welcome": (WelcomeMessage, "the token is good; without `ref` where it was shown in the header"),
    "subscribed": (CursorMessage, "events after this cursor follow"),
    "event": (EventMessage, "something happened"),
    "caught_up": (CursorMessage, "all up to this cursor was shown; from here on events come as they happen"),
    "accepted": (AcceptedMessage, "the message is durable: whatever happens now, it is answered"),
    "delta": (PieceMessage, "a piece of the answer"),
    "reasoning": (PieceMessage, "a piece of the model's reasoning, not part of the answer"),
    "retracted": (RetractedMessage, "what was streamed since the last round is void; it is written anew"),
    "progress": (ProgressMessage, "a tool began or ended, the model is slow, the turn waits, a note (`remark`)"),
    "question": (QuestionMessage, "people are asked and the turn waits; it goes on when they have answered"),
    "result": (ChatAnswer, "last: what became of the message"),
    "stopped": (StoppedMessage, "the turn ends"),
    "approvals": (ApprovalsAnswer, "the questions that stand"),
    "answered": (SettledAnswer, "the question as it stands now"),
    "canvas_shown": (CanvasShownMessage, "Hob knows which canvas page this browser shows"),
    "canvas_ask": (CanvasAskMessage, "Hob asks the canvas page something"),
    "canvas_answered": (CanvasAnsweredMessage, "Hob has what the canvas page said"),
    "pong": (PongMessage, "Hob is there"),
    "error": (ErrorMessage, "it had no effect, or cannot be followed any more"),
}
"""Every message by its type: its fields, and what it says."""

ANSWERS: Mapping[tuple[str, str], tuple[tuple[int, Any], ...]] = {
    ("POST", "/chat"): ((200, ChatAnswer), (202, ChatAnswer)),
    ("GET", "/chat/{id}"): ((200, ChatAnswer), (202, ChatAnswer)),
    ("POST", "/attachments"): ((200, HandedInAnswer),),
    ("POST", "/hooks/{name}"): ((200, DeliveryAnswer), (202, DeliveryAnswer)),
    ("GET", "/ws"): ((101, dict[str, Any]),),
    ("GET", "/health"): ((200, HealthAnswer), (503, HealthAnswer)),
    ("GET", "/memory/embedding/healthz"): ((200, dict[str, Any]), (503, dict[str, Any])),
    ("GET", "/usage"): ((200, SpendingAnswer),),
    ("GET", "/unread"): ((200, UnreadAnswer),),
    ("GET", "/tasks"): ((200, TasksAnswer),),
    ("GET", "/timeline"): ((200, TimelineAnswer),),
    ("GET", "/prompt"): ((200, PromptAnswer),),
    ("POST", "/stop"): ((200, StoppedAnswer),),
    ("POST", "/resume"): ((200, LiftedAnswer),),
    ("POST", "/retry/{id}"): ((202, RetriedAnswer),),
    ("POST", "/retry"): ((202, AllRetriedAnswer),),
    ("POST", "/undo"): ((200, UndoneAnswer),),
    ("POST", "/replay"): ((200, ReplayAnswer),),
    ("GET", "/approvals"): ((200, ApprovalsAnswer),),
    ("GET", "/approvals/{id}"): ((200, ApprovalAnswer),),
    ("POST", "/approvals/{id}"): ((200, SettledAnswer),),
    ("GET", "/grants"): ((200, GrantsAnswer),),
    ("DELETE", "/grants/{id}"): ((200, IdAnswer),),
    ("POST", "/import"): ((200, ImportedAnswer),),
    ("POST", "/hand-over"): ((202, dict[str, Any]),),
    ("POST", "/v1/chat/completions"): ((200, Completion), (202, Completion)),
    ("POST", "/v1/responses"): ((200, ResponseAnswer), (202, ResponseAnswer)),
    ("GET", "/v1/responses/{id}"): ((200, ResponseAnswer), (202, ResponseAnswer)),
    ("POST", "/v1/responses/{id}/cancel"): ((200, ResponseAnswer), (202, ResponseAnswer)),
    ("POST", "/v1/embeddings"): ((200, EmbeddingAnswer),),
    ("GET", "/v1/models"): ((200, ModelsAnswer),),
    ("GET", "/v1/models/{id:path}"): ((200, ModelAnswer),),
}
"""The bodies of each route's answers by status; of the others it is an object that says all by its names."""


def answers_of(method: str, path: str) -> tuple[tuple[int, Any], ...]:
    """The bodies of a route's answers, by status."""
    return ANSWERS.get((method, path), ((200, dict[str, Any]),))


def failure_of(path: str) -> Any:
    """What a route tells of a failure."""
    return OpenAIFailed if path.startswith("/v1/") else Failed
