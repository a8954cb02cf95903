"""The tools of Hob and its features, as turns and the gateway see them."""

from collections import ChainMap, Counter
from collections.abc import Callable, ItemsView, Mapping
from typing import cast

from hob.app.features import Features
from hob.app.kernel import Kernel
from hob.app.operations import DaemonOperations
from hob.app.settings.reload import SettingsReload
from hob.app.subagents.sessions import SessionPermissions, SubagentTools
from hob.app.subagents.settings import SubagentSettings
from hob.app.tools.gateway_tools import LINE, GatewayTools
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.core.errors import NotConfigured
from hob.core.lazy import Lazy
from hob.core.ports.tools import Toolset
from hob.core.translation.language import translatable
from hob.gateway.tools import ToolCatalog
from hob.tools.memory.ports import MemorySearch
from hob.tools.memory.remember import PluginMemories
from hob.tools.registry.groups import Group, Groups, ToolRatings, closed_groups, shown_tools


def make_registry(kernel: Kernel, features: Features, operations: Callable[[], DaemonOperations]) -> Groups:
    """Collect the tools of all features. Raises NotConfigured if names clash."""
    parts: list[Mapping[str, Group]] = []
    for subsystem, contribution in features.opened.values():
        parts.append(closed_groups(subsystem.tools, contribution.toolsets))
        if contribution.tool_groups is not None:
            parts.append(contribution.tool_groups)
    parts.append({"gateway": Group(LINE, GatewayTools(operations).toolset)})
    shown: Toolset = shown_tools(
        [group for subsystem, _ in features.opened.values() for group in subsystem.tools],
        [toolset for contribution in features for toolset in contribution.toolsets],
    )
    if sources := [each for contribution in features for each in contribution.recall]:
        memory = cast(MemorySearch | None, features.ports.get(MemorySearch))
        shown = PluginMemories(shown, sources, memory.cites) if memory else PluginMemories(shown, sources)
    names = Counter(name for part in parts for name in part)
    try:
        if twice := sorted(name for name, count in names.items() if count > 1):
            raise ValueError(f"two groups of tools are called {', '.join(twice)}")
        ratings = cast(ToolRatings | None, features.ports.get(ToolRatings))
        groups = _JoinedGroups(*cast(list[dict[str, Group]], parts[::-1]))
        return Groups(shown, groups, kernel.store.open_groups, ratings, _permissions(kernel))
    except ValueError as error:
        raise NotConfigured(translatable("the tools of features clash: {error}", error=str(error))) from error


class _JoinedGroups(ChainMap[str, Group]):
    """The tool groups of all features. They may change, so every request reads them again."""

    def items(self) -> ItemsView[str, Group]:
        return {name: group for part in reversed(self.maps) for name, group in part.items()}.items()


def restrict_subagents(kernel: Kernel, toolset: Toolset) -> Toolset:
    """Restrict the tools of sub-agents. Without a daemon there are none."""
    return toolset if kernel.one_shot else SubagentTools(toolset, _permissions(kernel))


def _permissions(kernel: Kernel) -> SessionPermissions:
    settings = kernel.config[SubagentSettings]
    return SessionPermissions(frozenset(settings.tools), settings.max_depth)


def open_catalog(
    kernel: Kernel, tools: Groups, tool_runtime: LazyToolRuntime, settings: SettingsReload
) -> Lazy[ToolCatalog]:
    """Return the catalog of tools for the gateway, loaded on first use."""
    return Lazy(lambda: _tool_catalog()(lambda: settings.config, tools, tool_runtime, kernel.store, kernel.known))


@Lazy
def _tool_catalog() -> Callable[..., ToolCatalog]:
    from hob.app.tools.catalog import open_tool_catalog

    return open_tool_catalog
