"""Processes started on behalf of turns; none outlives the bus."""

import os
import signal
from asyncio.subprocess import Process
from collections.abc import Iterator
from contextlib import contextmanager

from hob.bus.waiting import within
from hob.core.clock import Clock


class Children:
    """The processes that run now. Each leads a process group of its own (`start_new_session=True`)."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._running: dict[int, Process] = {}

    @contextmanager
    def listed(self, process: Process) -> Iterator[Process]:
        """While the block is open a shutdown ends this process and all it started."""
        self._running[process.pid] = process
        try:
            yield process
        finally:
            del self._running[process.pid]

    async def stop(self, seconds: float) -> None:
        """Ask all to end, wait so long, then kill their groups; all are reaped when this returns."""
        running = tuple(self._running.values())
        for process in running:
            _signal(process, signal.SIGTERM)
        until = self._clock.monotonic() + seconds
        for process in running:
            try:
                await within(self._clock, max(0.0, until - self._clock.monotonic()), process.wait())
            except TimeoutError:
                _signal(process, signal.SIGKILL)
                await process.wait()


def _signal(process: Process, number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return  # it has ended
