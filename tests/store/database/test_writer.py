"""The writer thread: group commits, failing jobs, cancelled callers."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

import apsw
import pytest

from hob.core.errors import StoreDamaged, StoreError
from hob.core.ids import SessionKey
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.turns import put_message

_PUT = "INSERT INTO settings (key, value, updated) VALUES (?, '', 0)"


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


def put(key: str) -> Callable[[apsw.Connection], None]:
    def job(connection: apsw.Connection) -> None:
        connection.execute(_PUT, (key,))

    return job


def put_and_break(connection: apsw.Connection) -> None:
    connection.execute(_PUT, ("broken",))
    raise LookupError("a defect")


class Held:
    """A job that blocks the writer until it is released, so that others queue behind it."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()

    def __call__(self, connection: apsw.Connection) -> None:
        self.begun.set()
        self.go.wait(10)


async def hold(store: Store, group: asyncio.TaskGroup) -> Held:
    held = Held()
    group.create_task(store._writer.write(held))
    await asyncio.to_thread(held.begun.wait, 10)
    return held


async def test_waiting_writes_share_one_commit(store: Store) -> None:
    async with asyncio.TaskGroup() as group:
        held = await hold(store, group)
        before = store.commits
        for n in range(30):
            group.create_task(put_message(store, message(f"number {n}"), session=SessionKey(f"s{n}")))
        await asyncio.sleep(0)
        held.go.set()
    assert store.commits == before + 2
    assert (await store.inbox.counts()).waiting == 30


async def test_failing_job_does_not_affect_others_of_its_group(store: Store) -> None:
    async with asyncio.TaskGroup() as group:
        held = await hold(store, group)
        jobs = [put("a"), put_and_break, put("b")]
        tasks = [group.create_task(_outcome(store, job)) for job in jobs]
        await asyncio.sleep(0)
        held.go.set()
    assert [type(task.result()) for task in tasks] == [type(None), LookupError, type(None)]
    assert await store.settings.load() == {"a": "", "b": ""}


async def _outcome(store: Store, job: Callable[[apsw.Connection], None]) -> Exception | None:
    try:
        return await store._writer.write(job)
    except LookupError as error:
        return error


async def test_failing_job_writes_nothing(store: Store) -> None:
    with pytest.raises(LookupError):
        await store._writer.write(put_and_break)
    assert await store.settings.load() == {}
    await store._writer.write(put("a"))
    assert await store.settings.load() == {"a": ""}


async def test_job_of_a_cancelled_caller_is_atomic(store: Store) -> None:
    begun = threading.Event()
    go = threading.Event()

    def slow(connection: apsw.Connection) -> None:
        connection.execute(_PUT, ("one",))
        begun.set()
        go.wait(10)
        connection.execute(_PUT, ("two",))

    task = asyncio.get_running_loop().create_task(store._writer.write(slow))
    await asyncio.to_thread(begun.wait, 10)
    queued = asyncio.get_running_loop().create_task(store._writer.write(put("queued")))
    await asyncio.sleep(0)
    task.cancel()
    queued.cancel()
    await asyncio.wait((task, queued))
    go.set()
    await store._writer.write(put("last"))
    assert await store.settings.load() == {"one": "", "two": "", "last": ""}


async def test_sqlite_errors_become_store_errors(store: Store) -> None:
    with pytest.raises(StoreError, match="no such table"):
        await store._writer.write(lambda connection: connection.execute("SELECT * FROM nowhere").fetchall())
    with pytest.raises(StoreError, match="no such table"):
        await store._readers.read(lambda connection: connection.execute("SELECT * FROM nowhere").fetchall())


async def test_readers_cannot_write(store: Store) -> None:
    with pytest.raises(StoreError):
        await store._readers.read(put("a"))


async def test_reader_sees_one_snapshot(store: Store) -> None:
    begun = threading.Event()
    go = threading.Event()

    def count_twice(connection: apsw.Connection) -> list[int]:
        first = connection.execute("SELECT count(*) FROM settings").get
        begun.set()
        go.wait(10)
        return [first, connection.execute("SELECT count(*) FROM settings").get]

    reading = asyncio.get_running_loop().create_task(store._readers.read(count_twice))
    await asyncio.to_thread(begun.wait, 10)
    await store._writer.write(put("a"))
    go.set()
    assert await reading == [0, 0]
    assert await store.settings.load() == {"a": ""}


async def test_concurrent_reads_are_all_answered(store: Store) -> None:
    await put_message(store, message("hello"))
    counts = await asyncio.gather(*(store.inbox.counts() for _ in range(50)))
    assert {count.waiting for count in counts} == {1}


async def test_damaged_file_is_not_written_to(store: Store) -> None:
    store._check.found("page 7 is torn")
    with pytest.raises(StoreDamaged, match="page 7"):
        await store.settings.change({"a": ""})


async def test_closed_store_raises_a_store_error() -> None:
    async with memory_store() as store:
        pass
    with pytest.raises(StoreError, match="closed"):
        await store.settings.change({"a": ""})
    with pytest.raises(StoreError, match="closed"):
        await store.settings.load()
