"""The port for file changes of turns, recorded before they are made so that they can be undone after a crash."""

from collections.abc import Collection
from typing import Protocol

from hob.core.ids import TurnId
from hob.core.undo import FileChange


class FileChangesPort(Protocol):
    """Stores changes in the order in which they were made."""

    async def add(self, changes: Collection[FileChange]) -> None:
        """Store all of them or none; durable on return. Raises StoreError."""

    async def of(self, turn: TurnId) -> tuple[FileChange, ...]:
        """Return the changes of this turn."""

    async def recent(self, limit: int) -> tuple[TurnId, ...]:
        """Return the turns that changed something, newest first."""
