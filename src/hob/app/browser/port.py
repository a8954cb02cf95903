"""The ports of the browsers: for the owner's `/browser` command, and for pictures of pages."""

from typing import Protocol

from hob.core.ids import SessionKey


class BrowserControl(Protocol):
    """The browsers of conversations."""

    def state_of(self, session: SessionKey) -> str:
        """Describe the state: closed, open or taken over."""

    async def take(self, session: SessionKey) -> None:
        """Show the browser to its owner and stop Hob from acting in it. Raises NotFound, NotReady."""

    async def give_back(self, session: SessionKey) -> None:
        """Let Hob act in it again. Raises NotFound, NotReady."""

    async def stop(self, session: SessionKey) -> bool:
        """Close the browser. Returns False if none is open."""


class PagePictures(Protocol):
    """Renders pages."""

    async def picture(self, html: str, *, scripts: bool) -> bytes | None:
        """Render a page as JPEG; None if the extra is not installed. Raises ToolFailed."""
