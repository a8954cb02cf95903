"""The browser over this home: nothing is loaded or started before a call of its tool."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from hob.app.browser.port import BrowserControl
from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.bus.waiting import one_failure_as_itself
from hob.config.loading import Config
from hob.core.lazy import Lazy
from hob.guard.screening.masking.masked_ports import MaskedBlobs
from hob.tools.browser.browser_tool import BrowserTool
from hob.tools.browser.browsers import Browsers
from hob.tools.browser.finding import is_library_there
from hob.tools.browser.settings import BrowserSettings

FOLDER = "browser"


@Lazy
def _roots() -> Any:
    from hob.app.tools.runtime import file_roots

    return file_roots


@asynccontextmanager
async def open_browser(kernel: Kernel) -> AsyncIterator[Contribution]:
    """One browser per conversation, offered where the extra is installed; all are closed with Hob."""
    config, now = kernel.config, kernel.config
    with one_failure_as_itself():
        async with asyncio.TaskGroup() as tasks:
            settings, folder = config[BrowserSettings], config.home / FOLDER
            browsers = Browsers(folder, settings, kernel.environ, kernel.processes, tasks)

            def become(new: Config) -> None:
                nonlocal now
                now, browsers.settings = new, new[BrowserSettings]

            blobs = MaskedBlobs(kernel.store.blobs, kernel.known)
            tool = BrowserTool(browsers, lambda: _roots()(now), blobs)
            try:
                yield Contribution(
                    provides={BrowserControl: browsers},
                    toolsets=(tool.toolset,) if is_library_there() else (),
                    status=browsers.view,
                    on_settings=become,
                )
            finally:
                await browsers.close()
