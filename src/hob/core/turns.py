"""A turn as the session queue hands it to the agent, and what the agent gives back."""

from enum import StrEnum
from typing import TypedDict

from hob.core.events.timeline import TimelineEvent
from hob.core.ids import SessionKey, SpanId, TraceId, TurnId
from hob.core.memory import OWNER, Scope
from hob.core.messages import Inbound, Outbound, OutboundKind
from hob.core.models import Entry, Thinking
from hob.core.states import TurnState
from hob.core.steps import Step
from hob.core.trust.labels import Label, SenderClass
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """The work of one or more inbounds of one session. `attempt` counts unclean ends at the same position.

    `joined` are messages that joined it while it ran: their texts are in its steps, their senders are answered too.
    """

    id: TurnId
    session: SessionKey
    trace: TraceId
    span: SpanId
    inbounds: tuple[Inbound, ...]
    attempt: int = 0
    joined: tuple[Inbound, ...] = ()


class WaitsFor(StrEnum):
    """What a parked turn waits for."""

    APPROVAL = "approval"
    ANSWER = "answer"
    CHILD = "child"
    CLIENT = "client"
    TIME = "time"
    STORE = "store"


@dataclass(frozen=True, slots=True)
class Parked:
    """The turn waits without holding its session queue; `until` (Unix seconds) where time alone wakes it.

    `line` says so in Hob's own words, to the model too; `question` is what people are to answer, and may be a model's
    words; `outbounds` are for those whom it has to be sent to.
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
    """Why it ended so: a code for what failed, words for what people stopped."""


Outcome = Parked | Finished


@dataclass(frozen=True, slots=True)
class Finish:
    """All that one transaction writes at a turn's end: transcript, outbox, states, timeline.

    `steps` are the last ones, not yet journalled. The entries' `n` is ignored: the store gives each its place. Where
    they are `hidden`, they are kept, but later turns show only the last of them to the model.
    """

    turn: TurnId
    session: SessionKey
    state: TurnState
    entries: tuple[Entry, ...]
    outbounds: tuple[Outbound, ...]
    events: tuple[TimelineEvent, ...]
    steps: tuple[Step, ...] = ()
    reason: str = ""
    reply: str = ""
    kind: OutboundKind = OutboundKind.REPLY
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for all entries up to and including `upto`; they stay stored."""

    upto: int
    text: str
    label: Label
    model: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What a session shows to a turn: the newest summary, the entries after it, and how many those are in all.

    `entries` are the last of them, at most as many as were asked for; `parked` are lines about work that waits.
    """

    entries: tuple[Entry, ...] = ()
    summary: Summary | None = None
    total: int = 0
    parked: tuple[str, ...] = ()


class QueueMode(StrEnum):
    """What a message does that arrives while a turn of its conversation runs."""

    STEER = "steer"
    FOLLOWUP = "followup"
    COLLECT = "collect"
    INTERRUPT = "interrupt"


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation's rules, as chosen by its people. None means: as configured.

    `permission` and `autonomy` are words of the guard's: what may be done here, and how much of it without asking.
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
    """Some of what people choose for a session."""

    title: str
    model: str | None
    mode: QueueMode | None
    thinking: Thinking | None
    permission: str | None
    autonomy: str | None
    paused: bool
    archived: bool


def scope_of(turn: Turn) -> Scope:
    """Whose memory a turn may use: the owner's where the owner alone wrote and reads, else its session's own."""
    inbounds = (*turn.inbounds, *turn.joined)
    own = all(inbound.sender.cls is SenderClass.OWNER and not inbound.group for inbound in inbounds)
    return Scope(OWNER if inbounds and own else turn.session)
