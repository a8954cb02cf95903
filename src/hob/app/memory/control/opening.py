"""Construction of the API of the owner's memory."""

from collections.abc import Callable, Mapping
from typing import Any

from hob.app.kernel import Kernel
from hob.app.memory.control.embedding import OwnerEmbedding
from hob.app.memory.control.facts import OwnerFacts
from hob.app.memory.control.items import OwnerItems
from hob.app.memory.control.selection import OwnerSelection
from hob.app.memory.control.status import OwnerStatus
from hob.app.memory.control.upkeep import OwnerUpkeep
from hob.app.memory.documents import DocumentIndexer
from hob.gateway.lazy_ports import MemoryControls
from hob.memory.background_model import BackgroundBudget
from hob.memory.embedding import MemoryEmbedder
from hob.memory.expertise import ExpertiseKeeper
from hob.memory.facts.editor import FactEditor
from hob.memory.retrieval.assistance import Assistance
from hob.memory.service import MemoryService


def open_controls(
    kernel: Kernel,
    service: MemoryService,
    documents: DocumentIndexer,
    editor: FactEditor,
    embedder: MemoryEmbedder | None,
    assistance: Assistance | None,
    budget: BackgroundBudget,
    expertise: ExpertiseKeeper,
    reread_files: Callable[[], None],
    er1: Callable[[], Mapping[str, Any]] | None,
) -> MemoryControls:
    """Return all parts of the API."""
    store, clock = kernel.store, kernel.clock
    embedding = OwnerEmbedding(embedder)
    selection = OwnerSelection(store, service, embedding, kernel.layers)
    return MemoryControls(
        OwnerItems(store, service, selection, documents, embedding, assistance),
        OwnerFacts(store, editor, clock),
        OwnerUpkeep(store, service, selection, documents, editor, embedding, reread_files, clock, kernel.config.home),
        OwnerStatus(store, service, selection, documents, budget, expertise, embedding, er1),
        embedding,
    )
