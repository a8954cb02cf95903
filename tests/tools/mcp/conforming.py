"""The client for the MCP project's conformance program.

The program starts a command for each scenario, with a server's address. Loading Hob takes longer than a scenario, so
the command is `RELAY`, and the client is a task of the test.
"""

import asyncio
import json
import sys
import traceback
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp.shared.auth import AuthorizationCodeResult

from hob.core.errors import UserInputNeeded
from hob.core.ports.tools import CallContext
from hob.core.settings import Secret
from hob.tools.mcp.accepted import AcceptedTool
from hob.tools.mcp.oauth import OAuthLogin, read_callback
from hob.tools.mcp.settings import McpServer
from tests.tools.calling import a_call
from tests.tools.mcp.reaching import a_turn, accept, connected, toolset

RELAY = """
import os, socket, sys
with socket.socket(socket.AF_UNIX) as tests:
    tests.connect(sys.argv[1])
    tests.sendall(sys.argv[2].encode() + b"\\n" + os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}").encode() + b"\\n")
    code, said = tests.makefile(encoding="utf-8").read().split("\\n", 1)
print(said)
sys.exit(int(code))
"""
"""Passes address and parameters on to a Unix socket, and ends with the exit code that is answered."""


class Browser:
    """A user who agrees to everything; the redirect address is read from the last location, since nothing listens
    there.
    """

    def __init__(self) -> None:
        self.back = ""

    async def show(self, url: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as browser:
            self.back = (await browser.get(url)).headers["location"]

    async def answer(self) -> AuthorizationCodeResult:
        return read_callback(self.back)


@asynccontextmanager
async def relayed_client(folder: Path) -> AsyncIterator[str]:
    """Run a client while the block lasts and yield the command that passes an address on to it."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        url, given = [(await reader.readline()).decode() for _ in range(2)]
        try:
            said = "0\n" + await call_every_tool(folder / "home", url.strip(), json.loads(given))
        except Exception:  # noqa: BLE001 - the command fails with it
            said = "1\n" + traceback.format_exc()
        writer.write(said.encode())
        writer.close()

    (folder / "relay.py").write_text(RELAY, "utf-8")
    async with await asyncio.start_unix_server(answer, folder / "s", limit=1 << 20):
        yield f"{sys.executable} -S {folder / 'relay.py'} {folder / 's'}"


async def call_every_tool(home: Path, url: str, given: Mapping[str, Any]) -> str:
    """Accept and call every offered tool, as the scenario says or once, and return the results. Questions are answered
    with their defaults.
    """
    browser = Browser()
    login = OAuthLogin(browser.show, browser.answer, "http://localhost:3000/callback")
    secret = given.get("client_secret")
    server = McpServer(
        url=url,
        client_id=given.get("client_id", ""),
        client_secret=Secret.of(secret) if secret is not None else None,
    )
    said = []
    async with AsyncExitStack() as stack:
        connection = await stack.enter_async_context(connected(home, server, "tried", login=login))
        accepted = await accept(connection)
        tools = toolset(accepted, server, connection, home)
        for name, arguments in calls_of(accepted.tools, given):
            call = a_call(f"tried__{name}", **arguments)
            try:
                result = await tools.call(call, CallContext(a_turn()))
            except UserInputNeeded:
                result = await tools.call(call, CallContext(a_turn("yes")))
            said.append(f"{name} {result.text}")
    return "\n".join(said)


def calls_of(tools: Sequence[AcceptedTool], given: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the calls that the scenario gives, and one of each other tool."""
    yield from ((each["name"], each["arguments"]) for each in given.get("toolCalls", ()))
    named = {each["name"] for each in given.get("toolCalls", ())}
    for tool in tools:
        if tool.name == "json_schema_echo":  # returns the schema of the other tool, as the client read it
            yield tool.name, {"schema": tools[0].schema}
        elif tool.name not in named:
            yield tool.name, dict.fromkeys(tool.schema.get("properties", {}), 2)
