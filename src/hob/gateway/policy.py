"""What the policy would say: the port behind the route."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from hob.core.values import dataclass
from hob.gateway.http.fields import field
from hob.guard.policy.decision_view import DecisionView
from hob.guard.policy.modes import Autonomy, Mode


class ExplainedAnswer(DecisionView):
    """What the policy would say of a call.

    known: whether there is such a tool; else the strictest rules hold
    told: the same in words
    """

    known: bool
    told: list[str]


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """A call that somebody would make for the owner."""

    tool: str = field("the tool", characters=(1, 200))
    arguments: str = field("its arguments as JSON, or the one that matters most as it is", "")
    tainted: bool = field("the turn has read what others wrote", False)
    mode: Mode | None = field("the session's mode; without it the usual one", None)
    autonomy: Autonomy | None = field("how much it does without asking; without it the usual", None)
    words: str = field("what the owner has written", "")


class PolicyExplainer(Protocol):
    """Says what would be allowed, asked about or refused; does nothing."""

    async def explain(self, supposed_call: ExplainRequest) -> ExplainedAnswer:
        """What would be said of this call, and by which rule."""


class LazyPolicy(NamedTuple):
    """Leads to it; loaded when somebody asks."""

    get: Callable[[], PolicyExplainer]
