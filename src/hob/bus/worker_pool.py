"""The pool of queue workers: one per session with work, limited to a number of concurrent turns."""

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from hob.bus.queue_worker import QueueWorker, WorkerResources
from hob.bus.session_queue import SessionQueue
from hob.bus.session_queues import SessionQueues
from hob.bus.waiting import failure_pause, wait_for_event
from hob.core.errors import StoreDamaged, StoreError
from hob.core.messages import Inbound
from hob.core.ports.turns import Commands, Turns

MAX_SLEEP_SECONDS = 300.0
"""Longest sleep until a wall-clock time, since the wall clock may jump."""

log = logging.getLogger(__name__)


class WorkerPool:
    """Runs the session queues while `working` is open."""

    def __init__(
        self, session_queues: SessionQueues, turns: Turns, commands: Commands, group: asyncio.TaskGroup
    ) -> None:
        self._queues = session_queues
        self._context = session_queues.context
        slots = asyncio.Semaphore(session_queues.context.settings.slots)
        self._resources = WorkerResources(turns, commands, group, slots)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Start workers for all present and future work."""
        with (
            self._queues.opened.subscribed(self._start_worker),
            self._queues.arrived_during_turn.subscribed(self._handle_arrival),
        ):
            for session_queue in self._queues.idle():
                self._start_worker(session_queue)
            watches = [self._watch_time()] if self._context.mine is None else []
            watches += [self._retry_suspected()] if self._queues.has_suspected else []
            timers = [self._spawn(watch) for watch in watches]
            try:
                yield
            finally:
                for timer in timers:
                    if timer is not None:
                        timer.cancel()

    def _start_worker(self, session_queue: SessionQueue) -> None:
        session_queue.task = self._spawn(self._run_worker(session_queue))

    def _handle_arrival(self, offered: tuple[SessionQueue, Inbound]) -> None:
        session_queue, inbound = offered
        self._spawn(QueueWorker(session_queue, self._context, self._resources).handle_arrival(inbound))

    async def _run_worker(self, session_queue: SessionQueue) -> None:
        failures = 0
        worker = QueueWorker(session_queue, self._context, self._resources)
        try:
            while not await _run_guarded(worker):
                failures += 1
                session_queue.has_waiting = True
                await worker.pause(failure_pause(self._context.settings, failures))
        finally:
            self._queues.close(session_queue)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        try:
            return self._resources.group.create_task(work)
        except RuntimeError:  # the group is shutting down; durable work runs at the next start
            work.close()
            return None

    async def _watch_time(self) -> None:
        context = self._context
        failures = 0
        while True:
            context.parked.clear()
            now = context.clock.now().timestamp()
            try:
                for turn in await context.store.turns.due(now):
                    await self._queues.wake(turn)
                at = await context.store.turns.next_wake()
            except StoreError as error:
                failures += 1
                pause: float | None = failure_pause(context.settings, failures)
                log.error("parked turns wait for the store: %s", error)
            else:
                failures = 0
                pause = None if at is None else min(max(at - now, 0.2), MAX_SLEEP_SECONDS)
            await wait_for_event(context.parked, context.clock, pause)

    async def _retry_suspected(self) -> None:
        """Give turns that were quarantined together with others another attempt after Hob has run for a while.

        The process may be killed from outside during that attempt too, so there is a last one, ten times as late.
        """
        seconds = self._context.settings.suspect_seconds
        for pause, last in ((seconds, False), (9 * seconds, True)):
            await self._context.clock.sleep(pause)
            try:
                await self._queues.retry_suspected(last=last)
            except StoreError as error:
                log.error("what was quarantined waits for the next start: %s", error)


async def _run_guarded(worker: QueueWorker) -> bool:
    """Run the worker; return False after a defect."""
    try:
        await worker.run()
    except StoreDamaged as error:
        log.error("the session %s stands still: %s", worker.queue.key, error)
    except Exception:  # a defect of one session must neither affect the others nor stop its queue permanently
        log.exception("the session %s broke; it is tried again in a moment", worker.queue.key)
        return False
    return True
