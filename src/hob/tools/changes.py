"""What turns change in files: noted before it is done, so that it can be undone whenever the process died."""

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from hob.core.ids import BlobId, CallId, TurnId

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Version:
    """A file as it stood: the SHA-256 of its bytes and its permission bits. `blob` keeps the bytes of old ones."""

    hash: str
    mode: int
    blob: BlobId | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One file changed by one call, or about to be; None is no file. `made` are folders that were made for it."""

    id: str
    turn: TurnId
    call: CallId
    path: str
    before: Version | None
    after: Version | None
    made: tuple[str, ...] = ()


class Changes(Protocol):
    """Keeps changes, in the order in which they were made."""

    async def add(self, change: Change) -> None:
        """Keep it; it is on disk when this returns. Raises StoreError."""
        ...

    async def of(self, turn: TurnId) -> tuple[Change, ...]:
        """What this turn changed."""
        ...

    async def recent(self, limit: int) -> tuple[TurnId, ...]:
        """The turns that changed anything, newest first."""
        ...


class ChangesInMemory:
    """Implements `Changes` for as long as the process lives."""

    def __init__(self) -> None:
        self._changes: list[Change] = []

    async def add(self, change: Change) -> None:
        self._changes.append(change)

    async def of(self, turn: TurnId) -> tuple[Change, ...]:
        return tuple(change for change in self._changes if change.turn == turn)

    async def recent(self, limit: int) -> tuple[TurnId, ...]:
        return tuple(dict.fromkeys(change.turn for change in reversed(self._changes)))[:limit]


class FileChanges:
    """Implements `Changes` over one file: a line of JSON each, only ever appended to, each on disk before it counts.

    A line that a crash cut short was never promised to anybody: it is passed over, and ended before the next one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    async def add(self, change: Change) -> None:
        line = json.dumps({"v": _FORMAT, **asdict(change)}, separators=(",", ":")).encode() + b"\n"
        await asyncio.to_thread(self._append, line)

    async def of(self, turn: TurnId) -> tuple[Change, ...]:
        return tuple(change for change in await asyncio.to_thread(self._load) if change.turn == turn)

    async def recent(self, limit: int) -> tuple[TurnId, ...]:
        changes = await asyncio.to_thread(self._load)
        return tuple(dict.fromkeys(change.turn for change in reversed(changes)))[:limit]

    def _append(self, line: bytes) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        with self._lock:
            handle = os.open(self._path, flags, 0o600)
            try:
                size = os.fstat(handle).st_size
                if size and os.pread(handle, 1, size - 1) != b"\n":
                    line = b"\n" + line
                while line:
                    line = line[os.write(handle, line) :]
                os.fsync(handle)
            finally:
                os.close(handle)
            if not size:
                sync_folder(self._path.parent)

    def _load(self) -> list[Change]:
        try:
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        return [change for line in lines for change in _read(line)]


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(line: bytes) -> Iterator[Change]:
    try:
        found: dict[str, Any] = json.loads(line)
        if found.pop("v") == _FORMAT:
            before, after = (Version(**part) if part else None for part in (found["before"], found["after"]))
            yield Change(**{**found, "before": before, "after": after, "made": tuple(found["made"])})
    except (ValueError, KeyError, TypeError, AttributeError):
        return
