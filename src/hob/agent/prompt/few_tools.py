"""Few tools for small models, which lose their way among many."""

import json
from collections.abc import Sequence

from hob.agent.prompt.tokens import estimate_tokens
from hob.core.steps import ModelReplied, Step
from hob.core.tools import ToolSpec

_PER_TOOL = 12  # the structure around its name, description and schema


def choose_tools(tools: tuple[ToolSpec, ...], steps: Sequence[Step], most: int, room: int) -> tuple[ToolSpec, ...]:
    """At most `most` tools of at most `room` tokens together, in their stable order.

    Those that the turn has used stay, the latest first; then the first ones are taken. So what a turn was told of does
    not change while it uses only that.
    """
    used = [call.name for step in reversed(steps) if isinstance(step, ModelReplied) for call in step.calls]
    known = {tool.name: tool for tool in tools}
    chosen: set[str] = set()
    left = room
    for name in dict.fromkeys([*used, *known]):
        if name not in known or len(chosen) >= most:
            continue
        tokens = estimate_tool(known[name])
        if tokens <= left:
            chosen.add(name)
            left -= tokens
    return tuple(tool for tool in tools if tool.name in chosen)


def estimate_tool(tool: ToolSpec) -> int:
    """The guess for the tokens of one tool."""
    return estimate_tokens(write_tool(tool)) + _PER_TOOL


def write_tool(tool: ToolSpec) -> str:
    """What a model is told of a tool, more or less as it is sent."""
    return json.dumps([tool.name, tool.description, dict(tool.schema)], ensure_ascii=False)
