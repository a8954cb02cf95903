"""Hob's tools and those of features, as turns and the gateway see them."""

from collections import ChainMap
from collections.abc import Callable
from functools import partial
from typing import cast

from hob.app.features import Features
from hob.app.kernel import Kernel
from hob.app.maintenance.reload import SettingsReload
from hob.app.operations import DaemonOperations
from hob.app.subagents.sessions import SubagentTools
from hob.app.subagents.settings import SubagentSettings
from hob.app.tools.gateway_tools import LINE, GatewayTools
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.core.errors import NotConfigured
from hob.core.lazy import Lazy
from hob.core.ports.tools import Toolset
from hob.core.translation.language import translatable
from hob.gateway.tools import ToolCatalog
from hob.tools.memory.remember import FurtherMemories
from hob.tools.registry.default_set import SelectedTools
from hob.tools.registry.groups import Group, Groups


def make_registry(
    features: Features, tool_runtime: LazyToolRuntime, operations: Callable[[], DaemonOperations]
) -> Groups:
    """Hob's own tools, and a group for each that features declare. Raises NotConfigured where names clash."""
    declared = {
        group.name: Group(group.line, SelectedTools(contribution.toolsets, group.tools))
        for subsystem, contribution in features.opened.values()
        for group in subsystem.tools
    } | {"gateway": Group(LINE, GatewayTools(operations).toolset)}
    later = [
        cast(dict[str, Group], contribution.tool_groups)
        for contribution in features
        if contribution.tool_groups is not None
    ]
    groups, sources = ChainMap(declared, *later), [each for contribution in features for each in contribution.recall]
    try:
        return tool_runtime.groups.extended(groups, partial(FurtherMemories, sources=sources) if sources else None)
    except ValueError as error:
        raise NotConfigured(translatable("the tools of features clash: {error}", error=str(error))) from error


def restricted(kernel: Kernel, toolset: Toolset) -> Toolset:
    """Sub-agents have fewer tools; where there is no daemon, there are no sub-agents."""
    settings = kernel.config[SubagentSettings]
    return toolset if kernel.one_shot else SubagentTools(toolset, settings.tools, settings.max_depth)


def open_catalog(kernel: Kernel, tools: Groups, tool_runtime: LazyToolRuntime, settings: SettingsReload) -> ToolCatalog:
    """The tools that are there, as the gateway shows them."""
    return _tool_catalog()(settings.config, tools, tool_runtime, kernel.store, kernel.known)


@Lazy
def _tool_catalog() -> Callable[..., ToolCatalog]:
    from hob.app.tools.catalog import open_tool_catalog

    return open_tool_catalog
