"""The browser's tool over a kernel. Heavy: loaded when needed."""

from asyncio import TaskGroup
from collections.abc import Callable
from pathlib import Path

from hob.app.kernel import Kernel
from hob.app.tools.runtime import file_roots
from hob.config.loading import Config
from hob.guard.screening.masking.masked_ports import MaskedBlobs
from hob.tools.browser.browser_tool import BrowserTool
from hob.tools.browser.browsers import Browsers
from hob.tools.browser.settings import BrowserSettings


def make_browser_tool(kernel: Kernel, config: Callable[[], Config], folder: Path, tasks: TaskGroup) -> BrowserTool:
    """The tool, with its profiles in this folder; `config` gives the settings as they are now."""
    browsers = Browsers(folder, config()[BrowserSettings], kernel.environ, kernel.processes, tasks)
    return BrowserTool(browsers, lambda: file_roots(config()), MaskedBlobs(kernel.store.blobs, kernel.known))
