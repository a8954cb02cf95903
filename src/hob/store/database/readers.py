"""The threads that read. They are started when somebody first reads."""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import apsw

from hob.core.errors import StoreError
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.database.check import DamageCheck
from hob.store.database.faults import DAMAGE, close_quietly, translate
from hob.store.database.jobs import JobFailed, attempt

T = TypeVar("T")
_TOGETHER = 4


@dataclass(slots=True)
class _Asked:
    query: Callable[[apsw.Connection], Any]
    future: "asyncio.Future[Any]"


class Readers:
    """A pool of read-only connections."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        loop: asyncio.AbstractEventLoop,
        at_most: int,
        check: DamageCheck,
    ) -> None:
        """`check` is told of damage that a query meets."""
        self._connect = connect
        self._check = check
        self._loop = loop
        self._at_most = at_most
        self._queue: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._pending = 0
        self._closed = False

    async def read(self, query: Callable[[apsw.Connection], T]) -> T:
        """Run the query on one snapshot that holds everything committed before this call. Raises StoreErrors."""
        if self._closed:
            raise StoreError(translatable("The database is closed."))
        self._pending += 1
        if self._pending > len(self._threads) < self._at_most:
            thread = threading.Thread(target=self._run, name="hob-store-reader", daemon=True)
            self._threads.append(thread)
            thread.start()
        asked = _Asked(query, self._loop.create_future())
        self._queue.put(asked)
        try:
            result: T = await asked.future
        finally:
            self._pending -= 1
        return result

    async def stop(self) -> None:
        """Answer what was asked, then end the threads and close their connections."""
        self._closed = True
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _run(self) -> None:
        connection: apsw.Connection | None = None
        while (asked := self._queue.get()) is not None:
            answered: list[tuple[_Asked, Any]] = []
            while asked is not None:  # what was asked together is answered together: that wakes the loop once
                if not asked.future.cancelled():
                    try:
                        connection = connection or self._connect()
                        answered.append((asked, _answer(connection, asked.query)))
                    except apsw.Error as error:
                        failure = self._check.found(str(error)) if isinstance(error, DAMAGE) else translate(error)
                        failure.__cause__ = error
                        answered.append((asked, JobFailed(failure)))
                asked = self._next() if len(answered) < _TOGETHER else None
            self._deliver(answered)
        if connection is not None:
            close_quietly(connection)

    def _next(self) -> _Asked | None:
        """What else was asked already."""
        try:
            asked = self._queue.get_nowait()
        except queue.Empty:
            return None
        if asked is None:  # the end: after what is answered now
            self._queue.put(None)
        return asked

    def _deliver(self, answered: Sequence[tuple[_Asked, Any]]) -> None:
        try:
            self._loop.call_soon_threadsafe(_settle, answered)
        except RuntimeError:  # the loop is closed: no one waits any more
            return


def _answer(connection: apsw.Connection, query: Callable[[apsw.Connection], T]) -> T | JobFailed:
    connection.execute("BEGIN")
    try:
        return attempt(query, connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _settle(answered: Sequence[tuple[_Asked, Any]]) -> None:
    for asked, result in answered:
        if asked.future.done():
            continue
        if isinstance(result, JobFailed):
            asked.future.set_exception(result.error)
        else:
            asked.future.set_result(result)
