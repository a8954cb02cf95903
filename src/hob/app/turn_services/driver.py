"""The dependencies of the turn driver."""

from hob.agent.settings import AgentSettings
from hob.agent.turn.dependencies import TurnDependencies
from hob.agent.turn.hooks import Hooks
from hob.app.daemon.background_tasks import BackgroundTasks
from hob.app.features import Features
from hob.app.kernel import Kernel
from hob.app.trust.lazy_guard import LazyGuard
from hob.app.turn_services.models import ModelServices
from hob.core.ports.guard import Judge
from hob.core.ports.journal import Journal
from hob.core.ports.tools import Toolset
from hob.guard.screening.masking.logs import mask_personal


def turn_dependencies(
    kernel: Kernel,
    features: Features,
    models: ModelServices,
    toolset: Toolset,
    guard: LazyGuard,
    background_tasks: BackgroundTasks,
) -> TurnDependencies:
    """Collect the driver's dependencies from the kernel, the features and the services."""
    store, settings = kernel.store, kernel.config[AgentSettings]
    hooks = [hook for each in features for hook in each.hooks]
    return TurnDependencies(
        model=models.model,
        journal=features.wrapped(Journal, store.journal),
        transcript=store.transcript,
        sessions=store.sessions,
        toolset=toolset,
        judge=features.wrapped(Judge, guard),
        approvals=guard,
        late_results=store.late_results,
        prompts=models.prompts,
        notices=kernel.hub,
        budget=models.budget,
        blobs=store.blobs,
        clock=kernel.clock,
        hooks=Hooks(hooks, kernel.clock, settings.hook_seconds),
        # the terminal and the API accept replies of any length
        limit_of=lambda address: kernel.channels.limit_of(address) or 10_000_000,
        background_tasks=background_tasks,
        settings=settings,
        default_model=models.default_model,
        compactor=models.compactor,
        context_room=models.room,
        transcribe=models.catalog.transcribe,
        mask=kernel.known,
        mask_personal=mask_personal,
    )
