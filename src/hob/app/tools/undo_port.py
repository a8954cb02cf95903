"""What the daily letting go needs of the tools, as a port: who asks for it loads none of them."""

from typing import Protocol


class UndoneFiles(Protocol):
    """How files were before turns changed them, kept so that it can be undone."""

    async def prune(self) -> None:
        """Forget what no turn can go back to any more."""
