"""A tool in one file, with a setting: the model calls `dice__roll`."""

import json
import secrets
from dataclasses import dataclass

from hob.core.errors import ToolFailed
from hob.core.ports.tools import CallContext
from hob.core.settings import setting
from hob.core.tools import Restart, Tier, ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import HOB_LABEL

ROLL = ToolSpec(
    name="roll",
    description="Throw dice.",
    schema={"type": "object", "properties": {"count": {"type": "integer", "minimum": 1, "maximum": 20}}},
    tier=Tier.READ,
    effects=frozenset(),
    restart=Restart.AGAIN,
)


@dataclass(frozen=True)
class DiceSettings:
    """`[dice]` in config.toml."""

    sides: int = setting(6, "How many sides a die has.", at_least=2, at_most=100)


class Dice:
    """throw dice"""

    settings = DiceSettings

    def __init__(self, settings: DiceSettings) -> None:
        self._sides = settings.sides

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools."""
        return (ROLL,)

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Throw the dice."""
        if call.name != ROLL.name:
            raise ToolFailed(f"there is no tool {call.name}")
        count = json.loads(call.arguments).get("count", 1)
        thrown = [1 + secrets.randbelow(self._sides) for _ in range(count)]
        return ToolResult(call.id, f"d{self._sides}: {' '.join(map(str, thrown))}", HOB_LABEL)
