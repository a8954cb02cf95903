"""The tools for their owner: the port behind the routes."""

from collections.abc import Sequence
from typing import Any, NamedTuple, NotRequired, Protocol, TypedDict

from hob.guard.policy.decision_view import DecisionView


class ToolAnswer(TypedDict):
    """A tool.

    group: empty if it is always shown
    tier: 0 reads, 1 writes, 2 may do harm
    effects: its side effects
    """

    name: str
    group: str
    about: str
    tier: int
    effects: list[str]


class WholeToolAnswer(ToolAnswer):
    """A tool, as models and the guard see it.

    roles: which argument is a path, a command, an address
    restart: what happens to a call that a crash interrupted
    timeout: seconds
    output_cap: characters
    bytes: its size in a prompt
    """

    schema: dict[str, Any]
    roles: dict[str, Any]
    restart: str
    timeout: float
    output_cap: int
    bytes: int


class ToolTriedAnswer(DecisionView):
    """The policy's decision on a call, and its result if it was made (`done`).

    told: the decision in words
    """

    told: list[str]
    done: bool
    failed: NotRequired[bool]
    text: NotRequired[str]
    seconds: NotRequired[float]


class PageCallAnswer(DecisionView):
    """The policy's decision on a page's call, and its result if it was made (`done`).

    told: the decision in words
    tool: the tool's name here
    shown: its arguments, as people see them
    result: the server's answer as in MCP (`CallToolResult`, `ReadResourceResult`); untrusted
    """

    told: list[str]
    tool: str
    shown: str
    done: bool
    result: NotRequired[dict[str, Any]]


class PageCall(NamedTuple):
    """A call by a page of an MCP server, to a tool by its name on that server.

    The tool `resources/read` reads the server's resources.
    """

    page: str
    version: int
    tool: str
    arguments: str
    confirmed: bool


class ToolCatalog(Protocol):
    """Shows tools, and tries them."""

    def all(self) -> Sequence[ToolAnswer]:
        """Return every tool, those always shown first."""

    def one(self, name: str) -> WholeToolAnswer:
        """Return a tool as models and the guard see it. Raises NotFound."""

    async def test(self, name: str, arguments: str, *, confirmed: bool) -> ToolTriedAnswer:
        """Make one call as if the owner had asked for it, judged by the policy. Return decision and result.

        `arguments` are JSON, or the main argument as plain text. A call that needs approval is made only if
        `confirmed`. Raises NotFound, InvalidRequest.
        """

    async def call_for_page(self, page_call: PageCall) -> PageCallAnswer:
        """Make a page's call, judged as in a tainted turn. Return decision and result.

        Raises NotFound, and InvalidRequest if the page may call nothing.
        """
