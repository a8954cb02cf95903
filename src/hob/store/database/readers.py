"""The pool of reader threads.

Each thread has its own connection with cached pages and statements, and each wakes the event loop itself, so answering
as much as possible in one thread is cheapest.
"""

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import apsw

from hob.core.errors import StoreError
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.database.check import DamageCheck
from hob.store.database.faults import DAMAGE, close_quietly, translate
from hob.store.database.jobs import JobFailed, attempt

T = TypeVar("T")
_TOGETHER = 8
_LONG = 0.005
"""Seconds after which another thread helps, and finished answers are delivered separately."""


@dataclass(slots=True)
class _QueuedQuery:
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
        """`check` is informed of damage that a query finds."""
        self._connect = connect
        self._check = check
        self._loop = loop
        self._at_most = at_most
        self._queue: queue.SimpleQueue[_QueuedQuery | None] = queue.SimpleQueue()
        self._help: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._answered: deque[tuple[_QueuedQuery, Any]] = deque()
        self._threads: list[threading.Thread] = []
        self._pending = 0
        self._look: asyncio.TimerHandle | None = None
        self._closed = False

    async def read(self, query: Callable[[apsw.Connection], T]) -> T:
        """Run the query on a snapshot that contains everything committed before this call. Raises StoreErrors."""
        if self._closed:
            raise StoreError(translatable("The database is closed."))
        if not self._threads:
            self._start(self._run)
        if self._pending and self._look is None:
            self._look = self._loop.call_later(_LONG, self._look_after)
        self._pending += 1
        asked = _QueuedQuery(query, self._loop.create_future())
        self._queue.put(asked)
        try:
            result: T = await asked.future
        finally:
            self._pending -= 1
            if not self._pending and self._look is not None:
                self._look.cancel()
                self._look = None
        return result

    async def stop(self) -> None:
        """Answer the pending queries, then end the threads and close their connections."""
        self._closed = True
        self._queue.put(None)
        for _ in self._threads:
            self._help.put(False)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _start(self, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=run, name="hob-store-reader", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _look_after(self) -> None:
        """Watch for a slow query: deliver answers already available, and give waiting queries to another thread."""
        self._look = self._loop.call_later(_LONG, self._look_after) if self._pending > 1 else None
        self._settle()
        if self._queue.empty() or self._closed:
            return
        if len(self._threads) < self._at_most:
            self._start(self._run_beside)
        if len(self._threads) > 1:
            self._help.put(True)

    def _run(self) -> None:
        connection: apsw.Connection | None = None
        while (asked := self._queue.get()) is not None:
            connection = self._answer(connection, asked)
        if connection is not None:
            close_quietly(connection)

    def _run_beside(self) -> None:
        connection: apsw.Connection | None = None
        while self._help.get():
            while (asked := self._next()) is not None:
                connection = self._answer(connection, asked)
        if connection is not None:
            close_quietly(connection)

    def _answer(self, connection: apsw.Connection | None, asked: _QueuedQuery | None) -> apsw.Connection | None:
        """Answer queries together, waking the loop once."""
        count = 0
        while asked is not None:
            if not asked.future.cancelled():
                try:
                    connection = connection or self._connect()
                    self._answered.append((asked, _read(connection, asked.query)))
                except apsw.Error as error:
                    failure = self._check.found(str(error)) if isinstance(error, DAMAGE) else translate(error)
                    failure.__cause__ = error
                    self._answered.append((asked, JobFailed(failure)))
            count += 1
            asked = self._next() if count < _TOGETHER else None
        try:
            self._loop.call_soon_threadsafe(self._settle)
        except RuntimeError:  # the loop is closed, so no one is waiting any more
            self._answered.clear()
        return connection

    def _next(self) -> _QueuedQuery | None:
        """Return further pending queries."""
        try:
            asked = self._queue.get_nowait()
        except queue.Empty:
            return None
        if asked is None:  # end marker: stop after the current answers
            self._queue.put(None)
        return asked

    def _settle(self) -> None:
        while self._answered:
            asked, result = self._answered.popleft()
            if asked.future.done():
                continue
            if isinstance(result, JobFailed):
                asked.future.set_exception(result.error)
            else:
                asked.future.set_result(result)


def _read(connection: apsw.Connection, query: Callable[[apsw.Connection], T]) -> T | JobFailed:
    connection.execute("BEGIN")
    try:
        return attempt(query, connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
