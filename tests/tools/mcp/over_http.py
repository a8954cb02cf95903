"""A server that listens on every interface and Hob's client, run as a program in an empty network namespace.

Arguments: a home folder, and the server's command.
"""

import asyncio
import os
import sys
from pathlib import Path

from hob.core.ports.tools import CallContext
from hob.tools.mcp.settings import McpServer
from tests.tools.calling import a_call
from tests.tools.mcp.reaching import a_turn, accept, connected, toolset

PORT = 3001


async def call_over_http(folder: Path, *command: str) -> None:
    """Print the server's description and the result of a call."""
    environ = {**os.environ, "PORT": str(PORT)}
    process = await asyncio.create_subprocess_exec(*command, env=environ, stdout=asyncio.subprocess.DEVNULL)
    try:
        await _listens()
        server = McpServer(url=f"http://127.0.0.1:{PORT}/mcp")
        async with connected(folder / "home", server, "all") as connection:
            accepted = await accept(connection)
            tools = toolset(accepted, server, connection, folder)
            said = await tools.call(a_call("all__echo", message="hello"), CallContext(a_turn()))
            print(accepted.protocol, len(accepted.tools), said.text)
    finally:
        process.terminate()
        await process.wait()


async def _listens() -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", PORT)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


if __name__ == "__main__":
    asyncio.run(call_over_http(Path(sys.argv[1]), *sys.argv[2:]))
