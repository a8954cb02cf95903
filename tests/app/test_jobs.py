"""Jobs that break are started again, later and later; the others go on."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any, cast

from hob.app.contribution import Job
from hob.app.jobs import MAX_SECONDS, JobSupervisor
from hob.app.running_app import RunningServices
from hob.core.errors import StoreDamaged, StoreFull
from hob.testing.clock import ManualClock, settle

NOBODY = cast(RunningServices, None)


class Kept:
    """One job under a supervisor, on a clock of its own."""

    def __init__(self, clock: ManualClock, supervisor: JobSupervisor) -> None:
        self.clock = clock
        self.supervisor = supervisor

    @property
    def view(self) -> dict[str, Any]:
        return dict(self.supervisor.view()[0])


@asynccontextmanager
async def kept(
    *runs: Callable[[RunningServices], Awaitable[None]], clock: ManualClock | None = None
) -> AsyncIterator[Kept]:
    clock = clock or ManualClock()
    supervisor = JobSupervisor(clock)
    async with supervisor.keeping([Job(f"job{n}", run) for n, run in enumerate(runs)], NOBODY):
        await settle()
        yield Kept(clock, supervisor)


class Breaking:
    """Counts its starts, and breaks each time."""

    def __init__(self, error: Exception) -> None:
        self.starts = 0
        self._error = error

    async def __call__(self, _: RunningServices) -> None:
        self.starts += 1
        raise self._error


async def for_ever(_: RunningServices) -> None:
    await asyncio.Event().wait()


async def test_failing_job_is_restarted_with_growing_pauses() -> None:
    times: list[float] = []
    clock = ManualClock()

    async def run(_: RunningServices) -> None:
        times.append(clock.monotonic())
        raise RuntimeError("oh")

    async with kept(run, for_ever, clock=clock) as made:
        assert (made.view["state"], made.view["problem"]) == ("waiting", "RuntimeError: oh")
        await clock.advance(1600)
        pauses = [later - earlier for earlier, later in pairwise(times)]
        for pause, minimum in zip(pauses, (1, 2, 4, 8, 16, 32, 64, 128, 256, 300), strict=False):
            assert minimum * 0.75 <= pause <= minimum * 1.25
        assert len(pauses) > 9
        assert made.view["restarts"] == len(times)
        assert made.supervisor.view()[1]["state"] == "running"


async def test_long_run_resets_the_pauses_of_a_job() -> None:
    starts = []

    async def run(_: RunningServices) -> None:
        starts.append(1)
        if len(starts) == 5:
            await made.clock.sleep(MAX_SECONDS + 1)
        raise RuntimeError

    async with kept(for_ever, run) as made:
        for pause in (1, 2, 4, 8):
            await made.clock.advance(pause * 1.26)
        assert len(starts) == 5
        await made.clock.advance(MAX_SECONDS + 2)
        await made.clock.advance(1.26)
        assert len(starts) >= 6


async def test_job_waits_for_a_full_disk_and_stops_at_a_damaged_store() -> None:
    waits, stops = Breaking(StoreFull("no space")), Breaking(StoreDamaged("broken"))
    async with kept(waits, stops) as made:
        await made.clock.advance(MAX_SECONDS + 1)
        await made.clock.advance(MAX_SECONDS + 1)
        assert (waits.starts, stops.starts) == (3, 1)
        assert [each["state"] for each in made.supervisor.view()] == ["waiting", "stopped"]
        assert [each["restarts"] for each in made.supervisor.view()] == [0, 0]


async def test_job_that_ends_stays_ended() -> None:
    async def run(_: RunningServices) -> None:
        return

    async with kept(run) as made:
        assert made.view == {"name": "job0", "state": "ended", "restarts": 0, "problem": None}


async def test_job_failing_during_cancellation_is_not_restarted() -> None:
    starts = 0

    async def run(_: RunningServices) -> None:
        nonlocal starts
        starts += 1
        try:
            await asyncio.Event().wait()
        finally:
            raise StoreFull("the database is closed")

    async with asyncio.timeout(5), kept(run):
        pass
    assert starts == 1
