"""The tools there are, for their owner: the port behind the routes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NotRequired, Protocol, TypedDict

from hob.guard.policy.decision_view import DecisionView


class ToolAnswer(TypedDict):
    """A tool.

    group: empty for those that are always shown
    tier: 0 reads, 1 writes, 2 may do harm
    effects: what it does to the world
    """

    name: str
    group: str
    about: str
    tier: int
    effects: list[str]


class WholeToolAnswer(ToolAnswer):
    """A tool, as models and the guard see it.

    roles: which argument is a path, a command, an address
    restart: what becomes of a call that a crash broke off
    timeout: seconds
    output_cap: characters
    bytes: what it takes of a prompt
    """

    schema: dict[str, Any]
    roles: dict[str, Any]
    restart: str
    timeout: float
    output_cap: int
    bytes: int


class ToolTriedAnswer(DecisionView):
    """What the policy said of a call, and what came of it where it was made (`done`).

    told: the decision in words
    """

    told: list[str]
    done: bool
    failed: NotRequired[bool]
    text: NotRequired[str]
    seconds: NotRequired[float]


class PageCallAnswer(DecisionView):
    """What the policy said of a call that a page makes, and what came of it where it was made (`done`).

    told: the decision in words
    tool: what is called, by its name here
    shown: its arguments, as people are shown them
    result: what the server answered, as MCP has it (`CallToolResult`, `ReadResourceResult`); untrusted
    """

    told: list[str]
    tool: str
    shown: str
    done: bool
    result: NotRequired[dict[str, Any]]


class PageCall(NamedTuple):
    """A call that a page of an MCP server makes: of which page, and a tool by the name that the server gave it.

    The tool `resources/read` stands for what the server offers to read.
    """

    page: str
    version: int
    tool: str
    arguments: str
    confirmed: bool


class ToolCatalog(Protocol):
    """Shows tools, and tries them."""

    def all(self) -> Sequence[ToolAnswer]:
        """Every tool, those that are always shown first: its group, and what it does to the world."""

    def one(self, name: str) -> WholeToolAnswer:
        """A tool as models and the guard see it. Raises NotFound."""

    async def test(self, name: str, arguments: str, *, confirmed: bool) -> ToolTriedAnswer:
        """One call as if the owner had asked for it, judged by the policy, and what came of it.

        `arguments` are JSON, or the one that matters most as it is. What the policy asks about is done if it is
        `confirmed`; else nothing is done, and the verdict says so. Raises NotFound, InvalidRequest.
        """

    async def call_for_page(self, page_call: PageCall) -> PageCallAnswer:
        """One call that a page makes, judged as after having read what others wrote, and what came of it.

        Raises NotFound, InvalidRequest where the page may call nothing.
        """


class LazyTools(NamedTuple):
    """Leads to them; loaded when somebody asks."""

    get: Callable[[], ToolCatalog]
