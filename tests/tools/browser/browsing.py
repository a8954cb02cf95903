"""A browser over a simulated internet: names resolve to the test's server, or to forbidden addresses."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hob.core.errors import ToolFailed, ToolRefused
from hob.core.tools import ToolResult
from hob.guard.policy.places import SECRET_NAME
from hob.tools.browser.browser_tool import BrowserTool
from hob.tools.browser.browsers import IDLE_SECONDS, Browsers
from hob.tools.browser.settings import BrowserSettings
from hob.tools.filesystem.paths import Root, Roots
from hob.tools.sandbox.network.proxy import Internet
from tests.tools.browser.program import program
from tests.tools.calling import a_call, context
from tests.tools.keeping import FolderBlobs
from tests.tools.web.server import WebServer, reply, web_server

ONE_BROWSER = pytest.mark.asyncio(loop_scope="module")
"""Marks tests that share their module's browser."""

_INSIDE = {
    "127.0.0.1": "127.0.0.1",
    "::1": "::1",
    "inside.example": "10.0.0.7",
    "metadata.example": "169.254.169.254",
    "localhost": "127.0.0.1",
}


async def _resolve(host: str, _port: int) -> list[str]:
    return [_INSIDE.get(host, "127.0.0.1" if host.endswith("site.example") else "192.168.1.9")]


def _is_public(address: str) -> bool:
    return address == "127.0.0.1"


def internet(local: bool = False) -> Internet:
    """Resolve `*.site.example` to public addresses and nothing else."""
    return Internet(_resolve, (lambda _: False) if local else _is_public)


class Records:
    """Implements `ProcessRecords` and records the running browsers."""

    def __init__(self) -> None:
        self.running: set[int] = set()

    def add(self, pid: int, folder: Path | None = None) -> None:
        self.running.add(pid)

    def remove(self, pid: int) -> None:
        self.running.discard(pid)


@dataclass
class Desk:
    """The tool over a web server, and its results."""

    folder: Path
    web: WebServer
    browsers: Browsers
    tool: BrowserTool
    records: Records
    page: str = ""
    images: list[ToolResult] = field(default_factory=list)

    @property
    def work(self) -> Path:
        return self.folder / "work"

    async def call(self, session: str = "here", **arguments: Any) -> ToolResult:
        return await self.tool.toolset.call(a_call("browser", **arguments), context(session))

    async def say(self, session: str = "here", **arguments: Any) -> str:
        """Return the tool's text, errors included."""
        try:
            return (await self.call(session, **arguments)).text
        except (ToolFailed, ToolRefused) as error:
            return f"{type(error).__name__}: {error}"

    async def show(self, html: str, session: str = "here", host: str = "site.example") -> str:
        """Open a page with this content."""
        self.web.pages["/"] = reply(html.encode())
        self.page = self.web.url("/", host)
        return await self.say(session, action="navigate", url=self.page)

    async def act(self, kind: str, **arguments: Any) -> str:
        return await self.say(action="act", kind=kind, page=self.page, **arguments)

    def ref(self, snapshot: str, words: str) -> str:
        """Return the reference of the element that a snapshot describes with these words."""
        line = next(line for line in snapshot.splitlines() if words in line and "[ref=" in line)
        return line.partition("[ref=")[2].partition("]")[0]


@asynccontextmanager
async def open_desk(
    folder: Path,
    *flags: str,
    environ: Mapping[str, str] | None = None,
    idle: float = IDLE_SECONDS,
    web: WebServer | None = None,
    local: bool = False,
    hosts: tuple[str, ...] = (),
) -> AsyncIterator[Desk]:
    """Open a desk whose browsers end with the block."""
    (folder / "work").mkdir()
    records = Records()
    settings = BrowserSettings(program=program(folder, *flags), hosts=list(hosts))
    roots = Roots([Root("work", folder / "work")], base=folder / "work", home=folder, secret=SECRET_NAME)
    async with web_server(web or WebServer()) as serving, asyncio.TaskGroup() as tasks:
        browsers = Browsers(
            folder / "browser", settings, {**os.environ, **(environ or {})}, records, tasks,
            idle=idle, internet=internet(local),
        )  # fmt: skip
        tool = BrowserTool(browsers, lambda: roots, FolderBlobs(folder / "blobs"))
        try:
            yield Desk(folder, serving, browsers, tool, records)
        finally:
            await browsers.close()
