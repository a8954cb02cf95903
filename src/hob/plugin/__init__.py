"""What a plug-in declares a feature with. It is read whenever Hob looks at the plug-in, so it is light.

What its functions work with is in `hob.plugin.opened`, what its endpoints are made of in `hob.plugin.http`, its checks
in `hob.plugin.checks`: import those inside a `Lazy`. A channel, a toolset, a hook, a provider or a memory source alone
needs `hob.core`, and none of this.
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
