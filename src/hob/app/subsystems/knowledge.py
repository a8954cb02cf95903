"""An external knowledge engine, if the owner has named one."""

from hob.app.mcp.port import McpTools
from hob.app.subsystem import Open, Subsystem
from hob.core.lazy import Lazy
from hob.memory.knowledge.settings import KnowledgeSettings


@Lazy
def _open() -> Open:
    from hob.app.memory.knowledge import open_knowledge

    return open_knowledge


KNOWLEDGE = Subsystem(
    name="knowledge", settings={"knowledge": KnowledgeSettings}, needs=(McpTools,), one_shot=True, open=_open
)
