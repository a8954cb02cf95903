"""The services that run turns and serve the API, made from the kernel and the features. Nothing is started here."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from typing import Any

from hob.agent.budget.background import BackgroundCalls
from hob.agent.budget.limits import SpendingSettings
from hob.agent.commands.permission_modes import PermissionLevel, PermissionModes
from hob.agent.commands.slash_commands import CommandCall, Perform, SlashCommands
from hob.agent.commands.table import ANSWERS, BY_NAME, SlashCommand
from hob.agent.settings import AgentSettings
from hob.agent.turn.dependencies import TurnDependencies
from hob.agent.turn.driver import Driver
from hob.agent.turn.hooks import Hooks
from hob.app.daemon.background_tasks import BackgroundTasks, open_background_tasks
from hob.app.features import Features
from hob.app.followers import FollowerJob
from hob.app.jobs import JobSupervisor
from hob.app.kernel import Kernel
from hob.app.models.catalog import ModelCatalog
from hob.app.operations import DaemonOperations
from hob.app.settings.reload import SettingsReload
from hob.app.subsystem import FeatureCommand
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.trust.admission import AdmissionController
from hob.app.trust.auth_failures import AuthFailureLog
from hob.app.trust.lazy_guard import LazyGuard, load_guard
from hob.app.turn_services.models import ModelServices, open_model_services
from hob.app.turn_services.tools import make_registry, open_catalog, restrict_subagents
from hob.bus.accept import Acceptor
from hob.config.loading import Config
from hob.core.errors import NotConfigured
from hob.core.lazy import Lazy
from hob.core.ports.accept import Accept
from hob.core.ports.guard import Admission, Judge
from hob.core.ports.journal import Journal
from hob.core.ports.tools import Toolset
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.gateway.api import Api
from hob.gateway.settings import GatewaySettings
from hob.gateway.tools import ToolCatalog
from hob.guard.approvals.answers import may_answer
from hob.guard.policy.modes import Autonomy, Mode
from hob.guard.screening.masking.logs import mask_personal
from hob.guard.screening.masking.masked_ports import MaskedAdmission
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.tools.registry.groups import Groups
from hob.workspace.settings import WorkspaceSettings


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
    registry = make_registry(kernel, features, lambda: operations)
    toolset = restrict_subagents(kernel, features.wrapped(Toolset, registry))
    guard = _make_guard(kernel, lambda: reloading.config, tool_runtime, registry, toolset)
    models = await open_model_services(stack, kernel, features)
    background_tasks = await stack.enter_async_context(open_background_tasks())
    driver = Driver(_turn_dependencies(kernel, features, models, toolset, guard, background_tasks))
    reloading = SettingsReload(config, kernel.known, kernel.clock, kernel.signals.settings, models.routes.reconfigure)
    views = partial(_feature_status, kernel, features, followers, supervisor)
    operations = DaemonOperations(kernel, features, models, toolset, reloading, views, address, on_handover)
    commands = _make_commands(kernel, features, operations, models)
    admission = AdmissionController(
        config, kernel.store, kernel.pairing_service, kernel.clock, kernel.notifier, kernel.channels, kernel.language
    )
    accept = _make_accept(kernel, commands, features.wrapped(Admission, admission), guard)

    renew = _make_renewal(kernel, models, guard, tool_runtime, commands)
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
        AuthFailureLog(kernel.store.audit, kernel.store.timeline, kernel.clock),
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


def _make_guard(
    kernel: Kernel,
    config: Callable[[], Config],
    tool_runtime: LazyToolRuntime,
    registry: Groups,
    toolset: Toolset,
) -> LazyGuard:
    """Make the guard, which loads when the first call is judged."""
    known = kernel.known
    return LazyGuard(
        kernel.store,
        lambda: load_guard()(
            config(),
            kernel.store,
            kernel.session_queues,
            tool_runtime.made(),
            kernel.clock,
            specs=lambda: {**registry.named(), **{spec.name: spec for spec in toolset.specs()}},
            language=kernel.language,
            secrets=lambda text: ("a known secret",) if known(text) != text else (),
            identity=kernel.files.load,
            people=kernel.pairing_service.people,
            notifier=kernel.notifier,
        ),
    )


def _make_accept(kernel: Kernel, commands: SlashCommands, admission: Admission, guard: LazyGuard) -> Acceptor:
    """Make the acceptor of messages, with admission, approvals and commands."""
    queues = kernel.session_queues
    return Acceptor(
        queues.context,
        commands=commands,
        admission=MaskedAdmission(admission, kernel.known),
        arrived=queues.arrived,
        adopt=queues.adopt if kernel.one_shot else None,
        questions=guard,
    )


def _turn_dependencies(
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
        unawaited=store.subagents.unawaited,
        mask=kernel.known,
        mask_personal=mask_personal,
    )


def _make_renewal(
    kernel: Kernel, models: ModelServices, guard: LazyGuard, tool_runtime: LazyToolRuntime, commands: SlashCommands
) -> Callable[[Config], None]:
    """Return the callback that applies changed settings."""
    workspace, policy = kernel.config[WorkspaceSettings], kernel.config[PolicySettings]

    def renew(new: Config) -> None:
        nonlocal workspace, policy
        if policy != new[PolicySettings]:
            policy = new[PolicySettings]
            commands.reconfigure(_make_permission_modes(new))
            guard.renew()
        if workspace.work != new[WorkspaceSettings].work:
            workspace = new[WorkspaceSettings]
            tool_runtime.reconfigure(new)
            guard.renew()
        models.routes.refresh()
        models.budget.reconfigure(new[SpendingSettings])
        guard.reconfigure(new[ApprovalSettings])
        kernel.keyring.forget()

    return renew


def _make_commands(
    kernel: Kernel, features: Features, operations: DaemonOperations, models: ModelServices
) -> SlashCommands:
    """Make the slash commands of Hob and its features. Raises NotConfigured if names clash."""
    config = kernel.config
    home, sessions = kernel.session_queues.context.routing.session_of, kernel.store.sessions
    return SlashCommands(
        operations, sessions, models.budget, kernel.clock, config[AgentSettings], models.default_model,
        models.model,
        _make_permission_modes(config), home, _feature_commands(kernel, features),
    )  # fmt: skip


def _make_permission_modes(config: Config) -> PermissionModes:
    policy, channels = config[PolicySettings], config[ApprovalSettings].channels
    return PermissionModes(
        PermissionLevel(tuple(Mode), policy.mode),
        PermissionLevel(tuple(Autonomy), policy.autonomy),
        lambda inbound: may_answer(inbound, channels),
    )


def _feature_commands(kernel: Kernel, features: Features) -> Mapping[SlashCommand, Perform]:
    """Return the features' commands with their handlers. Raises NotConfigured if a name is already used."""
    found: dict[str, tuple[SlashCommand, Perform]] = {}
    for subsystem, _ in features.opened.values():
        here = replace(kernel, ports={port: features.ports[port] for port in subsystem.needs})
        for command in subsystem.slash_commands:
            if command.row.name in (*BY_NAME, *ANSWERS, *found):
                raise NotConfigured(
                    translatable(
                        "{subsystem} brings /{row}, which is there already",
                        subsystem=subsystem.name,
                        row=command.row.name,
                    )
                )
            found[command.row.name] = (command.row, partial(_run_command, command, here))
    return dict(found.values())


async def _run_command(command: FeatureCommand, kernel: Kernel, call: CommandCall) -> str:
    return await command.run()(kernel, call)


def make_api(kernel: Kernel, features: Features, services: TurnServices, accept: Accept, dashboard: str = "") -> Api:
    """Collect what the routes need."""
    config = kernel.config
    return Api(
        accept,
        kernel.store,
        kernel.hub,
        services.operations,
        config[GatewaySettings],
        kernel.clock,
        kernel.keyring,
        kernel.pairing_service,
        services.guard.approving,
        services.model_catalog,
        kernel.known,
        services.attempts,
        {**features.ports, ToolCatalog: services.tools},
        dashboard=dashboard,
        views=[
            {"name": view.name, "title": view.title, "asks": list(view.asks)}
            for subsystem, _ in features.opened.values()
            for view in subsystem.views
        ],
    )
