"""Declarations of a plug-in's feature. Light, since it is imported whenever Hob looks at the plug-in.

Types that the running feature works with are in `hob.plugin.opened`, endpoint types in `hob.plugin.http`, checks in
`hob.plugin.checks`: import those inside a `Lazy`. A single channel, toolset, hook, provider or memory source needs only
`hob.core`.
"""

from hob.agent.commands.table import CommandTiming, SlashCommand
from hob.app.subsystem import (
    Checks,
    CliCommand,
    DashboardView,
    Endpoints,
    FeatureCommand,
    KeptFiles,
    Open,
    Subsystem,
)
from hob.core.lazy import Lazy
from hob.core.memory import MemoryLayer
from hob.core.settings import Secret, setting
from hob.core.tools import ToolGroup

__all__ = [
    "Checks",
    "CliCommand",
    "CommandTiming",
    "DashboardView",
    "Endpoints",
    "FeatureCommand",
    "KeptFiles",
    "Lazy",
    "MemoryLayer",
    "Open",
    "Secret",
    "SlashCommand",
    "Subsystem",
    "ToolGroup",
    "setting",
]
