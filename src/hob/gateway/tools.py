"""The tools there are, for their owner: the port behind the routes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol


class ToolCatalog(Protocol):
    """Shows tools, and tries them."""

    def all(self) -> Sequence[Mapping[str, Any]]:
        """Every tool, those that are always shown first: its group, and what it does to the world."""

    def one(self, name: str) -> Mapping[str, Any]:
        """A tool as models and the guard see it. Raises NotFound."""

    async def test(self, name: str, arguments: str, *, confirmed: bool) -> Mapping[str, Any]:
        """One call as if the owner had asked for it, judged by the policy, and what came of it.

        `arguments` are JSON, or the one that matters most as it is. What the policy asks about is done if it is
        `confirmed`; else nothing is done, and the verdict says so. Raises NotFound, InvalidRequest.
        """


class LazyTools(NamedTuple):
    """Leads to them; loaded when somebody asks."""

    get: Callable[[], ToolCatalog]
