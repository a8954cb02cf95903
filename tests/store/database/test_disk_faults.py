"""Full, read-only and failing disks, and power cuts."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from random import Random

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import StoreError, StoreFull
from hob.core.ids import SessionKey
from hob.core.messages import Inbound
from hob.core.steps import Noted
from hob.store.messages.inbox import InboxLimits
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from tests.samples import event_of, finish_of
from tests.store.faulty_vfs import FaultyDisk
from tests.turns import SESSION, make_turn

SETTINGS = StoreSettings()
CLOCK = SystemClock()
ROOM = InboxLimits()


@pytest.fixture
def disk() -> Iterator[FaultyDisk]:
    made = FaultyDisk()
    yield made
    made.close()


@asynccontextmanager
async def opened(home: Path, disk: FaultyDisk) -> AsyncIterator[Store]:
    async with open_store(home, SETTINGS, CLOCK, vfs=disk.name) as store:
        yield store


async def accept(store: Store, inbound: Inbound, session: SessionKey = SESSION) -> None:
    await store.inbox.accept(inbound, session=session, limits=ROOM, event=event_of(inbound))


async def texts(store: Store) -> list[str]:
    return [waiting.inbound.text for waiting in await store.inbox.waiting(SESSION)]


@pytest.mark.parametrize("fault", ["full", "io", "sync"])
async def test_failing_disk_refuses_writes_and_the_store_recovers_with_it(
    tmp_path: Path, disk: FaultyDisk, fault: str
) -> None:
    async with opened(tmp_path, disk) as store:
        await accept(store, message("before"))
        disk.fail(fault)
        refused = message("meanwhile", key="refused")
        with pytest.raises(StoreFull):
            await accept(store, refused)
        assert not store.health().writable
        assert await texts(store) == ["before"]
        assert await store.inbox.find_key("memory", "", "refused") is None
        disk.fail(None)
        await accept(store, refused)
        assert store.health().writable
        assert await texts(store) == ["before", "meanwhile"]


@pytest.mark.parametrize("fault", ["full", "io", "sync"])
async def test_every_caller_of_a_failed_group_commit_is_told(tmp_path: Path, disk: FaultyDisk, fault: str) -> None:
    async with opened(tmp_path, disk) as store:
        disk.fail(fault)
        outcomes = await asyncio.gather(
            *(accept(store, message(f"number {n}")) for n in range(20)), return_exceptions=True
        )
        assert {type(outcome) for outcome in outcomes} == {StoreFull}
        disk.fail(None)
        assert await texts(store) == []


async def test_finish_that_cannot_be_written_leaves_the_turn_running_and_works_later(
    tmp_path: Path, disk: FaultyDisk
) -> None:
    async with opened(tmp_path, disk) as store:
        turn = await make_turn(store, message("hello"))
        disk.fail("full")
        with pytest.raises(StoreFull):
            await store.journal.finish(finish_of(turn, "hi"))
        assert (await store.turns.counts()).running == 1
        assert (await store.transcript.load_view(SESSION, 5)).total == 0
        disk.fail(None)
        await store.journal.finish(finish_of(turn, "hi"))
        assert (await store.transcript.load_view(SESSION, 5)).total == 2


async def test_disk_failure_during_close_makes_the_end_unclean(tmp_path: Path, disk: FaultyDisk) -> None:
    async with opened(tmp_path, disk) as store:
        await accept(store, message("hello"))
        disk.fail("io")
    disk.fail(None)
    async with opened(tmp_path, disk) as store:
        assert store.unclean
        assert await texts(store) == ["hello"]


async def test_store_that_cannot_be_created_raises_a_store_error(tmp_path: Path, disk: FaultyDisk) -> None:
    disk.fail("full")
    with pytest.raises(StoreFull):
        async with opened(tmp_path, disk):
            pass
    disk.fail(None)
    async with opened(tmp_path, disk) as store:
        await accept(store, message("hello"))


async def test_faulty_disk_loses_unsynced_writes(tmp_path: Path, disk: FaultyDisk) -> None:
    """Without syncs the same power cut loses messages, so the test below can fail."""
    async with opened(tmp_path, disk) as store:
        await accept(store, message("synced"))
        await store._writer.write(lambda connection: None)
        store._connection.execute("PRAGMA synchronous = OFF")
        await accept(store, message("not synced"))
        disk.cut_power()
        await store.abandon()
    disk.restore_power()
    async with opened(tmp_path, disk) as store:
        assert await texts(store) == ["synced"]


@pytest.mark.parametrize("seed", range(6))
async def test_power_cut_loses_nothing_acknowledged(tmp_path: Path, disk: FaultyDisk, seed: int) -> None:
    choice = Random(seed)
    acknowledged: set[str] = set()
    for _ in range(4):
        async with opened(tmp_path, disk) as store:
            disk.cut_power_after(choice.randrange(1, 400))
            await accept_until_dark(store, acknowledged)
            await store.abandon()
        disk.restore_power(choice)
    async with opened(tmp_path, disk) as store:
        assert acknowledged <= set(await texts(store))
        assert await whole(store)


async def accept_until_dark(store: Store, acknowledged: set[str]) -> None:
    async def one() -> None:
        inbound = message("")
        object.__setattr__(inbound, "text", inbound.id)
        await accept(store, inbound)
        acknowledged.add(inbound.id)

    while not any(
        isinstance(each, StoreError)
        for each in await asyncio.gather(*(one() for _ in range(3)), return_exceptions=True)
    ):
        pass


async def whole(store: Store) -> bool:
    """Whether every message has its key, task and event, and none of these lacks its message."""
    sql = (
        "SELECT (SELECT count(*) FROM inbox), (SELECT count(*) FROM inbox JOIN dedup ON inbound = id),"
        " (SELECT count(*) FROM inbox JOIN tasks USING (id)), (SELECT count(*) FROM dedup),"
        " (SELECT count(*) FROM tasks), (SELECT count(*) FROM timeline WHERE kind = 'inbound')"
    )
    counts = await store._readers.read(lambda connection: connection.execute(sql).get)
    check = await store._readers.read(lambda connection: connection.execute("PRAGMA integrity_check").get)
    return len(set(counts)) == 1 and check == "ok"


def mount(place: Path, size: str) -> None:
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no mount command")
    if done.returncode:
        pytest.skip("mounting a small file system is not permitted here")


def remount(place: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(place)], check=True)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A real file system of two megabytes."""
    if not sys.platform.startswith("linux"):
        pytest.skip("tmpfs is Linux's")
    mount(tmp_path, "2m")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], capture_output=True, check=True)


