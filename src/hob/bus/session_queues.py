"""All session queues, and the operations on them: stop, cancel, resume, wake.

They only need the store; workers may be attached later or never.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Mapping, Sequence

from hob.bus.running_turn import RunningTurn
from hob.bus.session_queue import SessionQueue
from hob.bus.signals import Signal
from hob.bus.turn_runner import BusContext, cancel_turn
from hob.bus.waiting import wait_for_event
from hob.core.errors import HobError, StoreError
from hob.core.events.notices import Settled
from hob.core.ids import InboundId, SessionKey, TraceId, TurnId
from hob.core.messages import Inbound, OutboundKind
from hob.core.states import TurnState
from hob.core.translation.sentences import Sentence, say
from hob.store.turns.turns import TurnRow

log = logging.getLogger(__name__)

SUSPEND_SECONDS = 5.0
"""Seconds that suspended turns have to clean up."""


class SessionQueues:
    """The inbox by session. Hints wake the workers; a lost hint delays a message until the next hint, but never loses
    it.
    """

    def __init__(self, context: BusContext) -> None:
        self.opened: Signal[SessionQueue] = Signal()
        """Called with a queue that has work and no worker."""
        self.arrived_during_turn: Signal[tuple[SessionQueue, Inbound]] = Signal()
        """Called with a message that arrived while its session's turn runs."""
        self.stopped: Signal[SessionKey] = Signal()
        """Called with a session whose work was stopped."""
        self._context = context
        self._queues: dict[SessionKey, SessionQueue] = {}
        self._paused_ready: dict[SessionKey, tuple[tuple[TurnId, bool], ...]] = {}
        """Ready turns of paused sessions, and whether they are suspects."""
        self._empty = asyncio.Event()
        self._empty.set()
        self.has_suspected = False
        """Whether some quarantined turns get another attempt; known after the recovery."""

    @property
    def context(self) -> BusContext:
        """State shared with the workers."""
        return self._context

    @property
    def accepting(self) -> bool:
        """Whether new messages are accepted."""
        return self._context.accepting

    def idle(self) -> Sequence[SessionQueue]:
        """Return the queues that have work and no worker."""
        return [session_queue for session_queue in self._queues.values() if session_queue.task is None]

    @property
    def running(self) -> int:
        """Number of running turns."""
        return len(self._context.running_turns)

    @property
    def ended(self) -> Mapping[tuple[TurnState, str], int]:
        """Number of turns ended by this process, by state and code."""
        return self._context.ended

    async def recover(self) -> None:
        """Resume the work of earlier processes. Raises StoreErrors."""
        context = self._context
        recovered = await context.store.turns.recover(context.say_quarantined)
        for turn in recovered.set_aside:
            log.warning("the turn %s was quarantined: Hob was killed three times while it worked on it", turn)
        for turn in recovered.quarantine:
            context.quarantine.add(turn)
        # Oldest first; suspects run alone, one after the other.
        for turn in (*recovered.quarantine, *recovered.ready):
            row = await context.store.turns.find(turn)
            if row is not None:
                self._enqueue(row.id, row.session)
        for session in await context.store.inbox.busy_sessions():
            self._hint(session)
        self.has_suspected = recovered.has_suspected

    async def retry_suspected(self, *, last: bool = False) -> None:
        """Retry, alone, quarantined turns that may not have caused the crash. Raises StoreErrors.

        `last` retries those that were quarantined again by such an attempt.
        """
        for turn in await self._context.store.turns.retry_suspected(last=last):
            log.warning("the quarantined turn %s is tried once more: it may not have been the cause", turn)
            self._context.quarantine.add(turn)
            row = await self._context.store.turns.find(turn)
            if row is not None:
                self._enqueue(row.id, row.session)

    async def adopt(self, id: InboundId) -> bool:
        """Run this message of an earlier process, though only own messages run; return False if it ended or is unknown.

        Raises StoreErrors.
        """
        context = self._context
        result = await context.store.results.find(id)
        if result is None or result.settled:
            return False
        if context.mine is None:
            return True
        context.mine.add(id)
        if result.turn is None:
            self._hint(result.session)
        elif (session_queue := self._hint(result.session)) is not None:
            async with session_queue.lock:  # it may be being claimed at this moment
                ready = result.turn not in context.running_turns and await self._make_runnable(result.turn)
            if ready:
                await self.wake(result.turn)
        return True

    async def _make_runnable(self, turn: TurnId) -> bool:
        """Whether the turn of an earlier process may run. If a crash interrupted it, that counts as an attempt."""
        turns = self._context.store.turns
        row = await turns.find(turn)
        if row is None or row.state is not TurnState.RUNNING:
            return row is not None
        return await turns.record_defect(turn, self._context.say_quarantined, sure=False) is TurnState.READY

    def arrived(self, inbound: Inbound, session: SessionKey, command: bool) -> None:
        """Note a message that is now in the inbox of this session."""
        if self._context.mine is not None:
            self._context.mine.add(inbound.id)
        settings = self._context.settings
        plain = not command and not inbound.attachments
        session_queue = self._hint(session, inbound, settings.debounce_of(inbound.origin.channel) if plain else 0.0)
        if session_queue is not None and session_queue.running is not None and not command:
            self.arrived_during_turn((session_queue, inbound))

    async def wake(self, turn: TurnId) -> bool:
        """Queue a parked turn whose awaited event occurred, or a turn made ready again (retry).

        Returns False if it is neither parked nor ready. Raises StoreErrors.
        """
        running = self._context.running_turns.get(turn)
        if running is not None:
            running.woken = True  # it is still being parked
            return True
        await self._context.store.turns.wake(turn)
        row = await self._context.store.turns.find(turn)
        if row is None or row.state is not TurnState.READY:
            return False
        self._enqueue(row.id, row.session)
        return True

    def enqueue_ready(self, turn: TurnId, session: SessionKey) -> None:
        """Queue a parked turn that a transaction has made ready."""
        running = self._context.running_turns.get(turn)
        if running is not None:
            running.woken = True  # it is still being parked
        else:
            self._enqueue(turn, session)

    async def stop(self, session: SessionKey, reason: str) -> bool:
        """Stop the session's turns, running, ready or parked, and its sub-agents; return False if there are none.

        Waiting messages run next. Raises StoreErrors.
        """
        store, running = self._context.store, None
        if (session_queue := self._queues.get(session)) is not None:
            async with session_queue.lock:  # a turn that is being claimed counts as running
                running = session_queue.running
        turns = await store.turns.unfinished(session)
        ended = [running is not None and running.stop(reason)]
        ended += [await self.cancel(turn, reason) for turn in turns]
        ended.append(await store.subagents.end_of(session, "killed"))
        self.stopped(session)
        return any(ended)

    async def cancel(self, id: str, reason: str) -> bool:
        """Cancel one message, task or turn by its id, wherever it is; return False if nothing was left to cancel.

        Raises StoreErrors.
        """
        for running in self._context.running_turns.values():
            if id == running.turn.id or id in running.inbounds:
                return running.stop(reason)
        row = await self._context.store.turns.find(id)
        if row is not None:
            return await self._cancel_turn(row, reason)
        result = await self._context.store.results.find(InboundId(id))
        if result is None or result.settled:
            return False
        if await self._cancel_waiting(result.session, reason, InboundId(id)):
            self._hint(result.session)
            return True
        # the worker was faster
        row = await self._context.store.turns.find(id)
        return row is not None and await self._cancel_turn(row, reason)

    async def resume(self, session: SessionKey) -> None:
        """Resume a paused session. Raises StoreErrors."""
        await self._context.store.sessions.change(session, paused=False)
        shelved = self._paused_ready.pop(session, ())
        session_queue = self._hint(session)
        for turn, suspect in shelved:
            if session_queue is not None and turn not in session_queue.ready:
                session_queue.ready.append(turn)
                if suspect:
                    self._context.quarantine.add(turn)

    def wake_session(self, session: SessionKey) -> None:
        """Look for waiting messages of this session."""
        self._hint(session)

    async def drain(self, seconds: float) -> None:
        """Start nothing more; give running turns this many seconds to end, then suspend the rest to be resumed."""
        self._context.draining = True
        for session_queue in tuple(self._queues.values()):
            if session_queue.task is None:
                self.close(session_queue)
            elif session_queue.interruptible:
                session_queue.task.cancel()
        if await self._wait_until_empty(seconds):
            return
        for running in tuple(self._context.running_turns.values()):
            running.suspend()
        if not await self._wait_until_empty(SUSPEND_SECONDS):
            log.error("%d sessions did not end in time", len(self._queues))
            for session_queue in tuple(self._queues.values()):
                if session_queue.task is not None:
                    session_queue.task.cancel()

    # Opening and closing queues

    def _hint(self, session: SessionKey, inbound: Inbound | None = None, quiet: float = 0.0) -> SessionQueue | None:
        if self._context.draining:
            return None  # found again at the next start
        session_queue = self._queues.get(session)
        new = session_queue is None
        if session_queue is None:
            session_queue = SessionQueue(session, self._context.clock)
            self._queues[session] = session_queue
            self._empty.clear()
        session_queue.hint(inbound, quiet)
        if new:
            self.opened(session_queue)
        return session_queue

    def close(self, session_queue: SessionQueue) -> None:
        """Close a queue whose worker has finished; ready turns of a paused session are kept until it is resumed."""
        del self._queues[session_queue.key]
        if session_queue.ready and not self._context.draining:
            quarantine = self._context.quarantine
            self._paused_ready[session_queue.key] = tuple((turn, turn in quarantine) for turn in session_queue.ready)
            for turn in session_queue.ready:
                quarantine.remove(turn)
        if not self._queues:
            self._empty.set()

    def _enqueue(self, turn: TurnId, session: SessionKey) -> None:
        shelved = self._paused_ready.get(session)
        if shelved is not None:
            if turn not in dict(shelved):
                self._paused_ready[session] = (*shelved, (turn, False))
            return
        session_queue = self._hint(session)
        if session_queue is not None and turn not in session_queue.ready:
            session_queue.ready.append(turn)

    async def _wait_until_empty(self, seconds: float) -> bool:
        return await wait_for_event(self._empty, self._context.clock, seconds)

    # Cancelling

    async def _cancel_waiting(self, session: SessionKey, reason: str, inbound: InboundId) -> bool:
        inbox = self._context.store.inbox
        text = say(Sentence.CANCELLED_WAITING, self._context.language, reason=reason)
        cancelled = await inbox.cancel_waiting(session, reason, {inbound}, text=text)
        if cancelled:
            # There is no turn and no single trace: clients that follow one of these messages look it up.
            end = Settled(TraceId(""), session, TurnId(""), TurnState.CANCELLED, text, OutboundKind.NOTICE, cancelled)
            self._context.hub.publish(end)
            self._context.outbox(None)
        return bool(cancelled)

    async def _cancel_turn(self, row: TurnRow, reason: str) -> bool:
        session_queue = self._hint(row.session)
        if session_queue is None:
            return False
        turns = self._context.store.turns
        async with session_queue.lock:
            running = self._context.running_turns.get(row.id)
            if running is not None:
                return running.stop(reason)
            await turns.wake(row.id)
            try:
                turn = await self._context.store.turns.start(row.id)
                await cancel_turn(self._context, RunningTurn(turn), reason)
            except StoreError:
                self._enqueue(row.id, row.session)  # not ended, so it stays queued
                raise
            except HobError:
                return False  # it has ended
            self._remove_ready(session_queue, row.id)
        self._context.outbox([inbound.origin for inbound in turn.inbounds])
        return True

    def _remove_ready(self, session_queue: SessionQueue, turn: TurnId) -> None:
        if turn in session_queue.ready:
            session_queue.ready = deque(other for other in session_queue.ready if other != turn)
        kept = tuple(pair for pair in self._paused_ready.pop(session_queue.key, ()) if pair[0] != turn)
        if kept:
            self._paused_ready[session_queue.key] = kept
        self._context.quarantine.remove(turn)
