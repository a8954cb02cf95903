"""Plausible values for tests of the store."""

from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import OutboxId, new_event_id, new_span_id, outbox_id
from hob.core.messages import Inbound, Outbound, OutboundKind
from hob.core.models import TranscriptEntry, Usage
from hob.core.states import TurnState
from hob.core.steps import ModelAsked, ModelReplied, Said, Step
from hob.core.trust.labels import HOB_LABEL
from hob.core.turns import Finish, Turn

ASKED = ModelAsked("model-a", "0" * 64, 100, reserved=500)


def event_of(inbound: Inbound, kind: EventKind = EventKind.INBOUND, *, text: str | None = None) -> TimelineEvent:
    """An event about a message."""
    return TimelineEvent(
        new_event_id(), inbound.trace, new_span_id(), None, 1.0, kind, inbound.origin.channel,
        sender_id=inbound.sender.id, label=inbound.label, text=inbound.text if text is None else text,
    )  # fmt: skip


def chunk_of(turn: Turn, text: str, chunk: int = 0) -> Outbound:
    """One chunk of a turn's reply to its first message."""
    to = turn.inbounds[0].origin
    return Outbound(outbox_id(turn.id, chunk), to, text, OutboundKind.REPLY, turn.id, turn.trace, chunk)


def outbound_to(inbound: Inbound, id: str, text: str = "hello") -> Outbound:
    """A message outside any turn."""
    return Outbound(OutboxId(id), inbound.origin, text, OutboundKind.NOTICE, None, inbound.trace)


def finish_of(
    turn: Turn,
    reply: str,
    *,
    state: TurnState = TurnState.DONE,
    steps: tuple[Step, ...] | None = None,
    cost: int | None = 200,
) -> Finish:
    """The end of a turn: its messages and the reply in the transcript, one chunk pending."""
    usage = Usage(input=90, output=10)
    said = (ModelReplied(reply, usage=usage, model="model-a", cost=cost), Said(reply, OutboundKind.REPLY))
    asked = tuple(TranscriptEntry(0, "user", inbound.text, inbound.label, turn.id, 1.0) for inbound in turn.inbounds)
    return Finish(
        turn=turn.id,
        session=turn.session,
        state=state,
        entries=(*asked, TranscriptEntry(0, "assistant", reply, HOB_LABEL, turn.id, 2.0)),
        outbounds=(chunk_of(turn, reply),),
        events=(event_of(turn.inbounds[0], EventKind.TURN, text=reply),),
        steps=said if steps is None else steps,
        reply=reply,
    )
