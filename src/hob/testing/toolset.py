"""Tools made from functions, for tests and small programs."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hob.core.errors import ToolFailed
from hob.core.ports.guard import Allow, Verdict
from hob.core.ports.tools import CallContext
from hob.core.tools import Effect, Restart, Tier, ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.turns import Turn
from hob.core.values import dataclass

Function = Callable[[Mapping[str, Any]], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """One tool: its spec and its function."""

    spec: ToolSpec
    function: Function


def tool(
    name: str,
    function: Function,
    *,
    schema: Mapping[str, Any] | None = None,
    restart: Restart = Restart.NEVER,
    parallel: bool = False,
    effects: frozenset[Effect] = frozenset(),
    timeout: float = 60.0,
) -> FunctionTool:
    """Return a tool of tier 0 that accepts any object unless a schema is given."""
    spec = ToolSpec(
        name=name,
        description=f"The {name} tool.",
        schema=schema or {"type": "object", "properties": {}},
        tier=Tier.READ,
        effects=effects,
        restart=restart,
        parallel=parallel,
        timeout=timeout,
    )
    return FunctionTool(spec, function)


class FunctionTools:
    """Implements `Toolset`; `calls` records the calls."""

    def __init__(self, *tools: FunctionTool, label: Label = Label(Origin.TOOL, Trust.UNTRUSTED)) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._label = label
        self.calls: list[ToolCall] = []

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        self.calls.append(call)
        if call.name not in self._tools:
            raise ToolFailed(f"there is no tool {call.name}")
        text = await self._tools[call.name].function(json.loads(call.arguments or "{}"))
        return ToolResult(call.id, text, self._label)


class AllowAll:
    """Implements `Judge` by allowing everything. For tests only."""

    async def judge(self, call: ToolCall, spec: ToolSpec, turn: Turn, trust: Trust) -> Verdict:
        return Allow("test")
