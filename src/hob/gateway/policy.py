"""What the policy would say: the port behind the route."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from hob.guard.policy.decision_view import DecisionView


class ExplainedAnswer(DecisionView):
    """What the policy would say of a call.

    known: whether there is such a tool; else the strictest rules hold
    told: the same in words
    """

    known: bool
    told: list[str]


class SupposedCall(NamedTuple):
    """A call of a tool in a turn of the owner's. `arguments` are JSON, or the one that matters most as it is."""

    tool: str
    arguments: str = ""
    tainted: bool = False
    mode: str = ""
    autonomy: str = ""
    words: str = ""


class PolicyExplainer(Protocol):
    """Says what would be allowed, asked about or refused; does nothing."""

    async def explain(self, supposed_call: SupposedCall) -> ExplainedAnswer:
        """What would be said of this call, and by which rule."""


class LazyPolicy(NamedTuple):
    """Leads to it; loaded when somebody asks."""

    get: Callable[[], PolicyExplainer]
