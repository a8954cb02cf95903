"""Running one turn from start to end, whatever it does: fail, break, wait, be stopped or be cut."""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import field

from hob.bus.crash_quarantine import CrashQuarantine
from hob.bus.notices import Hub
from hob.bus.running_turn import RunningTurn
from hob.bus.settings import BusSettings
from hob.bus.signals import Signal
from hob.core.clock import Clock
from hob.core.errors import StoreError
from hob.core.events.notices import Settled
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.events.tracing import TRACE, own
from hob.core.ids import InboundId, OutboxId, SessionKey, TurnId, new_event_id, new_span_id
from hob.core.messages import Address, Outbound, OutboundKind
from hob.core.ports.turns import Routing, Turns
from hob.core.states import TurnState
from hob.core.translation.sentences import Sentence, say, say_stopped
from hob.core.turns import Finish, Outcome, Session, Turn
from hob.core.values import dataclass
from hob.store.messages.inbox import Waiting
from hob.store.store import Store

log = logging.getLogger(__name__)

_CODE = re.compile(r"[a-z]+(_[a-z]+)*")


@dataclass(slots=True)
class BusContext:
    """What accepting, the queues and their workers share."""

    store: Store
    routing: Routing
    settings: BusSettings
    clock: Clock
    hub: Hub
    language: str
    outbox: Signal[Collection[Address] | None]
    """Something may have been written to the outbox for these addresses (None: for any)."""
    limit_of: Callable[[Address], int] = lambda address: 0
    """The most characters one message to an address may have; 0 means any."""
    mine: set[InboundId] | None = None
    """Where it is a set: run nothing but these messages."""
    accepting: bool = True
    """Whether new messages are taken."""
    draining: bool = False
    """Whether nothing more is begun."""
    quarantine: CrashQuarantine = field(default_factory=CrashQuarantine)
    running_turns: dict[TurnId, RunningTurn] = field(default_factory=dict)
    """The turns that run."""
    parked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a turn begins to wait for a time."""
    halted: float | None = None
    """Since when (Unix seconds) everything is stopped, and self-made messages are held."""
    ended: Counter[tuple[TurnState, str]] = field(default_factory=Counter)
    """How many turns of this run ended in which way; the second is a code, empty where there is none."""

    async def load_waiting(self, session: SessionKey) -> tuple[Waiting, ...]:
        """What waits in a session and may be run, in order. Raises StoreErrors."""
        return (await self.load_queue(session))[1]

    async def load_queue(self, session: SessionKey) -> tuple[Session, tuple[Waiting, ...]]:
        """How a session is set, and what waits in it and may be run, in order. Raises StoreErrors."""
        known, rows = await self.store.inbox.queue(session)
        if self.halted is not None:
            rows = tuple(row for row in rows if not row.inbound.hops)
        return known, rows if self.mine is None else tuple(row for row in rows if row.inbound.id in self.mine)

    def say_quarantined(self, turn: TurnId) -> str:
        """What the senders of a turn are told that was quarantined."""
        return say(Sentence.SET_ASIDE, self.language, id=turn)


async def attempt(
    context: BusContext, turns: Turns, group: asyncio.TaskGroup, running: RunningTurn
) -> Outcome | Exception | None:
    """Run the turn once, as a task of the group: how it ended, or what it raised. None: its task was cancelled."""
    if context.draining:
        running.suspend()
        return None
    task = group.create_task(_walled(turns, running))
    running.attach(task)
    try:
        await asyncio.wait((task,))
    except asyncio.CancelledError:
        running.suspend()
        await asyncio.wait((task,))
        raise
    return None if task.cancelled() else task.result()


async def _walled(turns: Turns, running: RunningTurn) -> Outcome | Exception:
    TRACE.set(running.turn.trace)
    try:
        return await turns.run(running.turn, running)
    except StoreError as error:
        return error
    except Exception as error:  # the job wall: one turn's defect is not the others'
        log.exception("the turn %s broke", running.turn.id)
        return error


async def take_up(context: BusContext, id: TurnId) -> Turn:
    """Start a ready turn. A running one that no one has in hand was left so by a store that failed: start that again.

    The caller holds the session queue's lock. Raises NotFound, IllegalMove, StoreErrors.
    """
    turns = context.store.turns
    row = await turns.find(id)
    if row is not None and row.state is TurnState.RUNNING:
        await turns.release(id)
    return await turns.start(id)


async def end_as_cancelled(context: BusContext, running: RunningTurn, reason: str) -> None:
    """End a turn that could not do it itself, and tell its people. Raises StoreErrors."""
    turn = running.turn
    text = say_stopped(reason, context.language)
    addresses = dict.fromkeys(inbound.origin for inbound in (*turn.inbounds, *turn.joined))
    event = TimelineEvent(
        id=new_event_id(),
        trace=turn.trace,
        span=new_span_id(),
        parent=turn.span,
        at=context.clock.now().timestamp(),
        kind=EventKind.TURN,
        name="turn",
        status="cancelled",
        session=turn.session,
        turn=turn.id,
        text=text,
    )
    finish = Finish(
        turn=turn.id,
        session=turn.session,
        state=TurnState.CANCELLED,
        entries=(),
        # Not numbered like the turn's own chunks, some of which may be there already.
        outbounds=tuple(
            Outbound(OutboxId(f"{turn.id}.end{n}"), address, text, OutboundKind.NOTICE, turn.id, turn.trace)
            for n, address in enumerate(addresses)
        ),
        events=(event,),
        reason=reason,
        reply=text,
        kind=OutboundKind.NOTICE,
    )
    await context.store.journal.finish(finish)
    note_end(context, turn, TurnState.CANCELLED, "")
    publish_end(context, running, TurnState.CANCELLED, text, OutboundKind.NOTICE)


def note_end(context: BusContext, turn: Turn, state: TurnState, reason: str, seconds: float = 0.0) -> None:
    """Count an end and log it, in ids, states and codes alone: what people gave as their reason is left out."""
    code = reason if _CODE.fullmatch(reason) else ""
    context.ended[state, code] += 1
    because = f", {code}," if code else ""
    log.info("turn %s %s%s after %.1f s", turn.id, state, because, seconds, extra=own(turn.trace))


def publish_end(context: BusContext, running: RunningTurn, state: TurnState, text: str, kind: OutboundKind) -> None:
    """Show an end that the turn itself could not show."""
    turn = running.turn
    context.hub.publish(Settled(turn.trace, turn.session, turn.id, state, text, kind, running.inbounds))
