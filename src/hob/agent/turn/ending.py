"""The end of a turn: its transcript entries, replies and timeline events."""

from collections.abc import Iterable
from dataclasses import replace

from hob.agent.prompt.tokens import shorten
from hob.agent.prompt.window import pair
from hob.agent.remarks import remarks_of
from hob.agent.turn.entries import closing_entry, entries_of
from hob.agent.turn.run_state import TurnRun
from hob.agent.turn.tool_calls import clean
from hob.agent.turn.turn import Say
from hob.core.errors import ModelFault
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import outbox_id
from hob.core.messages import POLLED_CHANNELS, Address, Outbound, OutboundKind
from hob.core.models import TranscriptEntry
from hob.core.states import TurnState
from hob.core.steps import Said
from hob.core.trust.labels import Label, Origin, SenderClass
from hob.core.turns import Finish

_PROVOKED_FAULTS = frozenset({ModelFault.FILTERED, ModelFault.BAD_REQUEST, ModelFault.CONTEXT_OVERFLOW})
"""Faults the turn's own text may have provoked; shown again, it would provoke them again."""

_QUESTION_CHARS = 500


def build_finish(run: TurnRun, say: Say) -> Finish:
    """Return everything the turn's last transaction writes."""
    record, turn = run.record, run.turn
    if record.state.said is None:
        record.add(Said(say.text, say.kind, say.reason))
    steps, events = record.pending()
    outbounds = _outbounds(run, say)
    return Finish(
        turn=turn.id,
        session=turn.session,
        state=say.state,
        entries=_entries(run, say),
        outbounds=outbounds,
        events=(*events, *_events(run, say, outbounds)),
        steps=steps,
        reason=say.reason,
        reply=say.text,
        kind=say.kind,
        hidden=say.state is TurnState.FAILED and say.reason in _PROVOKED_FAULTS,
    )


def _entries(run: TurnRun, say: Say) -> tuple[TranscriptEntry, ...]:
    entries = pair(entries_of(run.turn, run.record.steps, run.watch.at))
    if say.state is TurnState.CANCELLED and run.streamed:
        label = Label(Origin.MODEL, run.record.state.trust)
        entries.append(TranscriptEntry(0, "assistant", clean("".join(run.streamed)), label, run.turn.id, run.watch.at))
    closing = closing_entry(run.turn, say.state, say.reason, run.watch.at)
    if closing is not None and say.reason in _PROVOKED_FAULTS - {ModelFault.FILTERED}:
        closing = _excerpt_entry(run, closing)
    return (*entries, closing) if entries and closing is not None else tuple(entries)


def _excerpt_entry(run: TurnRun, closing: TranscriptEntry) -> TranscriptEntry:
    """Return the entry for a hidden turn: only the beginning of its messages, which did not provoke the failure."""
    inbounds = run.turn.inbounds
    words = shorten("\n".join(inbound.text for inbound in inbounds), _QUESTION_CHARS)
    label = next((each.label for each in inbounds if not each.label.trusted), inbounds[0].label)
    return replace(closing, text=f"{words}\n\n{closing.text}", label=label)


def _outbounds(run: TurnRun, say: Say) -> tuple[Outbound, ...]:
    """Return the reply in chunks, once for each waiting address; nothing for a silent turn."""
    if say.state is TurnState.SILENT:
        return ()
    turn, previews = run.turn, run.record.state.trust.value == "trusted"
    addresses = dict.fromkeys(inbound.origin for inbound in (*turn.inbounds, *run.joined))
    told = [(to, text, say.kind) for to, text in _chunks(run, addresses, say.text)]
    told += [(to, text, OutboundKind.NOTICE) for to, text in _remark_chunks(run)]
    return tuple(
        Outbound(outbox_id(turn.id, place), to, text, kind, turn.id, turn.trace, place, previews)
        for place, (to, text, kind) in enumerate(told)
    )


def _remark_chunks(run: TurnRun) -> Iterable[tuple[Address, str]]:
    """Return the turn's remarks, addressed to the owner only, since they name models and accounts.

    Channels that fetch their replies fetch the remarks too.
    """
    notes = "\n".join(remarks_of(run.record.steps))
    owners = dict.fromkeys(
        inbound.origin
        for inbound in (*run.turn.inbounds, *run.joined)
        if inbound.sender.cls is SenderClass.OWNER and not inbound.group
        if inbound.origin.channel not in POLLED_CHANNELS
    )
    return _chunks(run, owners, notes) if notes else ()


def _chunks(run: TurnRun, addresses: Iterable[Address], text: str) -> Iterable[tuple[Address, str]]:
    for to in addresses:
        for chunk in run.chunks_for(to, text):
            yield to, chunk


def _events(run: TurnRun, say: Say, outbounds: tuple[Outbound, ...]) -> Iterable[TimelineEvent]:
    turn, watch = run.turn, run.watch
    status = "ok" if not say.reason else say.reason
    out = watch.event(turn, EventKind.OUTBOUND, outbounds[0].to.channel if outbounds else "", say.kind.value)
    whole = watch.event(turn, EventKind.TURN, run.requested_model or run.model, status)
    yield TimelineEvent(
        id=out.id, trace=out.trace, span=out.span, parent=turn.span, at=out.at + watch.seconds, kind=out.kind,
        name=out.name, status=out.status, session=out.session, turn=out.turn, text=say.text,
    )  # fmt: skip
    yield TimelineEvent(
        id=whole.id, trace=turn.trace, span=turn.span, parent=None, at=watch.at, kind=whole.kind, name=whole.name,
        status=status, session=turn.session, turn=turn.id, seconds=watch.seconds, classification=say.state.value,
    )  # fmt: skip
