"""Reader threads: simultaneous queries, and slow ones."""

import asyncio
import threading
from collections.abc import AsyncIterator

import apsw
import pytest

from hob.store.store import Store
from hob.testing.memory_store import memory_store


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


class Slow:
    """A query that runs until it is released."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()

    def __call__(self, connection: apsw.Connection) -> int:
        self.begun.set()
        assert self.go.wait(10)
        return threading.get_ident()


def thread_of(connection: apsw.Connection) -> int:
    return threading.get_ident()


async def test_simultaneous_queries_are_read_by_one_thread(store: Store) -> None:
    threads = await asyncio.gather(*(store._readers.read(thread_of) for _ in range(20)))
    assert len(set(threads)) == 1


async def test_another_thread_reads_queries_behind_a_slow_one(store: Store) -> None:
    slow = Slow()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(store._readers.read(slow))
        await asyncio.to_thread(slow.begun.wait, 10)
        threads = {await store._readers.read(thread_of) for _ in range(3)}
        slow.go.set()
    assert waiting.result() not in threads
    assert len(threads) == 1


async def test_answer_does_not_wait_for_a_slow_query_beside_it(store: Store) -> None:
    slow = Slow()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(store._readers.read(thread_of))
        waiting = group.create_task(store._readers.read(slow))
        last = group.create_task(store._readers.read(thread_of))
        await asyncio.wait([first, last])
        assert not waiting.done()
        slow.go.set()
    assert first.result() == waiting.result()
