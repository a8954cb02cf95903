"""Settings of sub-agents."""

from hob.core.settings import setting
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class SubagentSettings:
    """How many sub-agents there may be, and what they may do."""

    max_depth: int = setting(1, "How deep sub-agents may start sub-agents; 0: there are none.", at_least=0, at_most=5)
    max_children: int = setting(5, "Sub-agents of one conversation that may run at once.", at_least=1, at_most=50)
    max_running: int = setting(8, "Sub-agents that may run at once in total; others wait.", at_least=1, at_most=64)
    tools: list[str] = setting([], "Tools that sub-agents may use besides those that only read.")
    model: str = setting("", "The model of sub-agents whose task names none; not set: their conversation's.")
    visibility: str = setting(
        "tree",
        "Conversations a model may read: its own (self), also its sub-agents' (tree), or all.",
        one_of=("self", "tree", "all"),
    )
    archive_minutes: int = setting(60, "Minutes after which an ended sub-agent's conversation is archived.", at_least=0)
