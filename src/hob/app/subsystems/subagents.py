"""Sub-agents, and what sessions know of each other."""

from hob.app.subagents.settings import SubagentSettings
from hob.app.subsystem import Open, Subsystem, ToolGroup
from hob.core.lazy import Lazy


@Lazy
def _open() -> Open:
    from hob.app.subagents.one_shot import open_where_they_run

    return open_where_they_run


SUBAGENTS = Subsystem(
    name="subagents",
    settings={"subagents": SubagentSettings},
    one_shot=True,
    tools=(
        ToolGroup(
            "agents",
            "sub-agents, other sessions",
            (
                *("spawn", "subagents", "sessions_yield", "sessions_list", "sessions_history", "sessions_search"),
                *("sessions_send", "session_status", "agents_list"),
            ),
        ),
    ),
    open=_open,
)
