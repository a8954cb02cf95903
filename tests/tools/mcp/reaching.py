"""Test servers in the sandbox, and connections to them."""

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
from hob.core.messages import Inbound
from hob.core.tools import ToolCall
from hob.core.turns import Turn
from hob.testing.channel import message
from hob.tools.mcp.accepted import AcceptedServer
from hob.tools.mcp.connection import Connection, accepted_tool
from hob.tools.mcp.connector import connection_to
from hob.tools.mcp.oauth import OAuthLogin
from hob.tools.mcp.server_environment import ServerEnvironment
from hob.tools.mcp.settings import McpServer
from hob.tools.mcp.tasks import TaskCall
from hob.tools.mcp.toolset import McpToolset
from hob.tools.sandbox.settings import SandboxSettings
from tests.tools.keeping import FolderBlobs

SCRIPT = Path(__file__).with_name("serving.py")
# a system Python is below /usr, which every command may read
_PYTHON = [path for path in (sys.prefix, sys.base_prefix, str(SCRIPT.parents[3] / "tests")) if path != "/usr"]


def ours(*arguments: str) -> McpServer:
    """Return the settings of the test server as a program."""
    return McpServer(command=[sys.executable, str(SCRIPT), "stdio", *arguments], read=_PYTHON)


def environment_of(home: Path, clock: Clock | None = None) -> ServerEnvironment:
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
    """Connect to a server for the duration of the block."""
    connection = connection_to(name, server, replace(environment_of(home, clock), login=login), protocol)
    task = asyncio.create_task(connection.run())
    try:
        yield connection
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def accept(connection: Connection) -> AcceptedServer:
    """Accept everything that the server offers."""
    about = await connection.about()
    tools = tuple(accepted_tool(about.name, each) for each in (await connection.tools()).values())
    return replace(about, tools=tools)


class Told:
    """Records which tools changed."""

    def __init__(self) -> None:
        self.changed: list[tuple[str, ...]] = []

    async def __call__(self, server: str, tools: Any) -> None:
        self.changed.append((server, *tools))


class Begun(dict[str, str]):
    """Implements `BegunTasks` in memory."""

    async def find(self, turn: Turn, call: ToolCall) -> str:
        return self.get(call.id, "")

    async def keep(self, turn: Turn, call: ToolCall, task: str) -> None:
        self[call.id] = task


def toolset(
    accepted: AcceptedServer,
    server: McpServer,
    connection: Connection,
    folder: Path,
    told: Told | None = None,
    begun: Begun | None = None,
) -> McpToolset:
    async def connect() -> Connection:
        return connection

    return McpToolset(
        accepted, server, connect, FolderBlobs(folder), told or Told(), Begun() if begun is None else begun
    )


def a_task() -> TaskCall:
    """Make a call without a stored task."""

    async def keep(_: str) -> None:
        await asyncio.sleep(0)

    return TaskCall(keep)


@asynccontextmanager
async def on_loopback(folder: Path) -> AsyncIterator[str]:
    """Start the test server in this folder and yield its address."""
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(SCRIPT), "http", str(port), stderr=asyncio.subprocess.PIPE, cwd=folder
    )
    try:
        assert process.stderr is not None
        async with asyncio.timeout(20):
            while b"running on" not in await process.stderr.readline():
                pass
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        await process.wait()


def a_turn(*answers: str | Inbound) -> Turn:
    """Make an attended turn, with the answers that joined it."""
    first = message("go on")
    joined = tuple(message(each) if isinstance(each, str) else each for each in answers)
    turn = Turn(TurnId("t_1"), SessionKey("here"), new_trace_id(), new_span_id(), (first,))
    return replace(turn, joined=joined)
