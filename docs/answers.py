"""What the API and `/ws` answer, field by field: for the reference, the OpenAPI file and authors of clients.

A field without a word is what its name says. Times are Unix seconds. Messages of `/ws` have, beside these fields, their
`type`, and the `ref` of what they answer, if one was given. The formats below `/v1` are OpenAI's.
"""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from hob.gateway.approvals import ApprovalAnswer, ApprovalsAnswer, SettledAnswer
from hob.gateway.http.failures import ErrorBody, Failed
from hob.gateway.openai.answers import OpenAIFailed
from hob.gateway.routes.views import ChatAnswer, EventAnswer


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
    taken: Annotated[bool, "false if it came too late"]


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
    ("GET", "/ws"): ((101, dict[str, Any]),),
    ("GET", "/memory/embedding/healthz"): ((200, dict[str, Any]), (503, dict[str, Any])),
    ("GET", "/prompt"): ((200, PromptAnswer),),
    ("POST", "/hand-over"): ((202, dict[str, Any]),),
}
"""The bodies of each route's answers by status; of the others it is an object that says all by its names."""


def answers_of(method: str, path: str) -> tuple[tuple[int, Any], ...]:
    """The bodies of a route's answers, by status."""
    return ANSWERS.get((method, path), ((200, dict[str, Any]),))


def failure_of(path: str) -> Any:
    """What a route tells of a failure."""
    return OpenAIFailed if path.startswith("/v1/") else Failed
