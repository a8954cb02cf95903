"""Calls a coroutine function of a test's module in a process of its own: `python -m tests.calling MODULE NAME JSON …`.

`calling` starts one from the fork server, for a test that kills it.
"""

import asyncio
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from tests.journeys.fork_server import MODULE, ForkedProcess, fork_server


async def calling(function: Callable[..., Coroutine[Any, Any, None]], *given: Path | str | int) -> ForkedProcess:
    """Start a process that calls the function with these; a path is given as a string."""
    arguments = (json.dumps(str(each) if isinstance(each, Path) else each) for each in given)
    program = [MODULE, __name__, function.__module__, function.__name__, *arguments]
    return await fork_server().start(program, dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    _, module, name, *values = sys.argv
    asyncio.run(getattr(importlib.import_module(module), name)(*map(json.loads, values)))
