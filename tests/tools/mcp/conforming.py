"""The client for the MCP project's conformance program: takes a server's address and calls every tool once.

`MCP_CONFORMANCE_SCENARIO` names the scenario, `MCP_CONFORMANCE_CONTEXT` has its parameters.
"""

import asyncio
import json
import os
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
from mcp.shared.auth import AuthorizationCodeResult

from hob.core.errors import UserInputNeeded
from hob.core.ports.tools import CallContext
from hob.core.settings import Secret
from hob.tools.mcp.oauth import OAuthLogin, read_callback
from hob.tools.mcp.settings import McpServer
from tests.tools.calling import a_call
from tests.tools.mcp.reaching import a_turn, accept, connected, toolset


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


async def call_every_tool(home: Path, url: str) -> None:
    """Accept and call every offered tool; questions are answered with their defaults."""
    browser = Browser()
    login = OAuthLogin(browser.show, browser.answer, "http://localhost:3000/callback")
    given = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    secret = given.get("client_secret")
    server = McpServer(
        url=url,
        client_id=given.get("client_id", ""),
        client_secret=Secret.of(secret) if secret is not None else None,
    )
    async with AsyncExitStack() as stack:
        connection = await stack.enter_async_context(connected(home, server, "tried", login=login))
        accepted = await accept(connection)
        tools = toolset(accepted, server, connection, home)
        for tool in accepted.tools:
            arguments: dict[str, Any] = dict.fromkeys(tool.schema.get("properties", {}), 2)
            call = a_call(f"tried__{tool.name}", **arguments)
            try:
                result = await tools.call(call, CallContext(a_turn()))
            except UserInputNeeded:
                result = await tools.call(call, CallContext(a_turn("yes")))
            print(tool.name, result.text)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(call_every_tool(Path(folder) / "home", sys.argv[-1]))
