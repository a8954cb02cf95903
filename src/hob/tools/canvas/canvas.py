"""The tool `canvas`: pages shown in the dashboard, and answers from the browsers that show them."""

import asyncio
import os
import re
from dataclasses import replace
from html import unescape
from typing import Literal, Protocol

from hob.core.content.canvas import CanvasAnswer, CanvasPage
from hob.core.content.images import Image
from hob.core.errors import InvalidCall, NotFound, ToolFailed
from hob.core.ports.tools import Blobs, CallContext
from hob.core.trust.labels import HOB_LABEL, Label, Origin, Trust
from hob.tools.canvas.specs import CANVAS
from hob.tools.filesystem.paths import Roots
from hob.tools.registry.declaration import ToolOutput, Tools, implements

MAX_HTML = 500_000
_SECONDS = 10.0
_SAID = Label(Origin.TOOL, Trust.UNTRUSTED)
_TITLE = re.compile(r"<title>([^<]{1,200})</title>", re.IGNORECASE)


class CanvasPages(Protocol):
    """Storage of pages."""

    async def present(self, page: CanvasPage, html: str) -> CanvasPage:
        """Store a page as its newest version."""

    async def find(self, id: str, version: int = 0) -> CanvasPage:
        """Return this version, or the newest. Raises NotFound."""

    async def html(self, page: CanvasPage) -> str:
        """Return the page's HTML. Raises NotFound."""

    async def hide(self, page: CanvasPage) -> None:
        """Stop showing the page."""


class CanvasBrowsers(Protocol):
    """Browsers that show pages."""

    def count(self, page: CanvasPage) -> int:
        """Return the number of browsers that show this page."""

    async def ask(self, page: CanvasPage, script: str) -> CanvasAnswer:
        """Run a script in the page, or take a snapshot, in the next browser that shows this version."""


class CanvasPictures(Protocol):
    """Renders pages."""

    async def picture(self, html: str, *, scripts: bool) -> bytes | None:
        """Render a page as JPEG; None if no renderer is available. Raises ToolFailed."""


class Canvas:
    """The tool."""

    def __init__(
        self,
        pages: CanvasPages,
        browsers: CanvasBrowsers,
        roots: Roots,
        blobs: Blobs,
        pictures: CanvasPictures | None = None,
        seconds: float = _SECONDS,
    ) -> None:
        """`seconds` is how long a page may take to answer. Without `pictures`, a snapshot is text only."""
        self._blobs = blobs
        self._pictures = pictures
        self._pages = pages
        self._browsers = browsers
        self._roots = roots
        self._seconds = seconds
        self.toolset = Tools(self.canvas)

    @implements(CANVAS, HOB_LABEL)
    async def canvas(
        self,
        action: Literal["present", "hide", "eval", "snapshot"],
        context: CallContext,
        page: str = "main",
        html: str = "",
        file: str = "",
        script: str = "",
        version: int = 0,
    ) -> ToolOutput:
        wanted = CanvasPage(context.turn.session, page, context.turn.id, scripts=context.trust is Trust.TRUSTED)
        if action == "present" and (html or file):
            wanted, html = await self._given(wanted, html, file)
            return self._shown(await self._pages.present(wanted, html))
        try:
            kept = await self._pages.find(wanted.id, version)
        except NotFound as error:
            raise InvalidCall(f"{error}; present {page} with html or a file") from error
        if action == "present":
            return self._shown(await self._again(wanted, kept))
        if action == "hide":
            await self._pages.hide(kept)
            return ToolOutput(f"{page} is hidden; present shows it again")
        if action == "eval" and not script.strip():
            raise InvalidCall("eval needs a script")
        if action == "eval":
            return await self._ask(kept, script)
        return await self._look(kept)

    async def _given(self, page: CanvasPage, html: str, file: str) -> tuple[CanvasPage, str]:
        if file:
            html, page = await asyncio.to_thread(self._read, file), replace(page, scripts=False)
        found = _TITLE.search(html)
        return replace(page, title=" ".join(unescape(found[1]).split()) if found else ""), html

    def _read(self, name: str) -> str:
        descriptor, found, _ = self._roots.open_file(name)
        with os.fdopen(descriptor, "rb") as file:
            if found.st_size > MAX_HTML:
                raise ToolFailed(f"{name} is too large: a page has at most {MAX_HTML:,} characters")
            return file.read(MAX_HTML).decode("utf-8", "replace")

    async def _again(self, wanted: CanvasPage, kept: CanvasPage) -> CanvasPage:
        page = replace(wanted, title=kept.title, scripts=kept.scripts and wanted.scripts)
        return await self._pages.present(page, await self._pages.html(kept))

    def _shown(self, page: CanvasPage) -> ToolOutput:
        count = self._browsers.count(page)
        seen = (
            f"{count} browser(s) show it" if count else "no browser shows it yet: the user opens the dashboard's Canvas"
        )
        off = "" if page.scripts else "; its scripts are off until the user lets them run there"
        return ToolOutput(
            f"{page.name} is presented, version {page.version}, /canvas/{page.id} in the dashboard; {seen}{off}"
        )

    async def _look(self, page: CanvasPage) -> ToolOutput:
        """Return what a browser reports about the page, with a rendering of the page's initial state."""
        data, problem = None, ""
        if self._pictures is not None and not page.hidden:
            try:
                data = await self._pictures.picture(await self._pages.html(page), scripts=page.scripts)
            except ToolFailed as error:
                problem = f"\n(no picture: {error})"
        images: tuple[Image, ...] = ()
        if data is not None:
            images = (Image(await self._blobs.put(data, "image/jpeg"), "image/jpeg"),)
            if not self._browsers.count(page):
                return ToolOutput("The page as it is when it is opened; no browser shows it now", _SAID, images=images)
        try:
            told = await self._ask(page, "")
        except ToolFailed as error:
            raise ToolFailed(f"{error}{problem}") from error
        return replace(told, text=told.text + problem, images=images)

    async def _ask(self, page: CanvasPage, script: str) -> ToolOutput:
        if page.hidden:
            raise InvalidCall(f"{page.name} is hidden; present shows it again")
        if script and not page.scripts:
            raise InvalidCall(f"scripts are off in {page.name}; the user can let them run in the dashboard's Canvas")
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._browsers.ask(page, script)
        except TimeoutError as error:
            if not self._browsers.count(page):
                raise ToolFailed(
                    f"no browser shows {page.name}: ask the user to open Canvas in the dashboard"
                ) from error
            raise ToolFailed(f"the page did not answer within {self._seconds:g} s") from error
        return ToolOutput(answer.text or "(nothing)", _SAID, answer.failed)
