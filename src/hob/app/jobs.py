"""Supervised jobs: restarted with increasing pauses after failures, and listed in `hob status`."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any

from hob.app.contribution import Job
from hob.app.running_app import RunningServices
from hob.bus.waiting import backoff, unwrap_single_error
from hob.core.clock import Clock
from hob.core.errors import StoreDamaged, StoreFull
from hob.core.values import dataclass

FIRST_SECONDS, MAX_SECONDS = 1.0, 300.0
"""Pause between a failure and the restart. A run longer than the longest pause resets it."""

log = logging.getLogger(__name__)


class JobState(StrEnum):
    """The state of a job."""

    RUNNING = "running"
    WAITING = "waiting"
    ENDED = "ended"
    STOPPED = "stopped"


@dataclass(slots=True)
class _JobRecord:
    state: JobState = JobState.RUNNING
    restarts: int = 0
    problem: str = ""


class JobSupervisor:
    """Runs jobs and restarts them while the `keeping` block is open."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._records: dict[str, _JobRecord] = {}

    def view(self) -> Sequence[Mapping[str, Any]]:
        """Return each job's name, state, restarts since Hob started, and last problem."""
        return [
            {"name": name, "state": kept.state.value, "restarts": kept.restarts, "problem": kept.problem or None}
            for name, kept in self._records.items()
        ]

    @asynccontextmanager
    async def keeping(self, jobs: Iterable[Job], running: RunningServices) -> AsyncIterator[None]:
        """Run these jobs while the block is open."""
        with unwrap_single_error():
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._supervise(job, running)) for job in jobs]
                yield
                for task in tasks:
                    task.cancel()

    async def _supervise(self, job: Job, running: RunningServices) -> None:
        kept = self._records.setdefault(job.name, _JobRecord())
        failures = 0
        while True:
            began = self._clock.monotonic()
            kept.state = JobState.RUNNING
            try:
                await _run(job, running)
            except StoreDamaged as error:
                kept.state, kept.problem = JobState.STOPPED, str(error)
                log.error("the job %s stops: %s", job.name, error)
                return
            except StoreFull as error:
                kept.state, kept.problem = JobState.WAITING, str(error)
                log.error("the job %s waits for the disk: %s", job.name, error)
                await self._clock.sleep(MAX_SECONDS)
                continue
            except Exception as error:  # isolates jobs: the failure of one does not affect the others
                failures = 1 if self._clock.monotonic() - began > MAX_SECONDS else failures + 1
                kept.state, kept.problem = JobState.WAITING, f"{type(error).__name__}: {error}"
                kept.restarts += 1
                pause = backoff(failures, FIRST_SECONDS, MAX_SECONDS)
                log.exception("the job %s failed and is started again in %.0f s", job.name, pause)
                await self._clock.sleep(pause)
                continue
            kept.state, kept.problem = JobState.ENDED, ""
            return


async def _run(job: Job, running: RunningServices) -> None:
    """Run the job. An exception raised during cancellation counts as cancelled, so the job is not restarted."""
    try:
        await job.run(running)
    except Exception as error:  # the job's own, raised again
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError from error
        raise
