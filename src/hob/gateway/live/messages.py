"""Messages to clients of `/ws`."""

from collections.abc import Mapping
from typing import Any, Generic, NotRequired, TypedDict, TypeVar

from hob.core.values import dataclass
from hob.gateway.approvals import ApprovalAnswer, ApprovalsAnswer, SettledAnswer
from hob.gateway.http.failures import ErrorBody
from hob.gateway.routes.views import ChatAnswer, EventAnswer, SentMessageAnswer

T = TypeVar("T", bound=Mapping[str, object])


class WelcomeMessage(TypedDict):
    """The token is valid; every message is accepted from now on.

    who: the token's holder: `api:` and its name, or `local:owner` at the Unix socket
    sender_class: sender class of the client's messages: `owner`, `member` or `stranger`
    """

    version: str
    who: str
    sender_class: str
    scopes: list[str]


class CursorMessage(TypedDict):
    """A position in the event stream.

    cursor: continue with `after` this
    """

    cursor: int


class EventMessage(TypedDict):
    """An event.

    cursor: continue with `after` this
    event: as in `GET /timeline` ([kinds](timeline.md))
    """

    cursor: int
    event: EventAnswer


class AcceptedMessage(TypedDict):
    """The message is stored durably.

    id: the message's id
    """

    id: str
    session: str
    trace_id: str


class PieceMessage(TypedDict):
    """A piece of streamed text.

    id: the message's id
    """

    id: str
    text: str


class RetractedMessage(TypedDict):
    """Streamed text is void.

    id: the message's id
    """

    id: str


class ProgressMessage(TypedDict):
    """Progress of a turn.

    id: the message's id
    """

    id: str
    what: str
    name: str
    text: str


class SentBesideMessage(TypedDict):
    """A message beside the answer.

    id: the id of the message that is followed
    message: also among the `messages` of `result`
    """

    id: str
    message: SentMessageAnswer


class QuestionMessage(ChatAnswer):
    """The message's state and its open questions.

    asked: the questions for approval; empty if an answer in words is expected: `send` it
    """

    asked: list[ApprovalAnswer]


class StoppedMessage(TypedDict):
    """A stop was requested.

    id: the message's id
    stopped: false if nothing was left to stop; its `result` tells how it ended
    """

    id: str
    stopped: bool


class PongMessage(TypedDict):
    """The answer to `ping`."""


class CanvasShownMessage(TypedDict):
    """The canvas page that this browser shows.

    page: its id; empty for none
    """

    page: str
    version: int


class CanvasAskMessage(TypedDict):
    """A question to the page.

    ask: the question's id
    script: the script to run in the page; empty to ask how it looks
    """

    ask: str
    script: str


class CanvasAnsweredMessage(TypedDict):
    """A page's answer was received.

    ask: the question's id
    taken: false if it came too late
    """

    ask: str
    taken: bool


class ErrorMessage(TypedDict):
    """A request failed, or following a message ended.

    id: the message's id, if there is one
    retry_after: seconds to wait before trying again
    """

    error: ErrorBody
    id: NotRequired[str]
    retry_after: NotRequired[int]


@dataclass(frozen=True, slots=True)
class LiveMessage(Generic[T]):
    """A type of message: its fields beside `type` and `ref`, and its meaning."""

    name: str
    form: type[T]
    meaning: str


WELCOME = LiveMessage("welcome", WelcomeMessage, "the token is good; without `ref` where it was shown in the header")
SUBSCRIBED = LiveMessage("subscribed", CursorMessage, "events after this cursor follow")
EVENT = LiveMessage("event", EventMessage, "something happened")
CAUGHT_UP = LiveMessage(
    "caught_up", CursorMessage, "all up to this cursor was shown; from here on events come as they happen"
)
ACCEPTED = LiveMessage("accepted", AcceptedMessage, "the message is durable: whatever happens now, it is answered")
DELTA = LiveMessage("delta", PieceMessage, "a piece of the answer")
REASONING = LiveMessage("reasoning", PieceMessage, "a piece of the model's reasoning, not part of the answer")
RETRACTED = LiveMessage(
    "retracted", RetractedMessage, "what was streamed since the last round is void; it is written anew"
)
PROGRESS = LiveMessage(
    "progress", ProgressMessage, "a tool began or ended, the model is slow, the turn waits, a note (`remark`)"
)
MESSAGE = LiveMessage("message", SentBesideMessage, "Hob sent a message beside the answer: files, choices, a poll")
QUESTION = LiveMessage(
    "question", QuestionMessage, "people are asked and the turn waits; it goes on when they have answered"
)
RESULT = LiveMessage("result", ChatAnswer, "last: what became of the message")
STOPPED = LiveMessage("stopped", StoppedMessage, "the turn ends")
APPROVALS = LiveMessage("approvals", ApprovalsAnswer, "the questions that stand")
ANSWERED = LiveMessage("answered", SettledAnswer, "the question as it stands now")
CANVAS_SHOWN = LiveMessage("canvas_shown", CanvasShownMessage, "Hob knows which canvas page this browser shows")
CANVAS_ASK = LiveMessage("canvas_ask", CanvasAskMessage, "Hob asks the canvas page something")
CANVAS_ANSWERED = LiveMessage("canvas_answered", CanvasAnsweredMessage, "Hob has what the canvas page said")
PONG = LiveMessage("pong", PongMessage, "Hob is there")
ERROR = LiveMessage("error", ErrorMessage, "it had no effect, or cannot be followed any more")

LIFE = (ACCEPTED, DELTA, REASONING, RETRACTED, PROGRESS, MESSAGE, QUESTION, RESULT)
"""Messages that follow a sent message, in order."""
MESSAGES: Mapping[str, LiveMessage[Any]] = {
    each.name: each
    for each in (
        *(WELCOME, SUBSCRIBED, EVENT, CAUGHT_UP, *LIFE, STOPPED, APPROVALS, ANSWERED),
        *(CANVAS_SHOWN, CANVAS_ASK, CANVAS_ANSWERED, PONG, ERROR),
    )
}
