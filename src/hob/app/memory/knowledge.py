"""The external knowledge engine as a subsystem."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.app.mcp.port import McpTools
from hob.memory.knowledge.settings import KnowledgeSettings


@asynccontextmanager
async def open_knowledge(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Open the knowledge engine as a source of `recall`, if one is configured."""
    settings = kernel.config[KnowledgeSettings]
    if not settings.url and not settings.tool:
        yield Contribution()
        return
    # loads an HTTP library
    from hob.memory.knowledge.engine import KnowledgeEngine

    engine = KnowledgeEngine(settings, kernel.port(McpTools).find_tool)

    def status() -> Mapping[str, Any]:
        return {"knowledge": {"url": settings.url, "tool": settings.tool, "problem": engine.problem}}

    yield Contribution(recall=(engine,), status=status)
