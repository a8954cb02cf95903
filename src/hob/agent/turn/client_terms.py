"""Terms of the client a turn works for: its own tools, the JSON schema of the answer, stop words."""

import json
from collections.abc import Mapping
from typing import Any

from hob.agent.ports import ClosedToolHints, tools_of
from hob.agent.turn.arguments import problems_of
from hob.core.errors import ResultPending
from hob.core.ports.tools import CallContext, Toolset
from hob.core.response_options import ResponseOptions
from hob.core.tools import Restart, Tier, ToolCall, ToolResult, ToolSpec
from hob.core.turns import Turn, WaitsFor

ABOUT_FORM, ABOUT_CHOICE = "form", "tool choice"
"""The `about` of notes on them in the journal."""
MAX_FORMAT_ATTEMPTS = 3
"""Replies in the wrong format that are accepted before the turn fails."""
WAIT_SECONDS = 3_600.0
"""Time a client has to deliver a tool's result."""
NO_TERMS = ResponseOptions()


def terms_of(turn: Turn) -> ResponseOptions:
    """Return the terms of the newest message that has any."""
    return next((each.terms for each in reversed(turn.inbounds) if each.terms is not None), NO_TERMS)


def tools_of_turn(toolset: Toolset, turn: Turn) -> Toolset:
    """Return the tools this turn may call: those of its session and those of its client."""
    tools, terms = tools_of(toolset, turn.session), terms_of(turn)
    return WithClientTools(tools, terms) if terms.tools else tools


class WithClientTools:
    """A `Toolset` that adds a client's tools to others; the client's replace those of the same name."""

    def __init__(self, tools: Toolset, terms: ResponseOptions) -> None:
        self._tools = tools
        self._names = frozenset(tool.name for tool in terms.tools)
        self._specs = tuple(
            ToolSpec(
                tool.name, tool.description, tool.schema or {"type": "object", "properties": {}},
                Tier.READ, frozenset(), Restart.AGAIN, parallel=True,
            )
            for tool in terms.tools
        )  # fmt: skip

    def specs(self) -> tuple[ToolSpec, ...]:
        return (*(spec for spec in self._tools.specs() if spec.name not in self._names), *self._specs)

    def how_to_open(self, name: str) -> str:
        return self._tools.how_to_open(name) if isinstance(self._tools, ClosedToolHints) else ""

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        if call.name in self._names:
            raise ResultPending(WaitsFor.CLIENT, WAIT_SECONDS)
        return await self._tools.call(call, context)


def parse_reply(text: str, form: Mapping[str, Any]) -> tuple[str, str]:
    """Return the JSON in a text, without code fences, and what is wrong with it."""
    text = text.strip()
    if text.startswith("```"):
        text = text.strip("`").removeprefix("json").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return text, f"it is no JSON ({error})"
    if form and form.get("type", "object") != "object":
        problems = problems_of({"answer": value}, {"properties": {"answer": form}, "required": ["answer"]})
    elif not isinstance(value, dict):
        return text, "it is no JSON object"
    else:
        problems = [*problems_of(value, form), *_unknown_keys(value, form)] if form else []
    return text, "; ".join(problems[:8])


def _unknown_keys(value: Mapping[str, Any], form: Mapping[str, Any]) -> list[str]:
    if form.get("additionalProperties", True) is not False:
        return []
    return [f"{name} is not in the schema" for name in value if name not in form.get("properties", {})]


def cut_at_stop_word(text: str, stop: tuple[str, ...]) -> str:
    """Return the text before the first of these stop words."""
    places = [place for word in stop if (place := text.find(word)) >= 0]
    return text[: min(places)] if places else text
