"""`hob serve` with one tool, `clock`, and a judge that allows it: Hob itself has no tools yet."""

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

from hob.app.daemon import run_daemon
from hob.app.home import own
from hob.app.opening import Extras
from hob.app.sections import read_config
from hob.testing.toolset import AllowAll, FunctionTools, tool


async def tell(_: Mapping[str, Any]) -> str:
    """What the tool does."""
    return "noon"


def ready(url: str) -> None:
    """The line of `hob serve` that the benchmark waits for."""
    sys.stdout.write(f"ready: {url}, one tool\n")
    sys.stdout.flush()


def main() -> None:
    """The program."""
    config = read_config()
    extras = Extras(toolset=FunctionTools(tool("clock", tell)), judge=AllowAll())
    with own(config.home, "benchmark"):
        asyncio.run(run_daemon(config.home, config, extras=extras, on_ready=ready))


if __name__ == "__main__":
    main()
