"""Stored tasks of MCP servers, which survive a restart."""

from hob.app.kernel import Kernel
from hob.core.tools import ToolCall
from hob.core.turns import Turn
from hob.store.plugin_records import PluginRecord

_KEPT_SECONDS = 7 * 86_400.0


class StoredTasks:
    """Implements the toolset's `BegunTasks` with records that belong to turns."""

    def __init__(self, kernel: Kernel) -> None:
        self._records = kernel.records
        self._clock = kernel.clock

    async def find(self, turn: Turn, call: ToolCall) -> str:
        """Return the task of a call, or an empty string. Raises StoreErrors."""
        found = await self._records.find(_key(turn, call))
        return found.value if found is not None else ""

    async def keep(self, turn: Turn, call: ToolCall, task: str) -> None:
        """Store the task of a call durably. Raises StoreErrors."""
        expires = self._clock.now().timestamp() + _KEPT_SECONDS
        await self._records.put(PluginRecord(_key(turn, call), task, turn.id, turn.session, expires=expires))


def _key(turn: Turn, call: ToolCall) -> str:
    return f"task/{turn.id}/{call.id}"
