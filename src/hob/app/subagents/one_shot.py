"""Sub-agents without a daemon: they outlive the command that starts them, so their tool asks for the daemon."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.core.argument_roles import ArgumentRole
from hob.core.errors import ToolFailed
from hob.core.lazy import Lazy
from hob.core.tools import Restart, Tier
from hob.core.trust.labels import HOB_LABEL
from hob.tools.registry.declaration import Tools, tool


@Lazy
def _opening() -> Callable[[Kernel], AbstractAsyncContextManager[Contribution]]:
    from hob.app.subagents.opening import open_subagents

    return open_subagents


@asynccontextmanager
async def open_where_they_run(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Open the sub-agents in a daemon; in a one-shot process, open a tool that explains what to do."""
    if kernel.one_shot:
        yield Contribution(toolsets=(Tools(spawn),))
        return
    async with _opening()(kernel) as contribution:
        yield contribution


@tool(
    tier=Tier.READ,
    effects=frozenset(),
    restart=Restart.AGAIN,
    label=HOB_LABEL,
    roles=ArgumentRole(plain=("task",)),
)
async def spawn(task: str) -> str:
    """Begin a sub-agent: only where the daemon runs. Tell the user to start it: hob serve, or hob service install."""
    raise ToolFailed(
        "sub-agents run in the daemon only, and it does not run. Do the task yourself, and tell the user that "
        "`hob serve` (or `hob service install`) starts it."
    )
