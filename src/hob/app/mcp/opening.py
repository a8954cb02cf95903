"""Opening the MCP servers of a home. A server is contacted only when one of its tools is called."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from hob.app.contribution import Contribution, Job
from hob.app.kernel import Kernel
from hob.app.mcp.port import McpTools
from hob.app.mcp.sampling import ServerSampling
from hob.bus.waiting import unwrap_single_error
from hob.core.errors import StoreError
from hob.core.tools import ToolCall
from hob.core.translation.language import translatable, translated
from hob.core.turns import Turn
from hob.guard.audit.entries import HOB, of_action
from hob.guard.screening.masking.masked_ports import MaskedBlobs
from hob.store.plugin_records import PluginRecord
from hob.tools.mcp.server_environment import ServerEnvironment
from hob.tools.mcp.servers import McpServers
from hob.tools.mcp.settings import McpSettings
from hob.tools.sandbox.network.hosts import HostDecision
from hob.tools.sandbox.settings import SandboxSettings

log = logging.getLogger(__name__)


@asynccontextmanager
async def open_mcp(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Open the servers as tool groups; the owner is notified once of tools that changed since they were accepted."""
    told, config = set[tuple[str, ...]](), kernel.config

    async def changed(name: str, tools: Sequence[str]) -> None:
        if (name, *tools) not in told:
            told.add((name, *tools))
            said = translatable(
                "Tools of the MCP server {name} are no longer what you accepted: {tools}. Hob does not use them until "
                "you look at them and accept them: `hob mcp accept {name}`.",
                name=name,
                tools=", ".join(tools),
            )
            await kernel.notifier.notify(translated(said, kernel.language), "mcp_changed")

    def decided(server: str, decision: HostDecision) -> None:
        if decision.credential:
            tasks.create_task(_note_use(kernel.store.audit.add, server, decision))

    sampling = ServerSampling(kernel)
    with unwrap_single_error():
        async with asyncio.TaskGroup() as tasks:
            around = ServerEnvironment(
                config.home, config[SandboxSettings], kernel.environ, kernel.clock, kernel.processes, decided=decided,
                sample=sampling.ask,
            )  # fmt: skip
            servers = McpServers(
                around, MaskedBlobs(kernel.store.blobs, kernel.known), changed, tasks, StoredTasks(kernel),
                kernel.store.canvas.present,
            )  # fmt: skip
            servers.reconfigure(config[McpSettings])
            try:
                yield Contribution(
                    provides={McpTools: servers},
                    tool_groups=servers,
                    jobs=(Job("mcp_sampling", sampling.run),),
                    status=servers.view,
                    on_settings=lambda config: servers.reconfigure(config[McpSettings]),
                )
            finally:
                servers.close()


async def _note_use(add: Callable[..., Awaitable[object]], server: str, decision: HostDecision) -> None:
    """Add a server's use of a credential, allowed or refused, to the audit log."""
    outcome, target = "used" if decision.allowed else "refused", f"{decision.credential} {decision.host} by {server}"
    try:
        await add(of_action("credential", outcome, HOB, target=target))
    except StoreError as error:
        log.warning("the use of a credential is not noted: %s %s: %s", target, outcome, error)


_KEPT_SECONDS = 7 * 86_400.0


class StoredTasks:
    """Implements the toolset's `BegunTasks` with records that belong to turns."""

    def __init__(self, kernel: Kernel) -> None:
        self._records = kernel.records
        self._clock = kernel.clock

    async def find(self, turn: Turn, call: ToolCall) -> str:
        """Return the task of a call, or an empty string. Raises StoreErrors."""
        found = await self._records.find(_key(turn, call))
        return found.value if found is not None else ""

    async def keep(self, turn: Turn, call: ToolCall, task: str) -> None:
        """Store the task of a call durably. Raises StoreErrors."""
        expires = self._clock.now().timestamp() + _KEPT_SECONDS
        await self._records.put(PluginRecord(_key(turn, call), task, turn.id, turn.session, expires=expires))


def _key(turn: Turn, call: ToolCall) -> str:
    return f"task/{turn.id}/{call.id}"
