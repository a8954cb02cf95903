"""Policy explanations: the port behind the route."""

from typing import Protocol

from hob.core.values import dataclass
from hob.gateway.http.fields import field
from hob.guard.policy.decision_view import DecisionView
from hob.guard.policy.modes import Autonomy, Mode


class ExplainedAnswer(DecisionView):
    """The policy's decision on a call.

    known: whether such a tool exists; if not, the strictest rules apply
    told: the decision in words
    """

    known: bool
    told: list[str]


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """A call to judge as if it were made for the owner."""

    tool: str = field("the tool", characters=(1, 200))
    arguments: str = field("its arguments as JSON, or the most important one as it is", "")
    tainted: bool = field("whether the turn has read others' content", False)
    mode: Mode | None = field("the session's mode; without one, the default", None)
    autonomy: Autonomy | None = field("the session's autonomy; without one, the default", None)
    words: str = field("the owner's message", "")


class PolicyExplainer(Protocol):
    """Explains whether a call would be allowed, asked about or refused, without making it."""

    async def explain(self, supposed_call: ExplainRequest) -> ExplainedAnswer:
        """Return the decision on this call and the rule that makes it."""
