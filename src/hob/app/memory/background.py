"""Construction of memory's background work and its token budget."""

from collections.abc import Callable, Sequence
from functools import partial

from hob.agent.budget.limits import start_of_today
from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.app.kernel import Kernel
from hob.bus.waiting import backoff, wait_for_event
from hob.core.memory import Fact, Scope
from hob.memory.background import BackgroundMemory
from hob.memory.background_model import BackgroundBudget, BackgroundModel
from hob.memory.expertise import ExpertiseKeeper
from hob.memory.facts.contradictions import Reconciler
from hob.memory.facts.extractor import FactExtractor
from hob.memory.observations.consolidation import Consolidator
from hob.memory.observations.observer import Observer
from hob.memory.service import MemoryService
from hob.memory.settings import MemorySettings


def make_budget(kernel: Kernel) -> BackgroundBudget:
    """Return the shared token budget of all background work."""
    zone = zone_of(kernel.config[AgentSettings].timezone)
    tokens = kernel.config[MemorySettings].background_tokens
    return BackgroundBudget(tokens, kernel.store.ledger, kernel.clock, partial(start_of_today, timezone=zone))


def make_background(
    kernel: Kernel,
    service: MemoryService,
    budget: BackgroundBudget,
    made: Callable[[], None],
    expertise: ExpertiseKeeper,
) -> BackgroundMemory:
    """Return the background work; `made` is called when there are new items."""

    def remembered(scope: Scope, facts: Sequence[Fact]) -> None:
        service.remembered(scope, facts)
        made()

    store, clock = kernel.store, kernel.clock
    extractor = FactExtractor(store.facts, store.goals, store.memory_work, budget, clock, remembered)
    observer = Observer(store.memory_work, budget, kernel.config[MemorySettings], clock, made)
    consolidator = Consolidator(store.memory_work, budget, kernel.config[MemorySettings], clock, made)

    async def count(_: BackgroundModel) -> None:
        await expertise.count()

    steps = (extractor.step, Reconciler(store.facts).step, observer.step, consolidator.step, count)
    return BackgroundMemory(steps, budget, clock, wait_for_event, backoff)
