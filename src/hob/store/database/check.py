"""The integrity check after an unclean end, and the record of damage found during operation."""

import asyncio
import logging
import threading
from collections.abc import Callable
from pathlib import Path

import apsw

from hob.core.errors import StoreDamaged
from hob.core.translation.language import translatable
from hob.store.database.database import quick_check
from hob.store.database.faults import close_quietly
from hob.store.database.migration import backup_hint

PENDING, OK = "pending", "ok"
_log = logging.getLogger(__name__)


class DamageCheck:
    """One quick check in its own thread, if `note` says that one is pending.

    `state` is `pending`, `ok` or a description of the damage. The note is removed if the file is intact, and holds the
    problem otherwise; it stays if Hob ends first, so that the next start checks again.
    """

    def __init__(self, connect: Callable[[], apsw.Connection], note: Path) -> None:
        self._connect = connect
        self._note = note
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._stopped = False
        self._thread: threading.Thread | None = None
        self.state = OK

    @property
    def damage(self) -> str | None:
        """The first damage found, or None; after damage nothing is written."""
        return None if self.state in {PENDING, OK} else self.state

    def found(self, problem: str) -> StoreDamaged:
        """Record damage found by the check or during operation, and return the error to raise. Only the first is
        stored. Thread-safe.
        """
        with self._lock:
            if self.damage is None:
                self.state = translatable(
                    "The database is damaged ({problem}). Nothing more is written; stop Hob. {hint}",
                    problem=problem,
                    hint=backup_hint(self._note.parent, damaged=True),
                )
                _log.critical("%s", self.state)
                try:
                    self._note.write_text(problem, "utf-8")
                except OSError as error:
                    _log.warning("the next start is not told of the damage: %s", error)
            return StoreDamaged(self.state)

    def start(self) -> None:
        """Start, if a check is pending."""
        if self._note.exists():
            self.state = PENDING
            self._thread = threading.Thread(target=self._run, name="hob-store-check", daemon=True)
            self._thread.start()

    async def stop(self) -> None:
        """Stop the check, finished or not."""
        with self._lock:
            self._stopped = True
            if self._connection is not None:
                self._connection.interrupt()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        try:
            problem = self._quick_check()
        except apsw.InterruptError:
            return
        except (apsw.CorruptError, apsw.NotADBError) as error:
            problem = str(error)
        except apsw.Error as error:  # a disk error says nothing about the file; the next start checks again
            _log.warning("the database could not be checked: %s", error)
            return
        if problem is None:
            with self._lock:
                if self.damage is None:  # no damage was found by other work meanwhile
                    self._note.unlink(missing_ok=True)
                    self.state = OK
        else:
            self.found(problem)

    def _quick_check(self) -> str | None:
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
