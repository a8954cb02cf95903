"""MCP servers as tool groups. A server is connected on the first call of one of its tools."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from hob.core.errors import HobError, ToolFailed
from hob.core.lazy import Lazy
from hob.core.libraries import install_command
from hob.core.ports.tools import Blobs, Toolset
from hob.core.values import dataclass
from hob.tools.mcp.accepted import FOLDER, load_accepted
from hob.tools.mcp.ports import BegunTasks, Changed, Present
from hob.tools.mcp.server_environment import ServerEnvironment
from hob.tools.mcp.settings import McpServer
from hob.tools.registry.groups import Group

_LONGEST_LINE = 60
_PREFIX = "mcp_"


@Lazy
def _connecting() -> Callable[..., Any]:
    from hob.tools.mcp.connector import connection_to

    return connection_to


@Lazy
def _toolset() -> Callable[..., Toolset]:
    from hob.tools.mcp.toolset import McpToolset

    return McpToolset


@dataclass(slots=True)
class _Offered:
    """An offered server. Its first call creates the connection."""

    made_of: str
    server: McpServer
    protocol: str
    group: Group
    connection: Any = None
    task: asyncio.Task[None] | None = None


class McpServers(Mapping[str, Group]):
    """The tool groups, one for each enabled server that the owner accepted.

    `changed` receives tools that differ from what was accepted. Connections run as tasks of `tasks`.
    """

    def __init__(
        self,
        server_environment: ServerEnvironment,
        blobs: Blobs,
        changed: Changed,
        tasks: asyncio.TaskGroup,
        begun: BegunTasks,
        present: Present | None = None,
    ) -> None:
        self._begun = begun
        self._present = present
        self._server_environment = server_environment
        self._blobs = blobs
        self._changed = changed
        self._tasks = tasks
        self._offered: dict[str, _Offered] = {}

    def __getitem__(self, group: str) -> Group:
        return self._offered[group].group

    def __iter__(self) -> Iterator[str]:
        return iter(self._offered)

    def __len__(self) -> int:
        return len(self._offered)

    def find_tool(self, name: str) -> Toolset | None:
        """Return the toolset that offers this tool, or None."""
        toolsets = (offered.group.toolset for offered in self._offered.values())
        return next((each for each in toolsets if any(spec.name == name for spec in each.specs())), None)

    def reconfigure(self, servers: Mapping[str, McpServer]) -> None:
        """Apply new settings or acceptances. Unchanged servers stay connected."""
        found: dict[str, _Offered] = {}
        home = self._server_environment.home
        for name, server in servers.items():
            accepted = load_accepted(home, name) if server.on else None
            if accepted is None:
                continue
            made_of = f"{server!r} {(home / FOLDER / f'{name}.json').stat().st_mtime_ns}"
            group = f"{_PREFIX}{name}"
            before = self._offered.get(group)
            if before is not None and before.made_of == made_of:
                found[group] = before
                continue
            toolset = _toolset()(
                accepted, server, partial(self._connect, name), self._blobs, self._changed, self._begun, self._present
            )
            line = " ".join((server.about or accepted.title or name).split())[:_LONGEST_LINE]
            found[group] = _Offered(made_of, server, accepted.protocol, Group(line, toolset))
        gone = [offered for group, offered in self._offered.items() if found.get(group) is not offered]
        self._offered = found
        _disconnect(gone)

    async def _connect(self, name: str) -> Any:
        offered = self._offered.get(f"{_PREFIX}{name}")
        if offered is None:
            raise ToolFailed(f"the server {name} is not used any more")
        if offered.connection is None:
            try:
                connection_to = await asyncio.to_thread(_connecting)
                connection = connection_to(name, offered.server, self._server_environment, offered.protocol)
            except ImportError as error:
                command = install_command("'mcp>=2.3,<3'")
                raise ToolFailed(f"MCP needs a library: {command}") from error
            except HobError as error:
                raise ToolFailed(str(error)) from error
            if offered.connection is None:
                offered.connection = connection
                offered.task = self._tasks.create_task(connection.run())
        return offered.connection

    def view(self) -> Mapping[str, Any]:
        """Return the state and number of tools of each server, for people."""
        views = {
            group.removeprefix(_PREFIX): {
                "state": offered.connection.state if offered.connection is not None else "idle",
                "tools": len(offered.group.toolset.specs()),
            }
            for group, offered in self._offered.items()
        }
        return {"mcp": views} if views else {}

    def close(self) -> None:
        """Close all connections."""
        _disconnect(self._offered.values())


def _disconnect(offered: Iterable[_Offered]) -> None:
    for each in offered:
        if each.task is not None:
            each.task.cancel()
