"""Memory's embedder: the one that `model.embedding` names, each of its calls in the ledger and within the limits."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.app.kernel import CACHE, Kernel
from hob.app.models.catalog import ModelCatalog
from hob.config.loading import Config
from hob.core.content.media import Embeddings
from hob.core.errors import ModelError
from hob.core.ids import SessionKey
from hob.core.ports.media import Embedder
from hob.core.trust.labels import SenderClass
from hob.memory.embedding import MemoryEmbedder
from hob.providers.catalog.catalog import LOCAL
from hob.providers.catalog.prices import open_prices
from hob.providers.local.folder import ModelFolder
from hob.providers.settings import ModelSettings

SESSION = SessionKey("memory:embeddings")
"""Under which the ledger has its calls."""


class CountedEmbedders:
    """Embedders by their names, each made when it is first asked."""

    def __init__(self, kernel: Kernel, stack: AsyncExitStack) -> None:
        config, agent = kernel.config, kernel.config[AgentSettings]
        self._kernel = kernel
        self._stack = stack
        self._settings = config[ModelSettings]
        prices, _ = open_prices(self._settings.prices, kernel.choice, config.home / CACHE, kernel.clock)
        zone = zone_of(agent.timezone)
        limits = config[SpendingSettings]
        self._budget = Budget(limits, kernel.store.ledger, prices, kernel.clock, agent.language, zone)
        self._catalogs: dict[str, ModelCatalog] = {}

    def become(self, config: Config) -> None:
        """Keep to these limits of spending from now on."""
        self._budget.become(config[SpendingSettings])

    def __call__(self, name: str) -> Embedder:
        if name not in self._catalogs:
            settings, kernel = replace(self._settings, embedding=name), self._kernel
            made = ModelCatalog(settings, kernel.choice, self._budget, kernel.clock, SESSION)
            self._stack.push_async_callback(made.aclose)
            self._catalogs[name] = made
        return _Counted(self._catalogs[name])


class _Counted:
    def __init__(self, catalog: ModelCatalog) -> None:
        self._catalog = catalog

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        return await self._catalog.embed(texts, SenderClass.OWNER)


@asynccontextmanager
async def open_embedder(kernel: Kernel) -> AsyncIterator[MemoryEmbedder | None]:
    """None where the owner has named none: then memory finds by words. Nothing is asked before the first text."""
    name = kernel.config[ModelSettings].embedding
    if not name:
        yield None
        return
    async with AsyncExitStack() as stack:
        embedders = CountedEmbedders(kernel, stack)
        stack.enter_context(kernel.signals.settings.heard_by(embedders.become))
        try:
            ref = kernel.choice.resolve(name)
            provider, model = ref.provider, ref.model
        except ModelError:  # every call tells it
            provider, model = "", name
        vectors = kernel.store.memory_vectors
        version = ModelFolder(Path(model).expanduser()).version if provider == LOCAL else None
        yield MemoryEmbedder(embedders(name), provider, model, vectors, kernel.clock, embedders, version)
