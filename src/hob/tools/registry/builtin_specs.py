"""Hob's own tools as data: what a model is told of them, without loading what they are made of.

Most turns call no tool, and the parts of the tools take longer to load than such a turn takes. `make docs` writes the
file from the tools themselves; a test compares the two.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hob.core.argument_roles import ArgumentRole
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import Effect, Restart, Tier, ToolCall, ToolResult, ToolSpec

FILE = Path(__file__).with_name("known.json")


class KnownTools:
    """Implements `Toolset`: tells of the tools from the file, and has them made for the first call."""

    def __init__(self, make: Callable[[], Toolset]) -> None:
        self._make = make
        self._specs = tuple(_load(value) for value in json.loads(FILE.read_bytes()))

    def specs(self) -> tuple[ToolSpec, ...]:
        """What stands in the file."""
        return self._specs

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Make the call. Raises ToolFailed, ToolRefused."""
        return await self._make().call(call, context)


def dump_specs(specs: Sequence[ToolSpec]) -> str:
    """The text of the file for these tools."""
    lines = ",\n".join(json.dumps(_dump(spec)) for spec in specs)
    return f"[\n{lines}\n]\n"


def _dump(spec: ToolSpec) -> dict[str, Any]:
    roles = {} if spec.roles is None else {"roles": {k: v for k, v in asdict(spec.roles).items() if v}}
    return {
        "name": spec.name,
        "description": spec.description,
        "schema": spec.schema,
        "tier": spec.tier,
        "effects": sorted(spec.effects),
        "restart": spec.restart,
        "parallel": spec.parallel,
        "timeout": spec.timeout,
        "output_cap": spec.output_cap,
        **roles,
    }


def _load(value: dict[str, Any]) -> ToolSpec:
    tier, effects, restart = Tier(value["tier"]), frozenset(map(Effect, value["effects"])), Restart(value["restart"])
    roles = _roles(value["roles"]) if "roles" in value else None
    return ToolSpec(**value | {"tier": tier, "effects": effects, "restart": restart, "roles": roles})


def _roles(value: dict[str, Any]) -> ArgumentRole:
    named: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in value.items()}
    return ArgumentRole(**named)
