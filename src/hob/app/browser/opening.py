"""Opening the browser of a home. Nothing is loaded or started before its tool is first called."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from hob.app.browser.port import BrowserControl, PagePictures
from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.bus.waiting import unwrap_single_error
from hob.config.loading import Config
from hob.core.lazy import Lazy
from hob.core.ports.tools import CallContext
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.tools.browser.detection import is_library_there
from hob.tools.browser.settings import BrowserSettings
from hob.tools.browser.specs import BROWSER_TOOL

FOLDER = "browser"


@Lazy
def _making() -> Callable[..., Any]:
    from hob.app.browser.factory import make_browser_tool

    return make_browser_tool


class LazyBrowsers:
    """Implements `Toolset` and `PagePictures`; the implementation is loaded on first use."""

    def __init__(self, kernel: Kernel, tasks: asyncio.TaskGroup) -> None:
        self._config = kernel.config
        self._there = is_library_there()
        self._tool = Lazy(lambda: _making()(kernel, lambda: self._config, kernel.config.home / FOLDER, tasks))
        self.control: Lazy[BrowserControl] = Lazy(lambda: self._tool().browsers)

    def specs(self) -> tuple[ToolSpec, ...]:
        return (BROWSER_TOOL,) if self._there else ()

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        await asyncio.to_thread(_making)
        result: ToolResult = await self._tool().toolset.call(call, context)
        return result

    def reconfigure(self, config: Config) -> None:
        """Use these settings for browsers started from now on."""
        self._config = config
        if self._tool.loaded is not None:
            self._tool.loaded.browsers.settings = config[BrowserSettings]

    async def picture(self, html: str, *, scripts: bool) -> bytes | None:
        if not self._there:
            return None
        await asyncio.to_thread(_making)
        data: bytes = await self._tool().browsers.picture(html, scripts=scripts)
        return data

    def view(self) -> Mapping[str, Any]:
        """Return the number of open browsers for `hob status`."""
        return {} if self._tool.loaded is None else self._tool.loaded.browsers.view()

    async def close(self) -> None:
        """Close all browsers."""
        if self._tool.loaded is not None:
            await self._tool.loaded.browsers.close()


@asynccontextmanager
async def open_browser(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Open the browser feature, if the extra is installed: one browser per conversation, all closed with Hob."""
    with unwrap_single_error():
        async with asyncio.TaskGroup() as tasks:
            browsers = LazyBrowsers(kernel, tasks)
            try:
                yield Contribution(
                    provides={BrowserControl: browsers.control, PagePictures: browsers},
                    toolsets=(browsers,),
                    status=browsers.view,
                    on_settings=browsers.reconfigure,
                )
            finally:
                await browsers.close()
