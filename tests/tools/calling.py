"""Tool calls as the driver makes them."""

import json
from typing import Any

from hob.core.ids import CallId, SessionKey, TurnId, new_span_id, new_trace_id
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import ToolCall, ToolResult
from hob.core.turns import Turn


def context(session: str = "here", turn: str = "t_here") -> CallContext:
    return CallContext(Turn(TurnId(turn), SessionKey(session), new_trace_id(), new_span_id(), ()))


def a_call(tool: str, /, **arguments: Any) -> ToolCall:
    return ToolCall(CallId("c"), tool, json.dumps(arguments))


async def made(toolset: Toolset, name: str, *, turn: str = "t_here", **arguments: Any) -> ToolResult:
    return await toolset.call(a_call(name, **arguments), context(turn=turn))


async def text_of(toolset: Toolset, name: str, *, turn: str = "t_here", **arguments: Any) -> str:
    return (await made(toolset, name, turn=turn, **arguments)).text