def fill(place: Path) -> Path:
    """Create a file that takes all remaining space."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    return ballast


async def accept_for_ever(store: Store, accepted: list[str]) -> None:
    for n in count():
        await accept(store, message(str(n)))
        accepted.append(str(n))


async def test_full_disk_refuses_writes_until_there_is_room(small: Path) -> None:
    async with open_store(small, SETTINGS, CLOCK) as store:
        ballast = fill(small)
        accepted: list[str] = []
        with pytest.raises(StoreFull):
            await accept_for_ever(store, accepted)
        with pytest.raises(StoreFull):
            await store.blobs.put(b"x" * 100_000, "image/png")
        assert await texts(store) == accepted
        ballast.unlink()
        await accept(store, message("again"))
        assert await texts(store) == [*accepted, "again"]
    async with open_store(small, SETTINGS, CLOCK) as store:
        assert await texts(store) == [*accepted, "again"]
        assert await whole(store)


async def test_read_only_disk_refuses_writes_until_it_is_writable(small: Path) -> None:
    async with open_store(small, SETTINGS, CLOCK) as store:
        turn = await make_turn(store, message("hello"))
        await store.abandon()
    remount(small, "ro")
    with pytest.raises(StoreError):
        async with open_store(small, SETTINGS, CLOCK):
            pass
    remount(small, "rw")
    async with open_store(small, SETTINGS, CLOCK) as store:
        await store.journal.append(turn.id, [Noted("on")])
