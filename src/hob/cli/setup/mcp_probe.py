"""Contacting MCP servers outside turns, to show or test what they offer."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from hob.bus.waiting import unwrap_single_error
from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.core.clock import SystemClock
from hob.tools.mcp.accepted import AcceptedServer
from hob.tools.mcp.connection import Connection, accepted_tool
from hob.tools.mcp.connector import connection_to
from hob.tools.mcp.installer import InstallPlan, install, plan_of
from hob.tools.mcp.oauth import CallbackListener, OAuthLogin, read_callback
from hob.tools.mcp.server_environment import ServerEnvironment
from hob.tools.mcp.settings import McpServer
from hob.tools.sandbox.settings import SandboxSettings

Show = Callable[[str, Callable[[str], None]], Awaitable[None]]
"""Shows the login address. The final address may be pasted."""


def server_environment(config: Config) -> ServerEnvironment:
    """Return the environment that this home's servers share."""
    return ServerEnvironment(config.home, config[SandboxSettings], process_environment(), SystemClock())


@asynccontextmanager
async def connected(
    config: Config, name: str, server: McpServer, show: Show | None = None
) -> AsyncIterator[Connection]:
    """Connect to a server for the duration of the block. `show` receives the login address and a way to answer."""
    async with AsyncExitStack() as stack:
        noting = logging.getLogger(Connection.__module__)
        stack.callback(noting.setLevel, noting.level)
        noting.setLevel(logging.CRITICAL)  # the caller reports failures
        environment = server_environment(config)
        if show is not None and server.url:
            environment = replace(environment, login=await _login(stack, show))
        yield await stack.enter_async_context(_running(connection_to(name, server, environment)))


async def _login(stack: AsyncExitStack, show: Show) -> OAuthLogin:
    listener = await stack.enter_async_context(CallbackListener())

    async def shown(url: str) -> None:
        await show(url, listener.give)

    async def answer() -> Any:
        return read_callback(await listener.wait())

    return OAuthLogin(shown, answer, listener.url)


@asynccontextmanager
async def _running(connection: Connection) -> AsyncIterator[Connection]:
    with unwrap_single_error():
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(connection.run())
            try:
                yield connection
            finally:
                task.cancel()


async def look(config: Config, name: str, server: McpServer, show: Show | None = None) -> AcceptedServer:
    """Fetch what the server offers now. Raises ToolFailed, NotConfigured."""
    async with connected(config, name, server, show) as connection:
        about = await connection.about()
        tools = tuple(accepted_tool(name, each) for each in (await connection.tools()).values())
        return replace(about, tools=tools)


def plan(command: Sequence[str]) -> InstallPlan | None:
    """Return the package that a command would fetch at each start; None for most. Raises NotConfigured."""
    return plan_of(command)


async def fetch(config: Config, name: str, plan: InstallPlan, server: McpServer) -> McpServer:
    """Install a server's package; return the server as it starts from then on. Raises ToolFailed, NotConfigured."""
    return await install(name, plan, server, server_environment(config))
