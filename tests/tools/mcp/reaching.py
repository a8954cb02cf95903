"""Servers of tests: ours in the sandbox, and connections to them."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hob.core.clock import Clock, SystemClock
from hob.core.ids import SessionKey, TurnId, new_span_id, new_trace_id
from hob.core.turns import Turn
from hob.testing.channel import message
from hob.tools.mcp.accepted import AcceptedServer
from hob.tools.mcp.connecting import connection_to
from hob.tools.mcp.connection import Connection, accepted_tool
from hob.tools.mcp.oauth import OAuthLogin
from hob.tools.mcp.server_environment import ServerEnvironment
from hob.tools.mcp.settings import McpServer
from hob.tools.mcp.toolset import McpToolset
from hob.tools.sandbox.settings import SandboxSettings
from tests.tools.keeping import FolderBlobs

SCRIPT = Path(__file__).with_name("serving.py")
# A Python of the system is under /usr, which every command sees anyway.
_PYTHON = [path for path in (sys.prefix, sys.base_prefix, str(SCRIPT.parents[3] / "tests")) if path != "/usr"]


def ours(*arguments: str) -> McpServer:
    """Our server as a program."""
    return McpServer(command=[sys.executable, str(SCRIPT), "stdio", *arguments], read=_PYTHON)


def around(home: Path, clock: Clock | None = None) -> ServerEnvironment:
    home.mkdir(exist_ok=True)
    return ServerEnvironment(home, SandboxSettings(), dict(os.environ), clock or SystemClock())


@asynccontextmanager
async def connected(
    home: Path,
    server: McpServer,
    name: str = "notes",
    clock: Clock | None = None,
    protocol: str = "",
    login: OAuthLogin | None = None,
) -> AsyncIterator[Connection]:
    """A connection that is open while it is used."""
    connection = connection_to(name, server, replace(around(home, clock), login=login), protocol)
    task = asyncio.create_task(connection.run())
    try:
        yield connection
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def accept(connection: Connection) -> AcceptedServer:
    """All that the server offers now."""
    about = await connection.about()
    tools = tuple(accepted_tool(about.name, each) for each in (await connection.tools()).values())
    return replace(about, tools=tools)


class Told:
    """Hears which tools are others than before."""

    def __init__(self) -> None:
        self.changed: list[tuple[str, ...]] = []

    async def __call__(self, server: str, tools: Any) -> None:
        self.changed.append((server, *tools))


def toolset(
    accepted: AcceptedServer, server: McpServer, connection: Connection, folder: Path, told: Told | None = None
) -> McpToolset:
    async def connect() -> Connection:
        return connection

    return McpToolset(accepted, server, connect, FolderBlobs(folder), told or Told())


def a_turn(*answers: str) -> Turn:
    """A turn of somebody who is there, with what they answered meanwhile."""
    first = message("go on")
    joined = tuple(message(each) for each in answers)
    turn = Turn(TurnId("t_1"), SessionKey("here"), new_trace_id(), new_span_id(), (first,))
    return replace(turn, joined=joined)
