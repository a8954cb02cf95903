"""A broken plug-in costs only itself: it can be loaded, but not opened."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from hob.core.tools import ToolSpec
from hob.plugin import Lazy, Open, Subsystem, ToolGroup


@asynccontextmanager
async def _break(kernel: Any) -> AsyncIterator[Any]:
    raise RuntimeError("broken on purpose")
    yield


@Lazy
def _open() -> Open:
    return _break


NOTHING = ToolSpec("nothing", "Do nothing.", {"type": "object", "properties": {}})
BROKEN = Subsystem(name="broken", tools=(ToolGroup("broken", "nothing", (NOTHING,)),), open=_open)
