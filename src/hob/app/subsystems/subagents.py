"""Sub-agents, and access to other sessions."""

from hob.app.subagents.settings import SubagentSettings
from hob.app.subagents.specs import AGENTS
from hob.app.subsystem import Open, Subsystem
from hob.core.lazy import Lazy


@Lazy
def _open() -> Open:
    from hob.app.subagents.one_shot import open_where_they_run

    return open_where_they_run


SUBAGENTS = Subsystem(
    name="subagents",
    settings={"subagents": SubagentSettings},
    one_shot=True,
    tools=(AGENTS,),
    open=_open,
)
