"""What turns change in files: noted before it is done, so that it can be undone whenever the process died."""

from collections.abc import Collection
from typing import Protocol

from hob.core.ids import TurnId
from hob.core.undo import FileChange


class FileChangesPort(Protocol):
    """Keeps changes, in the order in which they were made."""

    async def add(self, changes: Collection[FileChange]) -> None:
        """Keep them, all or none; they are on disk when this returns. Raises StoreError."""

    async def of(self, turn: TurnId) -> tuple[FileChange, ...]:
        """What this turn changed."""

    async def recent(self, limit: int) -> tuple[TurnId, ...]:
        """The turns that changed anything, newest first."""
