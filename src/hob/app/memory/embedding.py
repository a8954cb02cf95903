"""Memory's embedder and reranker, as named by `model.embedding` and `model.reranking`. All calls are recorded in the
ledger and stay within the limits.
"""

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
from hob.memory.retrieval.assistance import Rater
from hob.providers.catalog.catalog import LOCAL
from hob.providers.catalog.prices import open_prices
from hob.providers.local.folder import ModelFolder
from hob.providers.settings import ModelSettings

SESSION, SEARCHES = SessionKey("memory:embeddings"), SessionKey("memory:searches")
"""Session names under which the ledger records their calls."""


class CountedModels:
    """Embedders by name, created on first use, and the reranker."""

    def __init__(self, kernel: Kernel, stack: AsyncExitStack) -> None:
        config, agent = kernel.config, kernel.config[AgentSettings]
        self._kernel = kernel
        self._stack = stack
        self._settings = config[ModelSettings]
        prices, _ = open_prices(self._settings.prices, kernel.choice, config.home / CACHE, kernel.clock)
        zone = zone_of(agent.timezone)
        limits = config[SpendingSettings]
        self._budget = Budget(limits, kernel.store.ledger, prices, kernel.clock, agent.language, zone)
        self._catalogs: dict[tuple[str, SessionKey], ModelCatalog] = {}

    def reconfigure(self, config: Config) -> None:
        """Apply changed spending limits."""
        self._budget.reconfigure(config[SpendingSettings])

    def __call__(self, name: str) -> Embedder:
        return _Counted(self._catalog(name, SESSION))

    def rater(self) -> Rater | None:
        """Return the configured reranker, or None."""
        settings = self._settings
        return _CountedRater(self._catalog(settings.embedding, SEARCHES)) if settings.reranking else None

    def _catalog(self, name: str, session: SessionKey) -> ModelCatalog:
        if (name, session) not in self._catalogs:
            settings, kernel = replace(self._settings, embedding=name), self._kernel
            made = ModelCatalog(settings, kernel.choice, self._budget, kernel.clock, session)
            self._stack.push_async_callback(made.aclose)
            self._catalogs[name, session] = made
        return self._catalogs[name, session]


class _Counted:
    def __init__(self, catalog: ModelCatalog) -> None:
        self._catalog = catalog

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        return await self._catalog.embed(texts, SenderClass.OWNER)


class _CountedRater:
    def __init__(self, catalog: ModelCatalog) -> None:
        self._catalog = catalog

    async def rate(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return (await self._catalog.rerank(question, texts, SenderClass.OWNER)).scores


@asynccontextmanager
async def open_models(kernel: Kernel) -> AsyncIterator[tuple[MemoryEmbedder | None, Rater | None]]:
    """Open the configured models; None for each that is not configured. Nothing is called before the first text."""
    settings = kernel.config[ModelSettings]
    if not settings.embedding and not settings.reranking:
        yield None, None
        return
    async with AsyncExitStack() as stack:
        models, name = CountedModels(kernel, stack), settings.embedding
        stack.enter_context(kernel.signals.settings.subscribed(models.reconfigure))
        if not name:
            yield None, models.rater()
            return
        try:
            ref = kernel.choice.resolve(name)
            provider, model = ref.provider, ref.model
        except ModelError:  # every call reports it
            provider, model = "", name
        vectors = kernel.store.memory_vectors
        version = ModelFolder(Path(model).expanduser()).version if provider == LOCAL else None
        embedder = MemoryEmbedder(models(name), provider, model, vectors, kernel.clock, models, version)
        yield embedder, models.rater()
