"""What the tools of a server are made with."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from hob.core.content.canvas import CanvasPage
from hob.core.tools import ToolCall
from hob.core.turns import Turn

Present = Callable[[CanvasPage, str], Awaitable[CanvasPage]]
"""Keeps a page as its newest version."""
Changed = Callable[[str, Sequence[str]], Awaitable[None]]
"""Hears which tools of a server are no longer what the owner accepted."""


class BegunTasks(Protocol):
    """Which calls have become tasks of their servers, also for the next Hob."""

    async def find(self, turn: Turn, call: ToolCall) -> str:
        """The call's task; empty where it has none. Raises StoreErrors."""

    async def keep(self, turn: Turn, call: ToolCall, task: str) -> None:
        """This is the call's task; kept when it returns. Raises StoreErrors."""
