"""The port of the MCP servers' tools for other features."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # declarations name the port, and load nothing that tools are made of
    from hob.core.ports.tools import Toolset


class McpTools(Protocol):
    """The tools that servers offer now."""

    def find_tool(self, name: str) -> "Toolset | None":
        """The tools of the server that offers this one; None where none does."""
