"""Ports and callbacks of MCP toolsets."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from hob.core.content.canvas import CanvasPage
from hob.core.tools import ToolCall
from hob.core.turns import Turn

Present = Callable[[CanvasPage, str], Awaitable[CanvasPage]]
"""Stores a page as its newest version."""
Changed = Callable[[str, Sequence[str]], Awaitable[None]]
"""Receives a server and its tools that differ from what the owner accepted."""


class BegunTasks(Protocol):
    """The tasks that calls have become, kept across restarts."""

    async def find(self, turn: Turn, call: ToolCall) -> str:
        """Return the task of a call; empty if there is none. Raises StoreErrors."""

    async def keep(self, turn: Turn, call: ToolCall, task: str) -> None:
        """Store the task of a call durably. Raises StoreErrors."""
