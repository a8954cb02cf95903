"""The declarations of Hob's own features. Reading them opens nothing and loads no library."""

from hob.agent.commands.table import COMMANDS
from hob.app.subsystem import Subsystem
from hob.app.subsystems.browser import BROWSER, BROWSER_COMMAND
from hob.app.subsystems.dashboard import DASHBOARD
from hob.app.subsystems.delivery import DELIVERY
from hob.app.subsystems.diagnostics import DOCTOR, SECURITY
from hob.app.subsystems.imports import IMPORTS
from hob.app.subsystems.knowledge import KNOWLEDGE
from hob.app.subsystems.live_api import LIVE_API
from hob.app.subsystems.maintenance import MAINTENANCE
from hob.app.subsystems.mcp import MCP
from hob.app.subsystems.memory import MEMORY, MEMORY_COMMANDS
from hob.app.subsystems.openai_api import OPENAI_API
from hob.app.subsystems.outbox_alarm import OUTBOX_ALARM
from hob.app.subsystems.repositories import REPOSITORIES
from hob.app.subsystems.sessions import SESSIONS
from hob.app.subsystems.subagents import SUBAGENTS
from hob.app.subsystems.tools import TOOLS
from hob.app.subsystems.webhooks import WEBHOOKS

SUBSYSTEMS: tuple[Subsystem, ...] = (
    MEMORY,
    KNOWLEDGE,
    MEMORY_COMMANDS,
    TOOLS,
    MCP,
    SUBAGENTS,
    BROWSER,
    BROWSER_COMMAND,
    OUTBOX_ALARM,
    DELIVERY,
    MAINTENANCE,
    WEBHOOKS,
    OPENAI_API,
    LIVE_API,
    IMPORTS,
    DOCTOR,
    SECURITY,
    REPOSITORIES,
    SESSIONS,
    DASHBOARD,
)
TOOL_GROUPS = tuple(group for subsystem in SUBSYSTEMS for group in subsystem.tools)
SLASH_COMMANDS = (*COMMANDS, *(each.row for subsystem in SUBSYSTEMS for each in subsystem.slash_commands))
"""Slash commands of Hob and of its features, in the order of `/help`."""
