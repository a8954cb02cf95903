"""Turns as the session queue hands them to the agent, and the agent's outcomes."""

from enum import StrEnum
from typing import TypedDict

from hob.core.events.timeline import TimelineEvent
from hob.core.ids import SessionKey, SpanId, TraceId, TurnId
from hob.core.memory import OWNER, Scope
from hob.core.messages import Inbound, Outbound, OutboundKind
from hob.core.models import Thinking, TranscriptEntry
from hob.core.states import TurnState
from hob.core.steps import Step
from hob.core.trust.labels import Label, SenderClass
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """The work on one or more inbounds of a session. `attempt` counts crashes at the same step.

    `joined` are messages that joined during the run: their texts are in the steps, and their senders are answered too.
    """

    id: TurnId
    session: SessionKey
    trace: TraceId
    span: SpanId
    inbounds: tuple[Inbound, ...]
    attempt: int = 0
    joined: tuple[Inbound, ...] = ()


class WaitsFor(StrEnum):
    """Event that a parked turn waits for."""

    APPROVAL = "approval"
    ANSWER = "answer"
    CHILD = "child"
    CLIENT = "client"
    TIME = "time"
    STORE = "store"


@dataclass(frozen=True, slots=True)
class Parked:
    """The turn waits without occupying its session queue; `until` (Unix seconds) is set if it waits only for a time.

    `line` is Hob's own description of the wait, also for the model; `question` is for people and may be in a model's
    words; `outbounds` are the messages to those who must know.
    """

    on: WaitsFor
    until: float | None = None
    line: str = ""
    question: str = ""
    outbounds: tuple[Outbound, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    """The turn ended; its finish is committed."""

    state: TurnState
    reason: str = ""
    """Why it ended: a code for a failure, free text if a person stopped it."""


Outcome = Parked | Finished


@dataclass(frozen=True, slots=True)
class Finish:
    """Everything that one transaction writes at the end of a turn: transcript, outbox, states, timeline.

    `steps` are the last ones, not yet journalled. The `n` of the entries is ignored: the store numbers them. `hidden`
    entries are kept, but later turns show only the last of them to the model.
    """

    turn: TurnId
    session: SessionKey
    state: TurnState
    entries: tuple[TranscriptEntry, ...]
    outbounds: tuple[Outbound, ...]
    events: tuple[TimelineEvent, ...]
    steps: tuple[Step, ...] = ()
    reason: str = ""
    reply: str = ""
    kind: OutboundKind = OutboundKind.REPLY
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """Text that replaces all entries up to and including `upto`; they remain stored."""

    upto: int
    text: str
    label: Label
    model: str = ""


@dataclass(frozen=True, slots=True)
class TranscriptView:
    """The part of a session shown to a turn: the newest summary, the entries after it, and their total number.

    `entries` are the last of them, up to the requested number; `parked` are lines about waiting work.
    """

    entries: tuple[TranscriptEntry, ...] = ()
    summary: Summary | None = None
    total: int = 0
    parked: tuple[str, ...] = ()


class QueueMode(StrEnum):
    """Handling of messages that arrive during a turn of their conversation."""

    STEER = "steer"
    FOLLOWUP = "followup"
    COLLECT = "collect"
    INTERRUPT = "interrupt"


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation's settings, as chosen by its users. None means the configured default.

    `permission` and `autonomy` are the guard's terms: what may be done here, and how much of it without asking.
    """

    key: SessionKey
    title: str = ""
    model: str | None = None
    mode: QueueMode | None = None
    thinking: Thinking | None = None
    permission: str | None = None
    autonomy: str | None = None
    paused: bool = False
    archived: bool = False
    entries: int = 0
    since: int = 0
    updated: float = 0.0


class SessionChange(TypedDict, total=False):
    """Changes to a session's settings."""

    title: str
    model: str | None
    mode: QueueMode | None
    thinking: Thinking | None
    permission: str | None
    autonomy: str | None
    paused: bool
    archived: bool


def memory_scope(turn: Turn) -> Scope:
    """Return the memory a turn may use: the owner's if only the owner wrote and reads, otherwise the session's own."""
    inbounds = (*turn.inbounds, *turn.joined)
    own = all(inbound.sender.cls is SenderClass.OWNER and not inbound.group for inbound in inbounds)
    return Scope(OWNER if inbounds and own else turn.session)
