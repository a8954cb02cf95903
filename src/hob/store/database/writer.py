"""The writer thread of the database: one transaction after the other.

Jobs that arrive during a commit run together and share the next commit, so that many waiting callers cost one fsync
(group commit). Each job takes effect entirely or not at all, and its caller is resumed only after the commit.
"""

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import apsw

from hob.core.errors import StoreDamaged, StoreError
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.database.check import DamageCheck
from hob.store.database.faults import DAMAGE, translate
from hob.store.database.jobs import JobFailed, attempt
from hob.store.erasure.content import WriteConnection

T = TypeVar("T")
Job = Callable[[apsw.Connection], T]

_QUIET = 0.02
"""Seconds without a write after which deferred work runs."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Queued:
    job: Job[Any]
    future: "asyncio.Future[Any]"
    dropped: bool = False


class Writer:
    """Runs write jobs in order of arrival."""

    def __init__(
        self, connection: WriteConnection, loop: asyncio.AbstractEventLoop, group: int, check: DamageCheck
    ) -> None:
        """After damage is found, every job fails with StoreDamaged."""
        self._connection = connection
        self._check = check
        self._loop = loop
        self._group = group
        self._queue: queue.SimpleQueue[_Queued | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="hob-store-writer", daemon=True)
        self._closed = False
        self._watchers: set[Callable[[frozenset[str]], None]] = set()
        self.commits = 0
        self.last_error: str | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Number of jobs not started yet."""
        return self._queue.qsize()

    async def write(self, job: Job[T]) -> T:
        """Run the job in a transaction and return its result once it is on disk.

        An exception of the job rolls it back and is raised here. Raises StoreFull, StoreDamaged, StoreError if the
        transaction could not be committed; then nothing was written. A cancelled caller does not learn whether its job
        took effect, but it did entirely or not at all.
        """
        if self._check.damage is not None:
            raise StoreDamaged(self._check.damage)
        if self._closed:
            raise StoreError(translatable("The database is closed."))
        queued = _Queued(job, self._loop.create_future())
        self._queue.put(queued)
        try:
            result: T = await queued.future
        except asyncio.CancelledError:
            queued.dropped = True
            raise
        return result

    @property
    def puts_off(self) -> bool:
        """Whether deferred work is pending."""
        return self._connection.later is not None

    @contextmanager
    def watched(self, on_change: Callable[[frozenset[str]], None]) -> Iterator[None]:
        """Call `on_change` in the event loop with the kinds of events of each commit, while the block is open."""
        self._watchers.add(on_change)
        try:
            yield
        finally:
            self._watchers.discard(on_change)

    async def stop(self) -> None:
        """Run the queued jobs, then end the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        ending = False
        while not ending:
            jobs: list[_Queued] = []
            item = self._next()
            while item is not None:
                jobs.append(item)
                if len(jobs) >= self._group:
                    break
                try:
                    item = self._queue.get_nowait()
                except queue.Empty:
                    break
            else:
                ending = True
            jobs = [job for job in jobs if not job.dropped]
            if jobs:
                self._deliver(jobs, self._perform(jobs))

    def _next(self) -> _Queued | None:
        """Return the next jobs; while there are none, run deferred work."""
        while (job := self._connection.later) is not None:
            with suppress(queue.Empty):
                return self._queue.get(timeout=_QUIET)
            if self._perform([_Queued(job, self._loop.create_future())])[0] is not True:
                self._connection.later = None
        return self._queue.get()

    def _perform(self, jobs: Sequence[_Queued]) -> list[Any]:
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            if len(jobs) == 1:
                results = [attempt(jobs[0].job, connection)]
                connection.execute("ROLLBACK" if isinstance(results[0], JobFailed) else "COMMIT")
            else:
                results = [self._attempt_apart(job.job) for job in jobs]
                connection.execute("COMMIT")
        except apsw.Error as error:
            failure = self._check.found(str(error)) if isinstance(error, DAMAGE) else translate(error)
            self.last_error = str(failure)
            _log.error("a write of %d jobs failed: %s", len(jobs), error)
            self._roll_back()
            return [JobFailed(type(failure)(str(failure))) for _ in jobs]
        self.commits += 1
        self.last_error = None
        return results

    def _attempt_apart(self, job: Job[Any]) -> Any:
        self._connection.execute("SAVEPOINT job")
        result = attempt(job, self._connection)
        if isinstance(result, JobFailed):
            self._connection.execute("ROLLBACK TO job")
        self._connection.execute("RELEASE job")
        return result

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except apsw.Error as error:  # the disk may refuse even this; the next BEGIN will show
            _log.error("rolling back failed: %s", error)

    def _deliver(self, jobs: Sequence[_Queued], results: Sequence[Any]) -> None:
        happened, self._connection.happened = self._connection.happened, frozenset()
        try:
            self._loop.call_soon_threadsafe(self._settle, jobs, results, happened)
        except RuntimeError:  # the loop is closed, so no one is waiting any more
            _log.warning("%d writes were done for callers that are gone", len(jobs))

    def _settle(self, jobs: Sequence[_Queued], results: Sequence[Any], happened: frozenset[str]) -> None:
        for queued, result in zip(jobs, results, strict=True):
            if queued.future.done():
                continue
            if isinstance(result, JobFailed):
                queued.future.set_exception(result.error)
            else:
                queued.future.set_result(result)
        for told in tuple(self._watchers):
            told(happened)
