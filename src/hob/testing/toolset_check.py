"""Contract check for `hob.core.ports.tools.Toolset`."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from hob.core.errors import ToolFailed, ToolRefused
from hob.core.ids import CallId, SessionKey, TurnId, new_span_id, new_trace_id
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import ToolCall, ToolResult
from hob.core.turns import Turn
from hob.testing.promises import require

Make = Callable[[], AbstractAsyncContextManager[Toolset]]
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # accepted by the wires of all providers


async def check_toolset(make: Make, examples: Mapping[str, Mapping[str, Any]]) -> None:
    """Check the contract; `examples` has working arguments for each tool.

    Raises AssertionError that names the broken promise.
    """
    async with make() as toolset:
        _check_specs(toolset)
        require(toolset.specs() == toolset.specs(), "the specs are the same each time: they are part of the prompt")
        for spec in toolset.specs():
            require(spec.name in examples, f"{spec.name} has an example")
            await _check_call(toolset, spec.name, examples[spec.name])
        await _check_unknown(toolset)


def _check_specs(toolset: Toolset) -> None:
    names = [spec.name for spec in toolset.specs()]
    require(len(set(names)) == len(names), "no two tools share a name")
    for spec in toolset.specs():
        require(bool(_NAME.fullmatch(spec.name)), f"{spec.name!r} is a name that every provider takes")
        require(bool(spec.description.strip()), f"{spec.name} says what it does")
        require(spec.schema.get("type") == "object", f"the schema of {spec.name} is that of an object")
        require(spec.timeout > 0 and spec.output_cap > 0, f"{spec.name} has limits")
        json.dumps(spec.schema)


async def _check_call(toolset: Toolset, name: str, arguments: Mapping[str, Any]) -> None:
    call = ToolCall(CallId("check"), name, json.dumps(arguments))
    result = await toolset.call(call, _context())
    require(isinstance(result, ToolResult), f"{name} gives a ToolResult")
    require(result.call == call.id, f"the result of {name} names its call")
    require(not result.is_error, f"{name} works with its example: {result.text}")


async def _check_unknown(toolset: Toolset) -> None:
    call = ToolCall(CallId("check"), "no_such_tool_here", "{}")
    try:
        result = await toolset.call(call, _context())
    except (ToolFailed, ToolRefused):
        return
    require(result.is_error, "a call of a tool that is not there fails")


def _context() -> CallContext:
    return CallContext(Turn(TurnId("t_check"), SessionKey("check"), new_trace_id(), new_span_id(), ()))
