"""The port through which other features find MCP tools."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # declarations name the port without loading the toolset's modules
    from hob.core.ports.tools import Toolset


class McpTools(Protocol):
    """The tools that servers offer now."""

    def find_tool(self, name: str) -> "Toolset | None":
        """Return the toolset that offers this tool, or None."""
