"""Looking for damage after an unclean stop, beside the work."""

import asyncio
import logging
import threading
from collections.abc import Callable
from pathlib import Path

import apsw

from hob.store.database import quick_check
from hob.store.faults import close_quietly

PENDING, OK = "pending", "ok"
_log = logging.getLogger(__name__)


class BackgroundCheck:
    """One quick check in a thread of its own, where `note` says that one is owed.

    `state` is `pending`, `ok` or the problem. The note goes when all is well, holds the problem when not, and stays
    when Hob ends first, so that the next start checks again.
    """

    def __init__(self, connect: Callable[[], apsw.Connection], note: Path, refuse: Callable[[str], None]) -> None:
        self._connect = connect
        self._note = note
        self._refuse = refuse
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._stopped = False
        self._thread: threading.Thread | None = None
        self.state = OK

    def start(self) -> None:
        """Begin, if there is anything to do."""
        if self._note.exists():
            self.state = PENDING
            self._thread = threading.Thread(target=self._run, name="hob-store-check", daemon=True)
            self._thread.start()

    async def stop(self) -> None:
        """End it, finished or not."""
        with self._lock:
            self._stopped = True
            if self._connection is not None:
                self._connection.interrupt()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        try:
            problem = self._look()
        except apsw.InterruptError:
            return
        except (apsw.CorruptError, apsw.NotADBError) as error:
            problem = str(error)
        except apsw.Error as error:  # the disk fails, which says nothing about the file; the next start checks again
            _log.warning("the database could not be checked: %s", error)
            return
        if problem is None:
            self._note.unlink(missing_ok=True)
            self.state = OK
            return
        _log.error("the database is damaged: %s", problem)
        self.state = problem
        self._refuse(f"The database is damaged ({problem}); stop Hob and see `hob restore`.")
        self._note.write_text(problem, "utf-8")

    def _look(self) -> str | None:
        with self._lock:
            if self._stopped:
                raise apsw.InterruptError("stopped before it began")
            connection = self._connection = self._connect()
        try:
            return quick_check(connection)
        finally:
            with self._lock:
                self._connection = None
                close_quietly(connection)
