"""A disk that fails and forgets on demand, as a layer under SQLite.

Writes go through to the file, with an undo record until its next sync. When the power goes, everything fails; when it
returns, each file is as at its last sync, plus any part of what was written since: nothing, or a random choice with
torn pages, as on real disks.
"""

import threading
from dataclasses import field
from itertools import count
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, BinaryIO

import apsw

from hob.core.values import dataclass

_SECTOR = 512
_names = count(1)


@dataclass(frozen=True, slots=True)
class _Change:
    """One write, or truncation where `data` is None, that no sync has confirmed; and how to undo it."""

    offset: int
    data: bytes | None
    before: bytes
    size_before: int


@dataclass(slots=True)
class _Platter:
    """State shared by the disk and its open files. `unsynced` and `left` are used with the lock held."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    unsynced: dict[str, list[_Change]] = field(default_factory=dict)
    databases: set[str] = field(default_factory=set)
    fault: str | None = None
    left: int | None = None
    powered: bool = True
    operations: int = 0

    def begin(self, operation: str) -> None:
        """Count one more write, truncation or sync; raise if told to."""
        if self.left is not None:
            self.powered = self.powered and self.left > 0
            self.left -= 1
        self.need_power(apsw.SQLITE_IOERR_WRITE)
        self.operations += 1
        if self.fault == "full" and operation == "write":
            raise apsw.FullError("no space left")
        if self.fault == "io" and operation == "write":
            raise _io_error(apsw.SQLITE_IOERR_WRITE, "bad sector")
        if self.fault == "sync" and operation == "sync":
            raise _io_error(apsw.SQLITE_IOERR_FSYNC, "bad sector")

    def need_power(self, code: int) -> None:
        if not self.powered:
            raise _io_error(code, "no power")


def _io_error(code: int, words: str) -> apsw.IOError:
    error = apsw.IOError(words)
    error.__dict__["extendedresult"] = code  # APSW reads it back as SQLite's result
    return error


class FaultyDisk(apsw.VFS):
    """Pass its `name` as `vfs` to `open_store`. Close it when all connections are closed."""

    def __init__(self) -> None:
        self.name = f"faulty-{next(_names)}"
        self._platter = _Platter()
        super().__init__(self.name, "")

    def close(self) -> None:
        """Unregister it from SQLite."""
        self.unregister()

    @property
    def powered(self) -> bool:
        """Whether the power is on."""
        return self._platter.powered

    @property
    def operations(self) -> int:
        """Number of writes, truncations and syncs so far."""
        return self._platter.operations

    def fail(self, fault: str | None) -> None:
        """Make every write fail with `full` or `io`, or every sync with `sync`; None heals the disk."""
        self._platter.fault = fault

    def cut_power_after(self, operations: int) -> None:
        """Cut the power after this many more writes, truncations and syncs."""
        with self._platter.lock:
            self._platter.left = operations

    def cut_power(self) -> None:
        """Make everything fail from now on."""
        self._platter.powered = False

    def restore_power(self, choice: Random | None = None) -> None:
        """Give every file the content it kept: what was synced, and what `choice` picks from the rest.

        All connections must have been closed.
        """
        platter = self._platter
        for name, changes in platter.unsynced.items():
            if Path(name).exists():
                _forget(Path(name), changes, choice)
        for name in platter.databases:
            Path(name + "-shm").unlink(missing_ok=True)
        self._platter = _Platter(operations=platter.operations)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        """See `apsw.VFS.xOpen`."""
        self._platter.need_power(apsw.SQLITE_CANTOPEN)
        return _File(self._platter, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's name
        """See `apsw.VFS.xDelete`."""
        self._platter.need_power(apsw.SQLITE_IOERR_DELETE)
        with self._platter.lock:
            self._platter.unsynced.pop(filename, None)
            super().xDelete(filename, syncdir)

    def excepthook(
        self, etype: type[BaseException] | None, evalue: BaseException | None, etraceback: TracebackType | None
    ) -> bool:
        """Ignore our own intended failures; SQLite has been told."""
        return False


class _File(apsw.VFSFile):
    def __init__(self, platter: _Platter, name: Any, flags: list[int]) -> None:
        self._platter = platter
        self._name = name if isinstance(name, str) else "" if name is None else name.filename()
        super().__init__("", name, flags)
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            platter.databases.add(self._name)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's name
        self._platter.need_power(apsw.SQLITE_IOERR_READ)
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        with self._platter.lock:
            self._platter.begin("write")
            size = super().xFileSize()
            covered = max(0, min(len(data), size - offset))
            before = super().xRead(covered, offset) if covered else b""
            self._remember(_Change(offset, bytes(data), before, size))
            super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        with self._platter.lock:
            self._platter.begin("truncate")
            size = super().xFileSize()
            before = super().xRead(size - newsize, newsize) if size > newsize else b""
            self._remember(_Change(newsize, None, before, size))
            super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        # No real sync: only this disk's own power cuts matter.
        with self._platter.lock:
            self._platter.begin("sync")
            self._platter.unsynced.pop(self._name, None)

    def excepthook(
        self, etype: type[BaseException] | None, evalue: BaseException | None, etraceback: TracebackType | None
    ) -> bool:
        return False

    def _remember(self, change: _Change) -> None:
        if self._name:  # a temporary file has none, and is not needed after a power cut
            self._platter.unsynced.setdefault(self._name, []).append(change)


def _forget(path: Path, changes: list[_Change], choice: Random | None) -> None:
    with path.open("r+b") as file:
        for change in reversed(changes):
            file.seek(change.offset)
            file.write(change.before)
            file.truncate(change.size_before)
        for change in changes if choice is not None else ():
            _maybe_apply(file, change, choice or Random())


def _maybe_apply(file: BinaryIO, change: _Change, choice: Random) -> None:
    fate = choice.random()
    if fate < 0.5:
        return
    if change.data is None:
        file.truncate(change.offset)
        return
    data = change.data
    if fate > 0.9:  # torn: only some of its sectors arrived
        data = data[: _SECTOR * choice.randrange(1 + len(data) // _SECTOR)]
    file.seek(change.offset)
    file.write(data)
