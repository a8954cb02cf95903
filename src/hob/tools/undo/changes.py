"""What turns change in files: noted before it is done, so that it can be undone whenever the process died."""

import asyncio
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from hob.core.ids import BlobId, CallId, TurnId
from hob.tools.filesystem.line_file import LineFile

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Version:
    """A file as it stood: the SHA-256 of its bytes and its permission bits. `blob` keeps the bytes of old ones."""

    hash: str
    mode: int
    blob: BlobId | None = None


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file changed by one call, or about to be; None is no file. `made` are folders that were made for it.

    `at` is the wall time in nanoseconds, by which changes are put in order with those that commands made.
    """

    id: str
    turn: TurnId
    call: CallId
    path: str
    before: Version | None
    after: Version | None
    made: tuple[str, ...] = ()
    at: int = 0


class FileChangesPort(Protocol):
    """Keeps changes, in the order in which they were made."""

    async def add(self, change: FileChange) -> None:
        """Keep it; it is on disk when this returns. Raises StoreError."""
        ...

    async def of(self, turn: TurnId) -> tuple[FileChange, ...]:
        """What this turn changed."""
        ...

    async def recent(self, limit: int) -> tuple[TurnId, ...]:
        """The turns that changed anything, newest first."""
        ...

    async def turns(self) -> frozenset[TurnId]:
        """All of them."""
        ...


class ChangesInMemory:
    """Implements `FileChangesPort` for as long as the process lives."""

    def __init__(self) -> None:
        self._changes: list[FileChange] = []

    async def add(self, change: FileChange) -> None:
        self._changes.append(change)

    async def of(self, turn: TurnId) -> tuple[FileChange, ...]:
        return tuple(change for change in self._changes if change.turn == turn)

    async def recent(self, limit: int) -> tuple[TurnId, ...]:
        return tuple(dict.fromkeys(change.turn for change in reversed(self._changes)))[:limit]

    async def turns(self) -> frozenset[TurnId]:
        return frozenset(change.turn for change in self._changes)


class FileChanges:
    """Implements `FileChangesPort` over a file of lines."""

    def __init__(self, path: Path) -> None:
        self._lines = LineFile(path)

    async def add(self, change: FileChange) -> None:
        await asyncio.to_thread(self._lines.append, {"v": _FORMAT, **asdict(change)})

    async def of(self, turn: TurnId) -> tuple[FileChange, ...]:
        return tuple(change for change in await asyncio.to_thread(self._load) if change.turn == turn)

    async def recent(self, limit: int) -> tuple[TurnId, ...]:
        changes = await asyncio.to_thread(self._load)
        return tuple(dict.fromkeys(change.turn for change in reversed(changes)))[:limit]

    async def turns(self) -> frozenset[TurnId]:
        return frozenset(change.turn for change in await asyncio.to_thread(self._load))

    async def blobs_of(self, turns: Collection[TurnId]) -> frozenset[BlobId]:
        """Where the bytes are kept that these turns alone replaced."""
        theirs, others = set[BlobId](), set[BlobId]()
        for change in await asyncio.to_thread(self._load):
            if change.before is not None and change.before.blob is not None:
                (theirs if change.turn in turns else others).add(change.before.blob)
        return frozenset(theirs - others)

    async def forget(self, turns: Collection[TurnId]) -> None:
        """Forget what these turns changed; it cannot be undone any more. Raises OSError."""
        await asyncio.to_thread(self._lines.keep, lambda row: row.get("turn") not in turns)

    def _load(self) -> list[FileChange]:
        return [change for line in self._lines.load() for change in _read(line)]


def _read(found: dict[str, Any]) -> Iterator[FileChange]:
    try:
        if found.pop("v") == _FORMAT:
            before, after = (Version(**part) if part else None for part in (found["before"], found["after"]))
            yield FileChange(**{**found, "before": before, "after": after, "made": tuple(found["made"])})
    except (KeyError, TypeError):
        return
