"""Views of the API and the commands: plain JSON values read from the store, without decisions."""

from collections.abc import AsyncIterator
from typing import NotRequired, TypedDict

from hob.core.content.fallbacks import parse_options
from hob.core.errors import InvalidRequest
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey
from hob.core.messages import LOCAL_CHANNEL, Attachment, OutboundKind
from hob.core.models import Usage
from hob.core.states import FINAL_TURNS, TurnState
from hob.core.translation.language import translatable
from hob.core.turns import WaitsFor
from hob.gateway.http.failures import ErrorBody, status_of_fault
from hob.store.messages.outbox import SentBeside
from hob.store.messages.results import Result
from hob.store.store import Store
from hob.store.tasks import TaskRow
from hob.store.titles import title_of

FINAL = frozenset(state.value for state in FINAL_TURNS)


class UsageAnswer(TypedDict):
    """Tokens and dollars.

    cost_usd: null if a price is unknown
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost_usd: float | None


class SentFile(TypedDict):
    """A file of a message that Hob sent.

    id: the id for `GET /attachments/{id}`
    size: bytes
    url: the path that returns it
    path: only in the terminal: where it is on this machine
    """

    id: str
    name: str
    media_type: str
    size: int
    url: str
    path: NotRequired[str]


class AnsweredMessage(TypedDict):
    """The message that another one answers.

    text: the beginning of its first line
    """

    id: str
    text: str


class SentMessageAnswer(TypedDict):
    """A message that Hob sent beside its answer, with the tool `message`.

    buttons: choices; sending one of them, or its number, answers
    poll: the options of a poll; answered like `buttons`
    """

    id: str
    text: str
    reply_to: AnsweredMessage | None
    attachments: list[SentFile]
    buttons: list[str]
    poll: list[str]


class ChatAnswer(TypedDict):
    """The state of a message.

    id: the message's id; also its task's
    session: the session it belongs to
    trace_id: the argument of `hob timeline --trace`
    state: `waiting`, or the state of its turn (see [states](states.md#turn))
    reply: the answer, and nothing else; null while there is none and if there is an error
    notes: lines about the answer that are not part of it, e.g. that another model gave it
    usage: tokens and dollars of its turn; `cost_usd` is null if a price is unknown
    error: only if it failed: `code` and `message` ([errors](errors.md))
    notice: only if it was cancelled: the text that people were shown
    question: only while people are asked: what, and how to answer ([how](../how-to/answer-questions.md))
    approvals: only beside `question`: the ids for `/approvals/{id}`; none if words answer it
    choices: only beside `question`, if it offers some: one of them, or its number, answers
    waits_for: only while a tool of the program itself is waited for: `client`
    merged_into: only if it joined another message's turn: that message's id
    messages: only if there are some: what Hob sent beside the answer, oldest first
    """

    id: str
    session: str
    trace_id: str
    state: str
    reply: str | None
    notes: list[str]
    usage: UsageAnswer
    error: NotRequired[ErrorBody]
    notice: NotRequired[str]
    question: NotRequired[str]
    approvals: NotRequired[list[str]]
    choices: NotRequired[list[str]]
    waits_for: NotRequired[str]
    merged_into: NotRequired[str]
    messages: NotRequired[list[SentMessageAnswer]]


class UnreadMessage(TypedDict):
    """A message whose outcome was not fetched yet.

    created: the time of the outcome
    unasked: whether Hob started it, e.g. the result of background work
    """

    id: str
    session: str
    state: str
    title: str
    created: float
    unasked: bool


class UnreadAnswer(TypedDict):
    """The outcomes waiting to be fetched, oldest first."""

    messages: list[UnreadMessage]


class EventAnswer(TypedDict):
    """An event of the timeline ([kinds](timeline.md)).

    media: the id of its attachment
    erased: when its text was erased; null if it was not, or there was none
    """

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
    media: str | None
    seconds: float | None
    usage: UsageAnswer | None
    erased: float | None


class TimelineAnswer(TypedDict):
    """Events, in order."""

    events: list[EventAnswer]


class TaskAnswer(TypedDict):
    """A task.

    state: see [states](states.md)
    waits_for: what its turn waits for: `approval`, `answer`, `child`, `client`, `time` or `store`; else empty
    question: only while it waits for an `answer`: what it asks
    choices: only beside `question`, if it offers some: one of them, or its number, answers
    """

    id: str
    state: str
    session: str
    trace_id: str
    title: str
    reason: str
    created: float
    updated: float
    waits_for: str
    question: NotRequired[str]
    choices: NotRequired[list[str]]


class TasksAnswer(TypedDict):
    """Tasks, newest first.

    before: leads to the next part as the parameter of this name; null at the end
    """

    tasks: list[TaskAnswer]
    before: str | None


def usage_view(usage: Usage, cost: int | None) -> UsageAnswer:
    """Return tokens, and dollars if the price is known (else null, never 0)."""
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cached_tokens": usage.cache_read,
        "reasoning_tokens": usage.reasoning,
        "cost_usd": None if cost is None else cost / 1_000_000,
    }


def chat_view(result: Result) -> ChatAnswer:
    """Return the state of a message; see `ChatAnswer`."""
    final = result.state in FINAL
    cancelled = result.state == TurnState.CANCELLED
    answered = result.kind in (OutboundKind.REPLY, OutboundKind.NOTICE) and not cancelled
    view: ChatAnswer = {
        "id": result.id,
        "session": result.session,
        "trace_id": result.trace,
        "state": result.state,
        "reply": result.reply if final and answered else None,
        "notes": list(result.notes),
        "usage": usage_view(result.usage, result.cost),
    }
    if final and result.kind is OutboundKind.ERROR:
        code = result.state if result.state == TurnState.SET_ASIDE else result.reason or "failed"
        view["error"] = {"code": code, "message": result.reply}
    if cancelled and result.reply:
        view["notice"] = result.reply
    if result.question:
        view["question"], view["approvals"] = result.question, list(result.approvals)
        if choices := () if result.approvals else parse_options(result.question):
            view["choices"] = list(choices)
    if result.for_client:
        view["waits_for"] = "client"
    if result.merged_into:
        view["merged_into"] = result.merged_into
    if result.sent:
        view["messages"] = [sent_view(each) for each in result.sent]
    return view


def sent_view(sent: SentBeside) -> SentMessageAnswer:
    """Return a message to a client as its fields."""
    message = sent.outbound
    return {
        "id": message.id,
        "text": message.text,
        "reply_to": {"id": message.about, "text": title_of(sent.quoted)} if message.about else None,
        "attachments": [_file_view(each, path=message.to.channel == LOCAL_CHANNEL) for each in message.attachments],
        "buttons": [each.answer for each in message.buttons],
        "poll": list(message.poll),
    }


def _file_view(file: Attachment, *, path: bool) -> SentFile:
    id = file.blob or ""
    view: SentFile = {
        "id": id,
        "name": file.name,
        "media_type": file.media_type,
        "size": file.size,
        "url": f"/attachments/{id}",
    }
    if path and file.link:
        view["path"] = file.link
    return view


def chat_status(view: ChatAnswer) -> int:
    """Return the HTTP status that matches the view: a failure is never a 200."""
    if "error" in view:
        return status_of_fault(view["error"]["code"])
    return 200 if view["state"] in FINAL else 202


async def unread_view(store: Store, channel: str, session: str | None = None, after: float = 0.0) -> UnreadAnswer:
    """Return the newest messages whose outcome was not fetched, oldest first; optionally of one session and after a
    time.
    """
    return {
        "messages": [
            {
                "id": row.inbound,
                "session": row.session,
                "state": row.state,
                "title": row.title,
                "created": row.created,
                "unasked": row.unasked,
            }
            for row in await store.outbox.unfetched(channel)
            if session in (None, row.session) and row.created > after
        ]
    }


def without_content(view: EventAnswer) -> EventAnswer:
    """Return the event without message content.

    Any first word after a slash is recorded as a command's name, and what a model made up as a tool's.
    """
    said = view["kind"] == EventKind.COMMAND or view["status"] == "unknown_tool"
    return {**view, "text": "", "media": None, "sender_name": "", "name": "" if said else view["name"]}


def event_view(event: TimelineEvent) -> EventAnswer:
    """Return one timeline event."""
    # enumerations are strings; reading each one's `value` would double the time
    return {
        "event_id": event.id,
        "trace_id": event.trace,
        "span_id": event.span,
        "parent_span_id": event.parent,
        "at": event.at,
        "kind": event.kind,
        "name": event.name,
        "status": event.status,
        "type": event.type,
        "session": event.session,
        "turn": event.turn,
        "sender_id": event.sender_id,
        "sender_name": event.sender_name,
        "classification": event.classification,
        "authorized": event.authorized,
        "origin": event.label.origin if event.label else None,
        "trust": event.label.trust if event.label else None,
        "text": event.text,
        "media": event.media,
        "seconds": event.seconds,
        "usage": usage_view(event.usage, event.cost) if event.usage else None,
        "erased": event.erased,
    }


async def timeline_view(store: Store, *, trace: str | None, session: str | None, limit: int) -> TimelineAnswer:
    """Return one trace, by a prefix of its id, a message or a turn; or the latest events. Raises InvalidRequest."""
    if trace:
        found = await store.timeline.begins(trace)
        if len(found) > 1:
            raise InvalidRequest(translatable("several ids begin with {trace}; give more of it", trace=trace))
        events = await store.timeline.trace(found[0]) if found else ()
    else:
        events = await store.timeline.latest(limit, session=SessionKey(session) if session else None)
    return {"events": [event_view(event) for event in events]}


def task_view(row: TaskRow, *, shown: bool = True) -> TaskAnswer:
    """Return one task."""
    view: TaskAnswer = {
        "id": row.id,
        "state": row.state,
        "session": row.session,
        "trace_id": row.trace,
        "title": row.title if shown else "",
        "reason": row.reason,
        "created": row.created,
        "updated": row.updated,
        "waits_for": row.waits_for or "",
    }
    if shown and row.question and row.waits_for is WaitsFor.ANSWER:
        view["question"] = row.question
        if choices := parse_options(row.question):
            view["choices"] = list(choices)
    return view


async def export_lines(store: Store, session: str | None) -> AsyncIterator[str]:
    """Yield the JSON lines of one session, or of all without one."""
    lines = store.export_session(SessionKey(session)) if session else store.export_all()
    async for line in lines:
        yield line + "\n"
