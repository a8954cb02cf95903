"""All queues: one per session that has work, and what people do to them. Over the store alone: who works through them
comes later, and may never come."""

import asyncio
import logging
from collections import deque
from collections.abc import Mapping, Sequence

from hob.bus.running_turn import RunningTurn
from hob.bus.session_queue import SessionQueue
from hob.bus.signals import Signal
from hob.bus.turn_runner import BusContext, end_as_cancelled, take_up
from hob.bus.waiting import wait_for_event
from hob.core.errors import HobError, StoreError
from hob.core.events.notices import Settled
from hob.core.ids import InboundId, SessionKey, TraceId, TurnId
from hob.core.messages import Inbound, OutboundKind
from hob.core.states import TurnState
from hob.core.translation.sentences import Sentence, say
from hob.store.turns.turns import TurnRow

log = logging.getLogger(__name__)

LAST_SECONDS = 5.0
"""How long turns that were cut may take to put things in order."""


class SessionQueues:
    """What is in the inbox, by session. Hints make workers look; a lost hint costs time until the next one, never a
    message."""

    def __init__(self, context: BusContext) -> None:
        self.begun: Signal[SessionQueue] = Signal()
        """There is work in a session on which no one works."""
        self.offered: Signal[tuple[SessionQueue, Inbound]] = Signal()
        """A message came for a session whose turn runs."""
        self._context = context
        self._queues: dict[SessionKey, SessionQueue] = {}
        self._shelved: dict[SessionKey, tuple[tuple[TurnId, bool], ...]] = {}
        """Ready turns of paused sessions, and whether they are suspects."""
        self._empty = asyncio.Event()
        self._empty.set()
        self.doubtful = False
        """Whether anything that was quarantined is to be tried once more; known after the recovery."""

    @property
    def context(self) -> BusContext:
        """What the queues share with those who work on them."""
        return self._context

    @property
    def accepting(self) -> bool:
        """Whether new messages are taken."""
        return self._context.accepting

    def idle(self) -> Sequence[SessionQueue]:
        """The queues that have work, and no one who does it."""
        return [session_queue for session_queue in self._queues.values() if session_queue.task is None]

    @property
    def running(self) -> int:
        """Turns in hand."""
        return len(self._context.running_turns)

    @property
    def ended(self) -> Mapping[tuple[TurnState, str], int]:
        """How many turns of this run ended in which state and by which code."""
        return self._context.ended

    async def recover(self) -> None:
        """Take up what earlier runs left. Raises StoreErrors."""
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
                self._take(row.id, row.session)
        for session in await context.store.inbox.busy_sessions():
            self._hint(session)
        self.doubtful = recovered.doubtful

    async def retry_suspected(self, *, last: bool = False) -> None:
        """Try once more, alone, what was quarantined although it may not have been the cause. Raises StoreErrors.

        `last`: what such a retry has brought into quarantine again.
        """
        for turn in await self._context.store.turns.retry_suspected(last=last):
            log.warning("the quarantined turn %s is tried once more: it may not have been the cause", turn)
            self._context.quarantine.add(turn)
            row = await self._context.store.turns.find(turn)
            if row is not None:
                self._take(row.id, row.session)

    async def adopt(self, id: InboundId) -> bool:
        """Run this message of an earlier run although only own ones are run; False if it has ended or never was.

        Raises StoreErrors.
        """
        context = self._context
        result = await context.store.inbox.find_result(id)
        if result is None or result.settled:
            return False
        if context.mine is None:
            return True
        context.mine.add(id)
        if result.turn is None:
            self._hint(result.session)
        elif (session_queue := self._hint(result.session)) is not None:
            async with session_queue.lock:  # it may just be claimed, and is not yet in hand
                ready = result.turn not in context.running_turns and await self._revive(result.turn)
            if ready:
                await self.wake(result.turn)
        return True

    async def _revive(self, turn: TurnId) -> bool:
        """Whether the turn of an earlier run may be run; a crash may have left it running, which counts against it."""
        turns = self._context.store.turns
        row = await turns.find(turn)
        if row is None or row.state is not TurnState.RUNNING:
            return row is not None
        return await turns.record_defect(turn, self._context.say_quarantined, sure=False) is TurnState.READY

    def arrived(self, inbound: Inbound, session: SessionKey, command: bool) -> None:
        """A message is in the inbox of this session."""
        if self._context.mine is not None:
            self._context.mine.add(inbound.id)
        settings = self._context.settings
        plain = not command and not inbound.attachments
        session_queue = self._hint(session, inbound, settings.debounce_of(inbound.origin.channel) if plain else 0.0)
        if session_queue is not None and session_queue.running is not None and not command:
            self.offered((session_queue, inbound))

    async def wake(self, turn: TurnId) -> bool:
        """What the turn waits for is there, or it was made ready again (retry): it is its session queue's next job.

        False if it neither waits nor is ready. Raises StoreErrors.
        """
        running = self._context.running_turns.get(turn)
        if running is not None:
            running.woken = True  # it is only about to be parked
            return True
        await self._context.store.turns.wake(turn)
        row = await self._context.store.turns.find(turn)
        if row is None or row.state is not TurnState.READY:
            return False
        self._take(row.id, row.session)
        return True

    def made_ready(self, turn: TurnId, session: SessionKey) -> None:
        """A transaction has made a parked turn of this session ready: it is the queue's next job."""
        running = self._context.running_turns.get(turn)
        if running is not None:
            running.woken = True  # it is just being parked
        else:
            self._take(turn, session)

    async def stop(self, session: SessionKey, reason: str, *, waiting: bool = False) -> bool:
        """End the session's running turn and, if asked, what waits behind it; False if there was nothing.

        Raises StoreErrors.
        """
        session_queue = self._queues.get(session)
        cancelled: tuple[InboundId, ...] = ()
        if session_queue is None:
            return bool(waiting and await self._cancel_waiting(session, reason))
        async with session_queue.lock:
            if waiting:
                cancelled = await self._cancel_waiting(session, reason)
                session_queue.hint()
        if session_queue.running is not None:
            return session_queue.running.stop(reason) or bool(cancelled)
        if session_queue.ready:
            return await self.cancel(session_queue.ready[0], reason)
        return bool(cancelled)

    async def cancel(self, id: str, reason: str) -> bool:
        """End one message, task or turn by its id, wherever it is; False if nothing is left to end.

        Raises StoreErrors.
        """
        for running in self._context.running_turns.values():
            if id == running.turn.id or id in running.inbounds:
                return running.stop(reason)
        row = await self._context.store.turns.find(id)
        if row is not None:
            return await self._cancel_turn(row, reason)
        result = await self._context.store.inbox.find_result(InboundId(id))
        if result is None or result.settled:
            return False
        if await self._cancel_waiting(result.session, reason, InboundId(id)):
            self._hint(result.session)
            return True
        # Its session queue was faster.
        row = await self._context.store.turns.find(id)
        return row is not None and await self._cancel_turn(row, reason)

    async def resume(self, session: SessionKey) -> None:
        """Let the session go on. Raises StoreErrors."""
        await self._context.store.sessions.change(session, paused=False)
        shelved = self._shelved.pop(session, ())
        session_queue = self._hint(session)
        for turn, suspect in shelved:
            if session_queue is not None and turn not in session_queue.ready:
                session_queue.ready.append(turn)
                if suspect:
                    self._context.quarantine.add(turn)

    def wake_session(self, session: SessionKey) -> None:
        """Something may wait in this session."""
        self._hint(session)

    async def drain(self, seconds: float) -> None:
        """Begin nothing more; let running turns end for so long, then leave the rest to be resumed."""
        self._context.draining = True
        for session_queue in tuple(self._queues.values()):
            if session_queue.task is None:
                self.close(session_queue)
            elif session_queue.resting:
                session_queue.task.cancel()
        if await self._all_done(seconds):
            return
        for running in tuple(self._context.running_turns.values()):
            running.suspend()
        if not await self._all_done(LAST_SECONDS):
            log.error("%d sessions did not end in time", len(self._queues))
            for session_queue in tuple(self._queues.values()):
                if session_queue.task is not None:
                    session_queue.task.cancel()

    # Queues come and go

    def _hint(self, session: SessionKey, inbound: Inbound | None = None, quiet: float = 0.0) -> SessionQueue | None:
        if self._context.draining:
            return None  # the next start looks
        session_queue = self._queues.get(session)
        new = session_queue is None
        if session_queue is None:
            session_queue = SessionQueue(session, self._context.clock)
            self._queues[session] = session_queue
            self._empty.clear()
        session_queue.hint(inbound, quiet)
        if new:
            self.begun(session_queue)
        return session_queue

    def close(self, session_queue: SessionQueue) -> None:
        """No one works on it any more; what is ready in a paused session is kept for when it goes on."""
        del self._queues[session_queue.key]
        if session_queue.ready and not self._context.draining:
            quarantine = self._context.quarantine
            self._shelved[session_queue.key] = tuple((turn, turn in quarantine) for turn in session_queue.ready)
            for turn in session_queue.ready:
                quarantine.leave(turn)
        if not self._queues:
            self._empty.set()

    def _take(self, turn: TurnId, session: SessionKey) -> None:
        shelved = self._shelved.get(session)
        if shelved is not None:
            if turn not in dict(shelved):
                self._shelved[session] = (*shelved, (turn, False))
            return
        session_queue = self._hint(session)
        if session_queue is not None and turn not in session_queue.ready:
            session_queue.ready.append(turn)

    async def _all_done(self, seconds: float) -> bool:
        return await wait_for_event(self._empty, self._context.clock, seconds)

    # What people do

    async def _cancel_waiting(
        self, session: SessionKey, reason: str, only: InboundId | None = None
    ) -> tuple[InboundId, ...]:
        inbox = self._context.store.inbox
        text = say(Sentence.CANCELLED_WAITING, self._context.language, reason=reason)
        cancelled = await inbox.cancel_waiting(session, reason, None if only is None else {only}, text=text)
        if cancelled:
            # No turn and no single trace: who follows one of these messages looks it up.
            end = Settled(TraceId(""), session, TurnId(""), TurnState.CANCELLED, text, OutboundKind.NOTICE, cancelled)
            self._context.hub.publish(end)
            self._context.outbox(None)
        return cancelled

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
                turn = await take_up(self._context, row.id)
                await end_as_cancelled(self._context, RunningTurn(turn), reason)
            except StoreError:
                self._take(row.id, row.session)  # not ended, so it goes on
                raise
            except HobError:
                return False  # it has ended
            self._forget_ready(session_queue, row.id)
        self._context.outbox([inbound.origin for inbound in turn.inbounds])
        return True

    def _forget_ready(self, session_queue: SessionQueue, turn: TurnId) -> None:
        if turn in session_queue.ready:
            session_queue.ready = deque(other for other in session_queue.ready if other != turn)
        kept = tuple(pair for pair in self._shelved.pop(session_queue.key, ()) if pair[0] != turn)
        if kept:
            self._shelved[session_queue.key] = kept
        self._context.quarantine.leave(turn)
