"""Followers see everything once and in order, over restarts and `kill -9`; what they cannot take is quarantined."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from hob.app.contribution import Effects, Follower, Start
from hob.app.followers import TRIES, FollowerJob
from hob.app.running_app import RunningServices
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import new_event_id, new_span_id, new_trace_id
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.clock import ManualClock

NOBODY = cast(RunningServices, None)
Batch = Sequence[tuple[int, TimelineEvent]]


def happened(text: str) -> TimelineEvent:
    """Something on the timeline."""
    kind = EventKind.SYSTEM
    return TimelineEvent(new_event_id(), new_trace_id(), new_span_id(), None, 1.0, kind, "test", "ok", text=text)


class Seen:
    """Takes events, except those it cannot; writes each into the database as its effect."""

    def __init__(self, store: Store, *, poison: str = "") -> None:
        self.store = store
        self.poison = poison
        self.tries: list[list[str]] = []
        self.done: list[str] = []
        self.more = asyncio.Event()

    async def work(self, events: Batch) -> Effects:
        texts = [event.text for _, event in events]
        self.tries.append(texts)
        if self.poison in texts:
            raise ValueError(f"I cannot take {self.poison}")

        def then() -> None:
            self.done += texts
            self.more.set()

        return Effects(then=then)

    async def until(self, count: int) -> list[str]:
        """What was taken, once it is that many."""
        async with asyncio.timeout(10):
            while len(self.done) < count:
                self.more.clear()
                await self.more.wait()
        return self.done


@asynccontextmanager
async def following(store: Store, seen: Seen, start: Start = Start.BEGINNING) -> AsyncIterator[FollowerJob]:
    job = FollowerJob(Follower("test", seen.work, start=start), store, QuickClock())
    await job.begin()

    async def run() -> None:
        await job.job.run(NOBODY)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(run())
        yield job
        task.cancel()


class QuickClock(ManualClock):
    """Nobody waits on it."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


async def test_follower_sees_everything_once_in_order_over_a_restart(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        await store.timeline.add([happened("a"), happened("b")])
        first = Seen(store)
        async with following(store, first):
            assert await first.until(2) == ["a", "b"]
            await store.timeline.add([happened("c")])
            assert await first.until(3) == ["a", "b", "c"]
        await store.timeline.add([happened("d")])
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        second = Seen(store)
        async with following(store, second):
            assert await second.until(1) == ["d"]


async def test_follower_starting_now_sees_no_earlier_events(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        await store.timeline.add([happened("before")])
        seen = Seen(store)
        async with following(store, seen, Start.NOW):
            await store.timeline.add([happened("after")])
            assert await seen.until(1) == ["after"]


async def test_failing_event_is_quarantined_alone(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        await store.timeline.add([happened(text) for text in ("a", "poison", "b")])
        seen = Seen(store, poison="poison")
        async with following(store, seen):
            assert await seen.until(2) == ["a", "b"]
        assert seen.tries.count(["poison"]) == TRIES
        (found,) = await store.followers.quarantined()
        assert (found.follower, found.events, found.reason) == ("test", 1, "ValueError: I cannot take poison")


async def test_follower_with_a_pause_batches_quick_events(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_store(tmp_path, StoreSettings(), clock) as store, asyncio.TaskGroup() as group:
        await store.timeline.add([happened("a")])
        seen = Seen(store)
        job = FollowerJob(Follower("test", seen.work, start=Start.BEGINNING, pause=5.0), store, clock)
        await job.begin()
        task = group.create_task(_run(job))
        await seen.until(1)
        for text in ("b", "c"):
            await store.timeline.add([happened(text)])
        async with asyncio.timeout(10):
            while not clock.sleepers():  # noqa: ASYNC110 - a real thread wakes it
                await asyncio.sleep(0)
        await clock.advance(5.0)
        await seen.until(3)
        assert seen.tries == [["a"], ["b", "c"]]
        task.cancel()


async def _run(job: FollowerJob) -> None:
    await job.job.run(NOBODY)


async def test_failed_effect_does_not_advance_the_cursor(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        place = await store.followers.begin("test", at_end=True)

        def broken(connection: object) -> None:
            raise ValueError("a defect")

        with pytest.raises(ValueError, match="defect"):
            await store.followers.advance("test", place + 5, broken)
        assert await store.followers.begin("test", at_end=True) == place


COUNTING = """
import asyncio, sys
from pathlib import Path
import pytest

from hob.app.followers import FollowerJob
from hob.app.contribution import Effects, Follower, Start
from hob.core.clock import SystemClock
from hob.store.settings import StoreSettings
from hob.store.store import open_store

async def main():
    async with open_store(Path(sys.argv[1]), StoreSettings(), SystemClock()) as store:
        async def work(events):
            def write(connection):
                for place, _ in events:
                    connection.execute("INSERT INTO seen (place) VALUES (?)", (place,))
            return Effects(write, lambda: print("done", flush=True))
        job = FollowerJob(Follower("count", work, start=Start.BEGINNING, at_once=1), store, SystemClock())
        await job.begin()
        await job.job.run(None)

asyncio.run(main())
"""


@pytest.mark.slow
async def test_follower_killed_at_any_moment_writes_each_effect_once(tmp_path: Path) -> None:
    """The table takes a place twice, so that a second writing would be seen."""
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        await store.timeline.add([happened(str(number)) for number in range(200)])
        await store._writer.write(lambda c: c.execute("CREATE TABLE seen (place INTEGER)").fetchall())
    for kills_after in (1, 7, 20, 60):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", COUNTING, str(tmp_path)), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        for _ in range(kills_after):
            await process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        await process.wait()
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        rows = await store._readers.read(lambda c: c.execute("SELECT place FROM seen ORDER BY rowid").fetchall())
        place = await store.followers.begin("count", at_end=True)
    places = [int(str(row[0])) for row in rows]
    assert len(places) >= 88
    assert places == sorted(set(places))
    assert place == places[-1]


async def test_events_without_effects_cost_no_commit(tmp_path: Path) -> None:
    given: asyncio.Queue[str] = asyncio.Queue()

    async def work(events: Batch) -> Effects | None:
        for _, event in events:
            given.put_nowait(event.text)
        return None

    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        job = FollowerJob(Follower("test", work, start=Start.BEGINNING), store, QuickClock())
        await job.begin()
        before = store.commits

        async def run() -> None:
            await job.job.run(NOBODY)

        async with asyncio.TaskGroup() as group:
            task = group.create_task(run())
            for text in ("a", "b"):
                await store.timeline.add([happened(text)])
                assert await asyncio.wait_for(given.get(), 10) == text
            task.cancel()
        assert store.commits == before + 2  # the events themselves
