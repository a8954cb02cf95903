"""The port of the browsers for `/browser`, their owner's command."""

from typing import Protocol

from hob.core.ids import SessionKey


class BrowserControl(Protocol):
    """The browsers of conversations."""

    def state_of(self, session: SessionKey) -> str:
        """Closed, open or taken, in words."""

    async def take(self, session: SessionKey) -> None:
        """Show it to its owner, who acts in it alone. Raises NotFound, Unready."""

    async def give_back(self, session: SessionKey) -> None:
        """Let Hob act in it again. Raises NotFound, Unready."""

    async def stop(self, session: SessionKey) -> bool:
        """Close it; False where none is open."""

    async def picture(self, html: str, *, scripts: bool) -> bytes | None:
        """How this page looks (JPEG); None where the extra is not installed. Raises ToolFailed."""
