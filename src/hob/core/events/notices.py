"""Notices for live views. Losing one does no harm: the outbox row is authoritative."""

from hob.core.ids import InboundId, SessionKey, TraceId, TurnId
from hob.core.messages import OutboundKind
from hob.core.states import TurnState
from hob.core.values import dataclass

MESSAGE_SENT = "message"
"""`what` of a progress that names a message sent to the API or the terminal beside the reply: its id in the outbox."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer that is being written. `reasoning` pieces are not part of the answer."""

    trace: TraceId
    session: SessionKey
    text: str
    reasoning: bool = False


@dataclass(frozen=True, slots=True)
class Retracted:
    """Everything streamed in this trace since the last round is void: the answer is being written again."""

    trace: TraceId
    session: SessionKey


@dataclass(frozen=True, slots=True)
class Progress:
    """A change in progress: a tool started or ended, the model is slow, the turn waits."""

    trace: TraceId
    session: SessionKey
    what: str
    name: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """A turn ended, or was parked (then `state` is not final), and its outcome is committed.

    `inbounds` are all messages that share the outcome, including those that joined the turn later.
    """

    trace: TraceId
    session: SessionKey
    turn: TurnId
    state: TurnState
    text: str = ""
    kind: OutboundKind = OutboundKind.REPLY
    inbounds: tuple[InboundId, ...] = ()


Notice = Delta | Retracted | Progress | Settled
