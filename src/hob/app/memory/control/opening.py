"""Construction of the API of the owner's memory."""

from hob.app.memory.control.embedding import OwnerEmbedding
from hob.app.memory.control.facts import OwnerFacts
from hob.app.memory.control.items import OwnerItems
from hob.app.memory.control.selection import OwnerSelection
from hob.app.memory.control.status import OwnerStatus
from hob.app.memory.control.upkeep import OwnerUpkeep
from hob.app.memory.parts import MemoryParts
from hob.gateway.lazy_ports import MemoryControls


def open_controls(parts: MemoryParts) -> MemoryControls:
    """Return all parts of the API."""
    embedding = OwnerEmbedding(parts.embedder)
    selection = OwnerSelection(parts, embedding)
    return MemoryControls(
        OwnerItems(parts, selection, embedding),
        OwnerFacts(parts),
        OwnerUpkeep(parts, selection),
        OwnerStatus(parts, selection, embedding),
        embedding,
    )
