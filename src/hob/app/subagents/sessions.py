"""Session keys and permitted tools of sub-agents."""

from collections.abc import Collection

from hob.agent.ports import ClosedToolHints, tools_of
from hob.agent.sessions import SUBAGENT_MARK
from hob.core.errors import ToolFailed
from hob.core.ids import SessionKey
from hob.core.memory import PRIVATE, is_private
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import Tier, ToolCall, ToolResult, ToolSpec
from hob.core.values import dataclass

AGENT = "main"
SPAWNING = frozenset({"spawn", "subagents", "sessions_yield"})
NEVER = frozenset({"gateway", "gateway_set", "cron", "message", "sessions_send", "agents_list", "ask_user", "canvas"})
"""Tools that no sub-agent gets, whatever the settings allow."""


def depth_of(session: SessionKey) -> int:
    """Return the number of sub-agents between a session and a person's session."""
    return session.count(SUBAGENT_MARK)


def child_key(parent: SessionKey, id: str) -> SessionKey:
    """Return the session key of a sub-agent: `agent:<id>:subagent:<uuid>`, or the parent's key extended.

    The sub-agents of a private session are private.
    """
    id = f"{PRIVATE}{id}" if is_private(parent) else id
    return SessionKey(f"{parent if depth_of(parent) else f'agent:{AGENT}'}{SUBAGENT_MARK}{id}")


@dataclass(frozen=True, slots=True)
class SessionPermissions:
    """Which tools a session may call: a sub-agent's only those that read, and those in `allowed`."""

    allowed: Collection[str]
    max_depth: int

    def __call__(self, spec: ToolSpec, session: SessionKey) -> bool:
        """Return whether the session may call this tool."""
        depth = depth_of(session)
        if spec.name in SPAWNING:
            return not depth or depth < self.max_depth
        return not depth or (spec.name not in NEVER and (spec.tier is Tier.READ or spec.name in self.allowed))


class SubagentTools:
    """Implements `Toolset`: sub-agent sessions get the permitted tools."""

    def __init__(self, toolset: Toolset, permits: SessionPermissions) -> None:
        self._toolset = toolset
        self._permits = permits

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._toolset.specs()

    def of(self, session: SessionKey) -> Toolset:
        """Return the tools that this session may call now."""
        tools = tools_of(self._toolset, session)
        return _Restricted(self, tools, self._permits, session) if depth_of(session) else tools

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        session = context.turn.session
        if depth_of(session) and call.name not in {spec.name for spec in self.of(session).specs()}:
            raise ToolFailed(f"a sub-agent has no tool {call.name}")
        return await self._toolset.call(call, context)


class _Restricted:
    def __init__(self, by: SubagentTools, tools: Toolset, permits: SessionPermissions, session: SessionKey) -> None:
        self._by = by
        self._tools = tools
        self._permits = permits
        self._session = session

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(spec for spec in self._tools.specs() if self._permits(spec, self._session))

    def how_to_open(self, name: str) -> str:
        return self._tools.how_to_open(name) if isinstance(self._tools, ClosedToolHints) else ""

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        return await self._by.call(call, context)
