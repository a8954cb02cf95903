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


class LazyTools(NamedTuple):
    """Leads to them; loaded when somebody asks."""

    get: Callable[[], ToolCatalog]
