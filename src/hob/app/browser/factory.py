"""Making the browser tool. Slow to import: loaded on first use."""

import logging
from asyncio import TaskGroup
from collections.abc import Callable
from pathlib import Path

from hob.app.kernel import Kernel
from hob.app.tools.runtime import file_roots
from hob.config.loading import Config
from hob.core.errors import StoreError
from hob.core.ids import SessionKey
from hob.guard.audit.entries import HOB, of_action
from hob.guard.screening.masking.masked_ports import MaskedBlobs
from hob.store.audit.audit import AuditLog
from hob.tools.browser.browser_tool import BrowserTool
from hob.tools.browser.browsers import Browsers
from hob.tools.browser.settings import BrowserSettings
from hob.tools.sandbox.network.hosts import HostDecision

log = logging.getLogger(__name__)


def make_browser_tool(kernel: Kernel, config: Callable[[], Config], folder: Path, tasks: TaskGroup) -> BrowserTool:
    """Make the tool. Profiles are kept in this folder; `config` returns the current settings."""

    def decided(session: SessionKey, decision: HostDecision) -> None:
        tasks.create_task(_note(kernel.store.audit, session, decision))

    settings = config()[BrowserSettings]
    browsers = Browsers(folder, settings, kernel.environ, kernel.processes, tasks, decided=decided)
    return BrowserTool(browsers, lambda: file_roots(config()), MaskedBlobs(kernel.store.blobs, kernel.known))


async def _note(audit: AuditLog, session: SessionKey, decision: HostDecision) -> None:
    outcome, target = "reached" if decision.allowed else "refused", f"{decision.host}:{decision.port} by the browser"
    try:
        await audit.add(of_action("network", outcome, HOB, target=f"{target} of {session}"))
    except StoreError as error:
        log.warning("that the browser went to a host is not noted: %s %s: %s", target, outcome, error)
