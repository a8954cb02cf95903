"""Running one turn to its outcome: finished, parked, failed, stopped or suspended."""

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
from hob.core.events.tracing import TRACE, content_free
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
    """State shared by accepting, the queues and their workers."""

    store: Store
    routing: Routing
    settings: BusSettings
    clock: Clock
    hub: Hub
    language: str
    outbox: Signal[Collection[Address] | None]
    """Called after writing to the outbox for these addresses (None: for any)."""
    limit_of: Callable[[Address], int] = lambda address: 0
    """Returns the maximum length of a message to an address; 0 means any."""
    mine: set[InboundId] | None = None
    """If a set, only these messages are run."""
    accepting: bool = True
    """Whether new messages are accepted."""
    draining: bool = False
    """Whether nothing more is started."""
    quarantine: CrashQuarantine = field(default_factory=CrashQuarantine)
    running_turns: dict[TurnId, RunningTurn] = field(default_factory=dict)
    """The running turns by id."""
    parked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a turn is parked until a time."""
    halted: float | None = None
    """Time since which (Unix seconds) everything is stopped and autonomous work held, or None."""
    stopping: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while everything is stopped: no turn starts meanwhile."""
    ended: Counter[tuple[TurnState, str]] = field(default_factory=Counter)
    """Number of turns ended by this process, by state and code; the code is empty if there is none."""

    async def load_waiting(self, session: SessionKey) -> tuple[Waiting, ...]:
        """Return the runnable messages of a session, oldest first. Raises StoreErrors."""
        return (await self.load_queue(session))[1]

    async def load_queue(self, session: SessionKey) -> tuple[Session, tuple[Waiting, ...]]:
        """Return the session and its runnable messages, oldest first. Raises StoreErrors."""
        known, rows = await self.store.inbox.queue(session)
        if self.halted is not None:
            rows = tuple(row for row in rows if not row.inbound.hops)
        return known, rows if self.mine is None else tuple(row for row in rows if row.inbound.id in self.mine)

    def say_quarantined(self, turn: TurnId) -> str:
        """Return the message to the senders of a quarantined turn."""
        return say(Sentence.SET_ASIDE, self.language, id=turn)


async def run_once(
    context: BusContext, turns: Turns, group: asyncio.TaskGroup, running: RunningTurn
) -> Outcome | Exception | None:
    """Run the turn once, as a task of the group; return its outcome or exception, or None if the task was cancelled."""
    if context.draining:
        running.suspend()
        return None
    task = group.create_task(_run_guarded(turns, running))
    running.attach(task)
    try:
        await asyncio.wait((task,))
    except asyncio.CancelledError:
        running.suspend()
        await asyncio.wait((task,))
        raise
    return None if task.cancelled() else task.result()


async def _run_guarded(turns: Turns, running: RunningTurn) -> Outcome | Exception:
    TRACE.set(running.turn.trace)
    try:
        return await turns.run(running.turn, running)
    except StoreError as error:
        return error
    except Exception as error:  # a defect of one turn must not affect the others
        log.exception("the turn %s broke", running.turn.id)
        return error


async def cancel_turn(context: BusContext, running: RunningTurn, reason: str) -> None:
    """End a turn that could not end itself, and tell its senders. Raises StoreErrors."""
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
        # Not numbered like the turn's own chunks, some of which may exist already.
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
    record_end(context, turn, TurnState.CANCELLED, "")
    publish_end(context, running, TurnState.CANCELLED, text, OutboundKind.NOTICE)


def record_end(context: BusContext, turn: Turn, state: TurnState, reason: str, seconds: float = 0.0) -> None:
    """Count an ended turn and log its id, state and code; reasons written by people are omitted."""
    code = reason if _CODE.fullmatch(reason) else ""
    context.ended[state, code] += 1
    because = f", {code}," if code else ""
    log.info("turn %s %s%s after %.1f s", turn.id, state, because, seconds, extra=content_free(turn.trace))


def publish_end(context: BusContext, running: RunningTurn, state: TurnState, text: str, kind: OutboundKind) -> None:
    """Publish the end of a turn that could not publish it itself."""
    turn = running.turn
    context.hub.publish(Settled(turn.trace, turn.session, turn.id, state, text, kind, running.inbounds))
