"""The services that run turns, made from the kernel and the features. Nothing is started here."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial, reduce
from operator import or_
from typing import Any

from hob.agent.budget.background import BackgroundCalls
from hob.agent.commands.slash_commands import SlashCommands
from hob.agent.turn.driver import Driver
from hob.app.daemon.background_tasks import open_background_tasks
from hob.app.features import Features
from hob.app.followers import FollowerJob
from hob.app.jobs import JobSupervisor
from hob.app.kernel import Kernel
from hob.app.models.catalog import ModelCatalog
from hob.app.operations import DaemonOperations
from hob.app.settings.reload import SettingsReload
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.trust.admission import AdmissionController
from hob.app.trust.auth_failures import AuthFailureLog
from hob.app.trust.lazy_guard import LazyGuard
from hob.app.turn_services.commands import make_commands
from hob.app.turn_services.driver import turn_dependencies
from hob.app.turn_services.guard import make_accept, make_guard
from hob.app.turn_services.models import open_model_services
from hob.app.turn_services.renewal import make_renewal
from hob.app.turn_services.tools import make_registry, open_catalog, restrict_subagents
from hob.bus.accept import Acceptor
from hob.core.lazy import Lazy
from hob.core.ports.guard import Admission
from hob.core.ports.tools import Toolset
from hob.core.values import dataclass
from hob.gateway.tools import ToolCatalog


@dataclass(frozen=True, slots=True)
class TurnServices:
    """The services that accept messages and run turns, complete but not started."""

    driver: Driver
    commands: SlashCommands
    accept: Acceptor
    admission: AdmissionController
    guard: LazyGuard
    operations: DaemonOperations
    model_catalog: ModelCatalog
    reloading: SettingsReload
    tool_runtime: LazyToolRuntime
    attempts: AuthFailureLog
    supervisor: JobSupervisor
    followers: Sequence[FollowerJob]
    prepare: Callable[[], None]
    """Starts the daemon's preparations, before anyone waits for their results."""
    background: BackgroundCalls
    tools: Lazy[ToolCatalog]


@asynccontextmanager
async def open_turn_services(
    kernel: Kernel, features: Features, *, address: str, on_handover: Callable[[], None] | None
) -> AsyncIterator[TurnServices]:
    """Open the turn services. `address` is the API's URL."""
    async with AsyncExitStack() as stack:
        yield await _make_turn_services(stack, kernel, features, address, on_handover)


async def _make_turn_services(
    stack: AsyncExitStack,
    kernel: Kernel,
    features: Features,
    address: str,
    on_handover: Callable[[], None] | None,
) -> TurnServices:
    config, tool_runtime = kernel.config, features.port(LazyToolRuntime)
    supervisor = JobSupervisor(kernel.clock)
    followers = [FollowerJob(each, kernel.store, kernel.clock) for part in features for each in part.followers]
    registry = make_registry(features, kernel.store.open_groups, lambda: operations)
    toolset = restrict_subagents(kernel, features.wrapped(Toolset, registry))
    guard = make_guard(kernel, lambda: reloading.config, tool_runtime, registry, toolset)
    models = await open_model_services(stack, kernel, features)
    background_tasks = await stack.enter_async_context(open_background_tasks())
    driver = Driver(turn_dependencies(kernel, features, models, toolset, guard, background_tasks))
    reloading = SettingsReload(config, kernel.known, kernel.clock, kernel.signals.settings, models.routes.reconfigure)
    views = partial(_feature_status, kernel, features, followers, supervisor)
    operations = DaemonOperations(kernel, features, models, toolset, reloading, views, address, on_handover)
    commands = make_commands(kernel, features, operations, models)
    admission = AdmissionController(
        config, kernel.store, kernel.pairing_service, kernel.clock, kernel.notifier, kernel.channels, kernel.language
    )
    accept = make_accept(kernel, commands, features.wrapped(Admission, admission), guard)

    renew = make_renewal(kernel, models, guard, tool_runtime)
    stack.enter_context(kernel.signals.settings.subscribed(renew))

    def prepare() -> None:
        background_tasks(models.prices.prepare([models.default_model()]))
        background_tasks(kernel.learn_all())
        background_tasks(tool_runtime.tidy())

    return TurnServices(
        driver,
        commands,
        accept,
        admission,
        guard,
        operations,
        models.catalog,
        reloading,
        tool_runtime,
        AuthFailureLog(kernel.store.audit, kernel.clock),
        supervisor,
        followers,
        prepare,
        BackgroundCalls(models.model, models.budget, kernel.clock, models.default_model),
        open_catalog(kernel, registry, tool_runtime, reloading),
    )


async def _feature_status(
    kernel: Kernel, features: Features, followers: Sequence[FollowerJob], supervisor: JobSupervisor
) -> Mapping[str, Any]:
    kept = {each.follower: each.events for each in await kernel.store.followers.quarantined()}
    views = [each.view() for each in followers]
    own = {
        "followers": [{**view, "quarantined": kept.get(view["name"], 0)} for view in views],
        "jobs": supervisor.view(),
    }
    return reduce(or_, [each.status() for each in features if each.status is not None], own)
