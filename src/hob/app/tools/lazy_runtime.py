"""The tools as turns see them. The implementation is loaded by the first call, which few one-shot runs make."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hob.agent.prompt.read_back import ReadBackTool
from hob.agent.remarks import render
from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.app.tools.undo_port import UndoneFiles
from hob.bus.canvas import CanvasViewers
from hob.bus.waiting import unwrap_single_error
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.ids import TurnId
from hob.core.lazy import Lazy
from hob.core.ports.notices import Notices
from hob.core.ports.processes import ProcessRecords
from hob.core.ports.tools import CallContext
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.core.translation.remarks import Remark
from hob.gateway.policy import PolicyExplainer
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.store.store import Store
from hob.tools.memory.ports import KnownFacts, MemoryPorts, MemorySearch
from hob.tools.registry.builtin_groups import BUILTIN_GROUPS

if TYPE_CHECKING:  # the type that `_maker` returns, for annotations only
    from hob.app.tools.runtime import ToolRuntime

FOLDER = "tools"
"""The folder in the home for tool state: changes, commands, memories, snapshots."""


@Lazy
def _maker() -> "Callable[..., ToolRuntime]":
    from hob.app.tools.runtime import make_tool_runtime

    return make_tool_runtime


@Lazy
def _outside() -> Callable[[Kernel, CanvasViewers], Any]:
    from hob.app.tools.outside import open_outside

    return open_outside


@Lazy
def _explaining() -> Callable[..., PolicyExplainer]:
    from hob.app.trust.policy_explainer import OwnerPolicy

    return OwnerPolicy


class LazyToolRuntime:
    """Implements `Toolset` from declarations; `made` is the runtime, built by the first call."""

    def __init__(self, kept: Path, make: "Callable[[Config], ToolRuntime]", config: Config) -> None:
        self._specs = tuple(spec for group in BUILTIN_GROUPS for spec in group.tools)
        self.made = Lazy(partial(make, config))  # takes a tenth of a second
        self._make = make
        self._former: list[ToolRuntime] = []
        self._kept = kept

    def reconfigure(self, config: Config) -> None:
        """Use these settings from the next call on; background commands continue."""
        if self.made.loaded is not None:
            self._former.append(self.made.loaded)
        self.made = Lazy(partial(self._make, config))

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._specs

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        return await self.made().toolset.call(call, context)

    async def prune(self) -> None:
        """Delete the snapshots that undo no longer needs."""
        if self._used:
            await self.made().log.prune()

    async def erase(self, _turns: Collection[TurnId]) -> None:
        """Delete snapshots after the rows of these turns were erased."""
        await self.prune()

    @property
    def _used(self) -> bool:
        return (self._kept / "snapshots").is_dir()

    async def tidy(self) -> None:
        """After a start, finish what a crash interrupted. Does nothing in a home where no tool was ever used."""
        if self._used:
            await asyncio.to_thread(_maker)  # nothing waits for it
            await self.made().tidy()

    @property
    def running(self) -> int:
        """Return the number of background commands; they end with this process."""
        return sum(each.processes.running for each in self._all)

    async def stop_commands(self) -> int:
        """Stop every background command. Returns how many there were."""
        running = self.running
        for each in self._all:
            await each.processes.close()
        return running

    @property
    def _all(self) -> "Sequence[ToolRuntime]":
        return (*self._former, *([self.made.loaded] if self.made.loaded is not None else []))

    async def close(self) -> None:
        """Stop background work."""
        for each in self._all:
            await each.close()


@asynccontextmanager
async def open_tool_runtime(
    config: Config,
    store: Store,
    notices: Notices,
    clock: Clock,
    environ: Mapping[str, str],
    known: KnownSecrets | None = None,
    warn: Callable[[Remark], Awaitable[None]] | None = None,
    records: ProcessRecords | None = None,
    memory: MemoryPorts | None = None,
    outside: Callable[[], Any] = lambda: None,
) -> AsyncIterator[LazyToolRuntime]:
    """Open the tools of a home; `known` secrets are masked in everything they keep and show. `warn` notifies the owner.

    Raises OSError if the home cannot be written.
    """
    known = known if known is not None else KnownSecrets()
    kept = config.home / FOLDER
    kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    with unwrap_single_error():
        async with asyncio.TaskGroup() as tasks:

            def make(config: Config) -> "ToolRuntime":
                return _maker()(
                    config,
                    store,
                    notices,
                    clock,
                    environ,
                    state_folder=kept,
                    known=known,
                    tasks=tasks,
                    records=records,
                    outside=outside(),
                    memory=memory,
                    warn=warn,
                )

            tool_runtime = LazyToolRuntime(kept, make, config)
            try:
                yield tool_runtime
            finally:
                await tool_runtime.close()


@asynccontextmanager
async def open_tools(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Open Hob's own tools over this kernel."""

    async def warn(remark: Remark) -> None:
        await kernel.notifier.notify(render(remark, kernel.language), "obeyed")

    now = kernel.config

    def reconfigure(new: Config) -> None:
        nonlocal now
        now = new

    config, store, clock, viewers = kernel.config, kernel.store, kernel.clock, CanvasViewers()
    memory = MemoryPorts(kernel.port(MemorySearch), kernel.port(KnownFacts), store.goals)
    opening = open_tool_runtime(
        config, store, kernel.hub, clock, kernel.environ, kernel.known, warn, kernel.processes, memory,
        lambda: _outside()(kernel, viewers),
    )  # fmt: skip
    async with opening as tool_runtime:
        policy = Lazy(lambda: _explaining()(lambda: now, tool_runtime, kernel.known))
        yield Contribution(
            provides={
                LazyToolRuntime: tool_runtime,
                UndoneFiles: tool_runtime,
                PolicyExplainer: policy,
                CanvasViewers: viewers,
            },
            toolsets=(tool_runtime, ReadBackTool(store.transcript)),
            erase=tool_runtime.erase,
            on_settings=reconfigure,
        )
