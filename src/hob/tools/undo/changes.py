"""What turns change in files: noted before it is done, so that it can be undone whenever the process died."""

from collections.abc import Collection
from typing import Protocol

from hob.core.ids import TurnId
from hob.core.undo import FileChange


class FileChangesPort(Protocol):
    """Keeps changes, in the order in which they were made."""

    async def add(self, changes: Collection[FileChange]) -> None:
        """Keep them, all or none; they are on disk when this returns. Raises StoreError."""
        ...

    async def of(self, turn: TurnId) -> tuple[FileChange, ...]:
        """What this turn changed."""
        ...

    async def recent(self, limit: int) -> tuple[TurnId, ...]:
        """The turns that changed anything, newest first."""
        ...


class ChangesInMemory:
    """Implements `FileChangesPort` for as long as the process lives."""

    def __init__(self) -> None:
        self._changes: list[FileChange] = []

    async def add(self, changes: Collection[FileChange]) -> None:
        self._changes += changes

    async def of(self, turn: TurnId) -> tuple[FileChange, ...]:
        return tuple(change for change in self._changes if change.turn == turn)

    async def recent(self, limit: int) -> tuple[TurnId, ...]:
        return tuple(dict.fromkeys(change.turn for change in reversed(self._changes)))[:limit]
