"""The port through which retention deletes old file snapshots without loading the tools."""

from typing import Protocol


class UndoneFiles(Protocol):
    """Snapshots of files before turns changed them."""

    async def prune(self) -> None:
        """Delete the snapshots that undo no longer needs."""
