"""The worker of one session's queue: runs its jobs in order, one at a time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from hob.bus.job_batches import is_batch_complete, messages_before_command, next_batch
from hob.bus.running_turn import RunningTurn
from hob.bus.session_commands import run_queued_command
from hob.bus.session_queue import SessionQueue
from hob.bus.turn_runner import BusContext, cancel_turn, publish_end, record_end, run_once
from hob.bus.waiting import failure_pause, retry, wait_for_event
from hob.core.errors import HobError, InvalidRequest, StoreDamaged, StoreError
from hob.core.events.notices import Progress
from hob.core.ids import TurnId
from hob.core.messages import Inbound, OutboundKind
from hob.core.ports.turns import Commands, Turns
from hob.core.states import TurnState
from hob.core.translation.sentences import Sentence, say
from hob.core.turns import Finished, Parked, QueueMode, Turn, WaitsFor
from hob.core.values import dataclass
from hob.store.messages.inbox import Waiting

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WorkerResources:
    """Resources shared by queue workers: turns, commands, the task group, and the semaphore of running turns."""

    turns: Turns
    commands: Commands
    group: asyncio.TaskGroup
    slots: asyncio.Semaphore


class QueueWorker:
    """Runs the jobs of one session until none is left."""

    def __init__(self, queue: SessionQueue, context: BusContext, resources: WorkerResources) -> None:
        self.queue = queue
        self.context = context
        self._resources = resources
        self._has_slot = False

    async def run(self) -> None:
        """Work until nothing is left, the session is paused, or Hob shuts down."""
        try:
            while not self.context.draining and (self.queue.ready or self.queue.has_waiting):
                version = self.queue.version
                self.queue.has_waiting = False
                session, rows = await self.persist(lambda: self.context.load_queue(self.queue.key))
                if session.paused:
                    self._publish_paused()
                    if self.queue.version == version:
                        return
                    continue
                self.queue.new_traces.clear()
                if self.queue.ready:
                    self.queue.has_waiting = True
                    await self._resume(self.queue.ready[0], session.mode, rows, version)
                else:
                    await self._run_next(rows, session.mode, version)
        finally:
            self._release_slot()

    def _publish_paused(self) -> None:
        text = say(Sentence.PAUSED, self.context.language)
        for trace in self.queue.new_traces:
            self.context.hub.publish(Progress(trace, self.queue.key, "paused", "session", text))
        self.queue.new_traces.clear()

    async def handle_arrival(self, inbound: Inbound) -> None:
        """Let a message that arrived during a turn join it, interrupt it, or wait, depending on the queue mode."""
        running = self.queue.running
        try:
            session = await self.context.store.sessions.get(self.queue.key)
        except StoreError:
            return  # it waits in the inbox
        if running is None or running is not self.queue.running or session.paused:
            return
        mode = session.mode or self.context.routing.mode_of(inbound.origin.channel)
        if mode is QueueMode.STEER:
            running.let_join(inbound)
        elif mode is QueueMode.INTERRUPT:
            running.stop(say(Sentence.INTERRUPTED, self.context.language))
        else:
            running.queue_followup(inbound)

    async def persist(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `work`, retrying while the store is unavailable (promise 9).

        Raises StoreDamaged, which no retry repairs.
        """
        return await retry(work, self._wait_for_store)

    # Choosing the next job

    async def _run_next(self, rows: Sequence[Waiting], mode: QueueMode | None, version: int) -> None:
        context = self.context
        if not rows:
            return
        self.queue.mode = mode or context.routing.mode_of(rows[0].inbound.origin.channel)
        batch = self._batch(rows)
        if batch[0].command:
            self.queue.has_waiting = True
            await run_queued_command(context, self._resources.commands, batch[0], self.persist)
            return
        quiet = self.queue.quiet_until - context.clock.monotonic()
        if quiet > 0 and not is_batch_complete(rows, batch, context.settings.debounce_of):
            self.queue.has_waiting = True
            self.queue.changed.clear()
            await self.pause(quiet, self.queue.changed)
            return
        await self._wait_for_suspects()
        await self._acquire_slot()
        running = await self.persist(lambda: self._claim(rows, version))
        if running is not None:
            await self._perform(running)
        self._release_slot()

    async def _claim(self, rows: Sequence[Waiting], version: int) -> RunningTurn | None:
        """Start a turn with the head of the queue; return None if the queue changed meanwhile."""
        inbox = self.context.store.inbox
        async with self.queue.lock:
            seen = self.queue.version
            if seen != version:
                rows = await self.context.load_waiting(self.queue.key)
            batch = self._batch(rows) if rows else ()
            if not batch or batch[0].command:
                self.queue.has_waiting = True
                return None
            self.queue.has_waiting = self.queue.has_waiting or len(rows) > len(batch)
            try:
                turn = await inbox.claim(self.queue.key, [row.inbound.id for row in batch])
            except InvalidRequest:  # settled meanwhile, e.g. erased
                self.queue.has_waiting = True
                return None
            self.queue.quiet_from = None
            return await self._begin_turn(turn, rows[len(batch) :] if self.queue.version == seen else None)

    def _batch(self, rows: Sequence[Waiting]) -> tuple[Waiting, ...]:
        return next_batch(rows, self.queue.mode, self.context.settings.debounce_of)

    async def _resume(self, turn: TurnId, mode: QueueMode | None, rows: Sequence[Waiting], version: int) -> None:
        context = self.context
        await self._wait_for_suspects(turn)
        await self._acquire_slot()
        timer = (
            self._resources.group.create_task(self._release_others_later(turn)) if turn in context.quarantine else None
        )
        try:
            running = await self.persist(lambda: self._start(turn, mode, rows, version))
            if running is not None:
                await self._perform(running)
        finally:
            if timer is not None:
                timer.cancel()
            context.quarantine.remove(turn)
        self._release_slot()

    async def _wait_for_suspects(self, turn: TurnId | None = None) -> None:
        self.queue.interruptible = True
        await self.context.quarantine.wait(turn)
        self.queue.interruptible = False

    async def _release_others_later(self, turn: TurnId) -> None:
        """Release the other turns once a suspect has run long enough without a crash."""
        await self.context.clock.sleep(self.context.settings.suspect_seconds)
        self.context.quarantine.release_others()
        self.context.quarantine.remove(turn)

    async def _start(
        self, turn: TurnId, mode: QueueMode | None, rows: Sequence[Waiting], version: int
    ) -> RunningTurn | None:
        async with self.queue.lock:
            if not self.queue.ready or self.queue.ready[0] != turn:
                return None  # cancelled meanwhile
            try:
                started = await self.context.store.turns.start(turn)
            except StoreError:
                raise
            except HobError as error:
                log.error("the turn %s is not ready: %s", turn, error)
                self.queue.ready.popleft()
                return None
            self.queue.ready.popleft()
            for first in started.inbounds[:1]:  # all may be erased
                self.queue.mode = mode or self.context.routing.mode_of(first.origin.channel)
            return await self._begin_turn(started, rows if self.queue.version == version else None)

    async def _begin_turn(self, turn: Turn, left: Sequence[Waiting] | None = None) -> RunningTurn:
        """Register the turn as running; messages `left` in the queue (None: load them) may join it."""
        self.queue.running = running = RunningTurn(turn)
        self.context.running_turns[turn.id] = running
        if self.queue.mode is QueueMode.STEER:
            try:
                left = await self.context.load_waiting(self.queue.key) if left is None else left
            except StoreError:
                left = ()  # it waits in the inbox
            for row in messages_before_command(left):
                running.let_join(row.inbound)
        return running

    # Running a turn

    async def _perform(self, running: RunningTurn) -> None:
        try:
            await self._run_to_outcome(running)
        except asyncio.CancelledError:
            await self._release(running)
            raise
        finally:
            del self.context.running_turns[running.turn.id]
            self.queue.running = None
            self.queue.origins.update(inbound.origin for inbound in (*running.turn.inbounds, *running.turn.joined))
            self.context.outbox(self.queue.origins)
            self.queue.origins.clear()

    async def _run_to_outcome(self, running: RunningTurn) -> None:
        failures, began = 0, self.context.clock.monotonic()
        while True:
            result = await run_once(self.context, self._resources.turns, self._resources.group, running)
            reason = running.stop_reason()
            match result:
                case Finished(state, why):
                    record_end(self.context, running.turn, state, why, self.context.clock.monotonic() - began)
                    return
                case Parked() if reason is None:
                    await self._park(running, result)
                    return
                case _ if reason is not None:
                    await self.persist(lambda text=reason: cancel_turn(self.context, running, text))  # type: ignore[misc]
                    return
                case _ if running.is_shutting_down:
                    await self._release(running)
                    return
                case StoreError():
                    failures += 1
                    await self._wait_for_store(failures, result)
                    if await self._state_of(running) is not TurnState.RUNNING:
                        return
                case _:
                    failures += 1
                    if not await self._record_defect(running, failures):
                        return

    async def _record_defect(self, running: RunningTurn, failures: int) -> bool:
        """Count a defect as a crash (promise 2) and pause; return whether the turn runs again."""
        context, turns = self.context, self.context.store.turns
        turn = running.turn
        if await self._state_of(running) is not TurnState.RUNNING:
            return False  # it failed after its end was committed
        state = await self.persist(lambda: turns.record_defect(turn.id, context.say_quarantined))
        if state is TurnState.SET_ASIDE:
            record_end(context, turn, state, "")
            publish_end(context, running, state, context.say_quarantined(turn.id), OutboundKind.ERROR)
            return False
        await self.pause(failure_pause(context.settings, failures), running.stopped)
        running.turn = await self.persist(lambda: turns.start(turn.id))
        return True

    async def _state_of(self, running: RunningTurn) -> TurnState | None:
        row = await self.persist(lambda: self.context.store.turns.find(running.turn.id))
        return None if row is None else row.state

    async def _park(self, running: RunningTurn, parked: Parked) -> None:
        context, turn = self.context, running.turn.id
        await self.persist(lambda: context.store.turns.park(turn, parked))
        woken = running.woken and await self.persist(lambda: context.store.turns.wake(turn))
        reason = running.stop_reason()
        if reason is not None:
            await self.persist(lambda: self._end_parked(running, reason))
        elif woken:
            self.queue.ready.append(turn)
        elif parked.on is WaitsFor.CLIENT or parked.question:
            # published only now that it is stored, so that an answer finds it
            publish_end(context, running, TurnState.PARKED, parked.question, OutboundKind.NOTICE)
        if parked.until is not None:
            context.parked.set()

    async def _end_parked(self, running: RunningTurn, reason: str) -> None:
        """End a turn that was stopped while it was being parked."""
        await self.context.store.turns.wake(running.turn.id)
        running.turn = await self.context.store.turns.start(running.turn.id)
        await cancel_turn(self.context, running, reason)

    async def _release(self, running: RunningTurn) -> None:
        """Release the turn to be resumed at the next start, which finds it even if this write fails."""
        try:
            await self.context.store.turns.release(running.turn.id)
        except HobError as error:
            log.warning("the turn %s was not put back: %s", running.turn.id, error)

    # Waiting

    async def _wait_for_store(self, failures: int, error: StoreError) -> None:
        context = self.context
        if isinstance(error, StoreDamaged):
            context.hub.close()  # no turn can end any more; waiting clients are told why
            raise error
        running = self.queue.running
        if failures == 1:
            log.error("the session %s waits for the store: %s", self.queue.key, error)
            if running is not None:
                text = say(Sentence.STORE_WAITS, context.language)
                context.hub.publish(Progress(running.turn.trace, self.queue.key, "paused", "store", text))
        pause = failure_pause(context.settings, failures)
        await self.pause(pause, None if running is None or running.stopped.is_set() else running.stopped)

    async def pause(self, seconds: float, event: asyncio.Event | None = None) -> None:
        """Pause without a slot, at most until the event is set."""
        had_slot = self._has_slot
        self._release_slot()
        self.queue.interruptible = True
        if event is None:
            await self.context.clock.sleep(seconds)
        else:
            await wait_for_event(event, self.context.clock, seconds)
        self.queue.interruptible = False
        if had_slot:
            await self._acquire_slot()

    async def _acquire_slot(self) -> None:
        self.queue.interruptible = True
        await self._resources.slots.acquire()
        self._has_slot = True
        async with self.context.stopping:
            self.queue.interruptible = False

    def _release_slot(self) -> None:
        if self._has_slot:
            self._has_slot = False
            self._resources.slots.release()
