"""What Hob says over `/ws`, field by field: for the reference, and whoever writes a client.

Beside these fields each message has its `type`, and the `ref` of what it answers, if one was given.
"""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from hob.gateway.routes.answers import (
    ApprovalAnswer,
    ApprovalsAnswer,
    ChatAnswer,
    ErrorBody,
    EventAnswer,
    SettledAnswer,
)


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

    asked: Annotated[list[ApprovalAnswer], "each question for leave; none where words answer it: `send` them"]


class StoppedMessage(TypedDict):
    """A stop was asked for."""

    id: Annotated[str, "the message's id"]
    stopped: Annotated[bool, "false where nothing was left to stop; its `result` tells how it ended"]


class PongMessage(TypedDict):
    """A sign of life."""


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
    "pong": (PongMessage, "Hob is there"),
    "error": (ErrorMessage, "it had no effect, or cannot be followed any more"),
}
"""Every message by its type: its fields, and what it says."""
