"""What a sub-agent's session is called, and which tools it has."""

from collections.abc import Collection

from hob.agent.ports import ClosedToolHints, tools_of
from hob.core.errors import ToolFailed
from hob.core.ids import SessionKey
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import Tier, ToolCall, ToolResult, ToolSpec

MARK = ":subagent:"
AGENT = "main"
SPAWNING = frozenset({"spawn", "subagents", "sessions_yield"})
NEVER = frozenset({"gateway", "gateway_set", "cron", "message", "sessions_send", "agents_list", "ask_user", "canvas"})
"""What no sub-agent has, whatever it is allowed."""


def depth_of(session: SessionKey) -> int:
    """How many sub-agents lie between a session and a person's."""
    return session.count(MARK)


def child_key(parent: SessionKey, id: str) -> SessionKey:
    """The session of a sub-agent: `agent:<id>:subagent:<uuid>`, below another one's its key goes on."""
    return SessionKey(f"{parent if depth_of(parent) else f'agent:{AGENT}'}{MARK}{id}")


class SubagentTools:
    """Implements `Toolset`: in sub-agents' sessions those tools that only read, and what is `allowed` besides."""

    def __init__(self, toolset: Toolset, allowed: Collection[str], max_depth: int) -> None:
        self._toolset = toolset
        self._allowed = frozenset(allowed) - NEVER
        self._max_depth = max_depth

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._toolset.specs()

    def of(self, session: SessionKey) -> Toolset:
        """What this session may call now."""
        tools = tools_of(self._toolset, session)
        return _Restricted(self, tools, session) if depth_of(session) else tools

    def has(self, spec: ToolSpec, session: SessionKey) -> bool:
        """Whether a sub-agent's session has this tool."""
        if spec.name in SPAWNING:
            return depth_of(session) < self._max_depth
        return spec.name not in NEVER and (spec.tier is Tier.READ or spec.name in self._allowed)

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        session = context.turn.session
        if depth_of(session) and call.name not in {spec.name for spec in self.of(session).specs()}:
            raise ToolFailed(f"a sub-agent has no tool {call.name}")
        return await self._toolset.call(call, context)


class _Restricted:
    def __init__(self, by: SubagentTools, tools: Toolset, session: SessionKey) -> None:
        self._by = by
        self._tools = tools
        self._session = session

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(spec for spec in self._tools.specs() if self._by.has(spec, self._session))

    def how_to_open(self, name: str) -> str:
        return self._tools.how_to_open(name) if isinstance(self._tools, ClosedToolHints) else ""

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        return await self._by.call(call, context)
