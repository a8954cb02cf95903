"""The port by which retention lets go of old file changes without loading the tools."""

from typing import Protocol


class UndoneFiles(Protocol):
    """How files were before turns changed them, kept so that it can be undone."""

    async def prune(self) -> None:
        """Forget what no turn can go back to any more."""
