"""Timeline events: their kinds and fields."""

from enum import StrEnum

from hob.core.ids import BlobId, EventId, SessionKey, SpanId, TraceId, TurnId, new_event_id, new_span_id, new_trace_id
from hob.core.messages import MediaType
from hob.core.models import Usage
from hob.core.trust.labels import Label
from hob.core.values import dataclass


class EventKind(StrEnum):
    """Subject of an event."""

    INBOUND = "inbound"
    OUTBOUND = "outbound"
    TURN = "turn"
    MODEL = "model"
    TOOL = "tool"
    APPROVAL = "approval"
    POLICY = "policy"
    STEER = "steer"
    COMMAND = "command"
    SESSION = "session"
    COMPACTION = "compaction"
    DELIVERY = "delivery"
    SUBAGENT = "subagent"
    MEMORY = "memory"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One recorded fact. All fields are permanent except `text` and `media`, which can be erased.

    `at` is when it began (Unix seconds, UTC), `seconds` its duration by the monotonic clock, `cost` is in micro-dollars
    (None if unknown or free). `name` is the tool, model, channel or command; `status` is `ok` or a machine-readable
    reason. `classification` is how an inbound was classified, the new state of a turn, the new value of a session's
    setting, or the sender class and task that a model call is charged to. `erased` is when the text was erased (Unix
    seconds).
    """

    id: EventId
    trace: TraceId
    span: SpanId
    parent: SpanId | None
    at: float
    kind: EventKind
    name: str = ""
    status: str = "ok"
    type: MediaType = MediaType.TEXT
    session: SessionKey | None = None
    turn: TurnId | None = None
    sender_id: str = ""
    sender_name: str = ""
    classification: str = ""
    authorized: bool = True
    label: Label | None = None
    text: str = ""
    media: BlobId | None = None
    seconds: float | None = None
    usage: Usage | None = None
    cost: int | None = None
    erased: float | None = None


def change_of(name: str, at: float) -> TimelineEvent:
    """Return the event which says that the things of this name, e.g. "people", have changed at this time."""
    return TimelineEvent(new_event_id(), new_trace_id(), new_span_id(), None, at, EventKind.SYSTEM, name, "changed")
