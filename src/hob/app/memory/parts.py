"""What the API of the owner's memory works with."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hob.app.kernel import Kernel
from hob.app.memory.documents import DocumentIndexer
from hob.core.values import dataclass
from hob.memory.background_model import BackgroundBudget
from hob.memory.embedding import MemoryEmbedder
from hob.memory.expertise import ExpertiseKeeper
from hob.memory.facts.editor import FactEditor
from hob.memory.retrieval.assistance import Assistance
from hob.memory.service import MemoryService


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """The parts of an open memory. `reread_files` indexes the owner's files again; `notify` reports new items."""

    kernel: Kernel
    service: MemoryService
    documents: DocumentIndexer
    editor: FactEditor
    embedder: MemoryEmbedder | None
    assistance: Assistance | None
    budget: BackgroundBudget
    expertise: ExpertiseKeeper
    reread_files: Callable[[], Awaitable[None]]
    notify: Callable[[], None]
    er1: Callable[[], Mapping[str, Any]] | None
    """The status of the ER1 connection, if there is one."""
