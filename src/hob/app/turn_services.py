"""The turn services: what turns are made with, over the kernel and the features. They begin nothing."""

from collections import ChainMap
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import Any, cast

from hob.agent.budget.background import BackgroundCalls
from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.agent.commands.inspection import Inspector
from hob.agent.commands.permission_modes import PermissionLevel, PermissionModes
from hob.agent.commands.slash_commands import CommandCall, Perform, SlashCommands
from hob.agent.commands.table import ANSWERS, BY_NAME, SlashCommand
from hob.agent.compaction.compaction import Compactor
from hob.agent.ports import TurnMemory
from hob.agent.prompt.builder import PromptBuilder
from hob.agent.prompt.context_room import ContextRoom
from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.agent.turn.dependencies import TurnDependencies
from hob.agent.turn.driver import Driver
from hob.agent.turn.hooks import Hooks
from hob.app.daemon.background_tasks import BackgroundTasks, open_background_tasks
from hob.app.features import Features
from hob.app.followers import FollowerJob
from hob.app.jobs import JobSupervisor
from hob.app.kernel import CACHE, Kernel
from hob.app.maintenance.reload import SettingsReload
from hob.app.maintenance.sessions import OwnerSessions
from hob.app.models.catalog import ModelCatalog, open_model_catalog
from hob.app.models.usage_report import UsageReport
from hob.app.operations import DaemonOperations
from hob.app.settings_sections import read_config
from hob.app.subagents.sessions import SubagentTools, depth_of
from hob.app.subagents.settings import SubagentSettings
from hob.app.subsystem import FeatureCommand
from hob.app.tools.gateway_tools import LINE, GatewayTools
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.trust.admission import AdmissionController
from hob.app.trust.auth_failures import AuthFailureLog
from hob.app.trust.lazy_guard import LazyGuard, load_guard
from hob.bus.accept import Acceptor
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.errors import ModelError, NotConfigured
from hob.core.ids import SessionKey
from hob.core.lazy import Lazy
from hob.core.ports.accept import Accept
from hob.core.ports.guard import Admission, Judge
from hob.core.ports.journal import Journal
from hob.core.ports.model import Model, Prices
from hob.core.ports.tools import Toolset
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.gateway.api import Api
from hob.gateway.settings import GatewaySettings
from hob.gateway.tools import LazyTools, ToolCatalog
from hob.guard.admission.pairing import PairingService
from hob.guard.approvals.answers import may_answer
from hob.guard.policy.modes import Autonomy, Mode
from hob.guard.screening.masking.logs import mask_personal
from hob.guard.screening.masking.masked_ports import MaskedAdmission
from hob.guard.screening.masking.models import masked_model
from hob.guard.screening.model_calls.screening import ModelScreening
from hob.guard.screening.model_calls.settings import PromptGuardSettings, SanitizerSettings
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.providers.catalog.prices import ModelProfiles, open_prices
from hob.providers.opening import open_model
from hob.providers.routing.choice import Choice
from hob.providers.routing.classifier_settings import ClassifierSettings
from hob.providers.routing.routing import ModelRouter
from hob.providers.settings import ModelSettings
from hob.store.erasure.erasure import Erasure
from hob.store.store import Store
from hob.tools.memory.remember import FurtherMemories
from hob.tools.registry.default_set import SelectedTools
from hob.tools.registry.groups import Group, Groups
from hob.workspace.settings import WorkspaceSettings


@dataclass(frozen=True, slots=True)
class _Thinking:
    """What asks models, and what the driver and the commands share of it."""

    routes: ModelRouter
    model: Model
    prices: Prices
    default_model: Callable[[], str]
    room: ContextRoom
    prompts: PromptBuilder
    budget: Budget
    compactor: Compactor
    catalog: ModelCatalog


@dataclass(frozen=True, slots=True)
class TurnServices:
    """What runs turns and lets messages in, whole and at rest."""

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
    """Begins what a daemon does before anybody waits for it."""
    background: BackgroundCalls
    tools: LazyTools


async def make_turn_services(
    stack: AsyncExitStack,
    kernel: Kernel,
    features: Features,
    *,
    address: str,
    on_hand_over: Callable[[], None] | None,
) -> TurnServices:
    """What they hold open is closed with the stack. `address` is where the API can be reached, `hob.sock` apart."""
    config, tool_runtime = kernel.config, features.port(LazyToolRuntime)
    supervisor = JobSupervisor(kernel.clock)
    followers = [FollowerJob(each, kernel.store, kernel.clock) for part in features for each in part.followers]
    registry = _make_registry(features, tool_runtime, lambda: operations)
    toolset = _restricted(kernel, features.wrapped(Toolset, registry))
    guard = _make_guard(kernel, lambda: reloading.config, tool_runtime, registry, toolset)
    thinking = await _open_thinking(stack, kernel, features)
    background_tasks = await stack.enter_async_context(open_background_tasks())
    driver = Driver(_parts(kernel, features, thinking, toolset, guard, background_tasks))
    reloading = SettingsReload(config, kernel.known, kernel.clock, kernel.signals.settings, thinking.routes.become)
    views = partial(_views, kernel, features, followers, supervisor)
    operations = _make_operations(kernel, features, views, thinking, toolset, reloading, address, on_hand_over)
    commands = _make_commands(kernel, features, operations, thinking)
    admission = AdmissionController(
        config, kernel.store, kernel.pairing_service, kernel.clock, kernel.notifier, kernel.channels, kernel.language
    )
    accept = _make_accept(kernel, commands, features.wrapped(Admission, admission), guard)

    renew = _renewing(kernel, thinking, guard, tool_runtime)
    stack.enter_context(kernel.signals.settings.heard_by(renew))

    def prepare() -> None:
        background_tasks(thinking.prices.prepare([thinking.default_model()]))
        background_tasks(kernel.learn_all())
        background_tasks(tool_runtime.tidy())

    return TurnServices(
        driver,
        commands,
        accept,
        admission,
        guard,
        operations,
        thinking.catalog,
        reloading,
        tool_runtime,
        AuthFailureLog(kernel.store.audit, kernel.clock),
        supervisor,
        followers,
        prepare,
        BackgroundCalls(thinking.model, thinking.budget, kernel.clock, thinking.default_model),
        LazyTools(partial(_open_catalog, kernel, registry, tool_runtime, reloading)),
    )


def _open_catalog(
    kernel: Kernel, tools: Groups, tool_runtime: LazyToolRuntime, settings: SettingsReload
) -> ToolCatalog:
    return _tool_catalog()(settings.config, tools, tool_runtime, kernel.store, kernel.known)


def _renewing(
    kernel: Kernel, thinking: _Thinking, guard: LazyGuard, tool_runtime: LazyToolRuntime
) -> Callable[[Config], None]:
    """What is told of settings that changed while Hob runs."""
    workspace = kernel.config[WorkspaceSettings]

    def renew(new: Config) -> None:
        nonlocal workspace
        if workspace.work != new[WorkspaceSettings].work:
            workspace = new[WorkspaceSettings]
            tool_runtime.become(new)
            guard.renew()
        thinking.routes.look_again()
        thinking.budget.become(new[SpendingSettings])
        guard.become(new[ApprovalSettings])
        kernel.keyring.forget()

    return renew


def _restricted(kernel: Kernel, toolset: Toolset) -> Toolset:
    """Sub-agents have fewer tools; where there is no daemon, there are no sub-agents."""
    settings = kernel.config[SubagentSettings]
    return toolset if kernel.one_shot else SubagentTools(toolset, settings.tools, settings.max_depth)


def _make_accept(kernel: Kernel, commands: SlashCommands, admission: Admission, guard: LazyGuard) -> Acceptor:
    queues = kernel.session_queues
    return Acceptor(
        queues.context,
        commands=commands,
        admission=MaskedAdmission(admission, kernel.known),
        arrived=queues.arrived,
        adopt=queues.adopt if kernel.one_shot else None,
        questions=guard,
    )


async def _views(
    kernel: Kernel, features: Features, followers: Sequence[FollowerJob], supervisor: JobSupervisor
) -> Mapping[str, Any]:
    kept = {each.follower: each.events for each in await kernel.store.followers.quarantined()}
    views = [each.view() for each in followers]
    own = {
        "followers": [{**view, "quarantined": kept.get(view["name"], 0)} for view in views],
        "jobs": supervisor.view(),
    }
    return reduce(or_, [each.status() for each in features if each.status is not None], own)


def _make_registry(
    features: Features, tool_runtime: LazyToolRuntime, operations: Callable[[], DaemonOperations]
) -> Groups:
    """Hob's own tools, and a group for each that features declare. Raises NotConfigured where names clash."""
    declared = {
        group.name: Group(group.line, SelectedTools(contribution.toolsets, group.tools))
        for subsystem, contribution in features.opened.values()
        for group in subsystem.tools
    } | {"gateway": Group(LINE, GatewayTools(operations).toolset)}
    later = [
        cast(dict[str, Group], contribution.tool_groups)
        for contribution in features
        if contribution.tool_groups is not None
    ]
    groups, sources = ChainMap(declared, *later), [each for contribution in features for each in contribution.recall]
    try:
        return tool_runtime.groups.extended(groups, partial(FurtherMemories, sources=sources) if sources else None)
    except ValueError as error:
        raise NotConfigured(translatable("the tools of features clash: {error}", error=str(error))) from error


def _make_guard(
    kernel: Kernel,
    config: Callable[[], Config],
    tool_runtime: LazyToolRuntime,
    registry: Groups,
    toolset: Toolset,
) -> LazyGuard:
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


async def _open_thinking(stack: AsyncExitStack, kernel: Kernel, features: Features) -> _Thinking:
    config, store, clock, salt = kernel.config, kernel.store, kernel.clock, kernel.salt
    models, settings, cache = config[ModelSettings], config[AgentSettings], config.home / CACHE
    prices, table = open_prices(models.prices, kernel.choice, cache, clock)
    profiles = ModelProfiles(kernel.choice, table)
    screening = ModelScreening(config[PromptGuardSettings], config[SanitizerSettings], salt)
    opened = open_model(
        models,
        clock,
        choice=kernel.choice,
        blobs=store.blobs,
        profiles=profiles,
        screening=screening,
        classifier=config[ClassifierSettings],
        folder=cache,
        processes=kernel.processes,
        silence=settings.idle_seconds * 0.75,  # before the turn itself gives up
        changed=(prices.become, profiles.become),
    )
    routes = await stack.enter_async_context(opened)
    model = masked_model(features.wrapped(Model, routes), kernel.known)
    room = ContextRoom(profiles, store.channel_state)
    await room.load(clock.now().timestamp())
    limits, zone = config[SpendingSettings], zone_of(settings.timezone)
    budget = Budget(limits, store.ledger, prices, clock, settings.language, zone, partial(_payer, store))
    sections, memory = [section for each in features for section in each.prompt_sections], features.port(TurnMemory)
    prompts = PromptBuilder(
        settings,
        clock,
        kernel.files,
        memory,
        salt=salt,
        context_room=room,
        notes=store.working_notes,
        sections=sections,
    )
    compactor = Compactor(
        settings, model=model, transcript=store.transcript, budget=budget, clock=clock, salt=salt, context_room=room
    )
    catalog = await stack.enter_async_context(open_model_catalog(models, kernel.choice, budget, clock))
    return _Thinking(
        routes, model, prices, partial(_usual_model, kernel.choice), room, prompts, budget, compactor, catalog
    )


def _parts(
    kernel: Kernel,
    features: Features,
    thinking: _Thinking,
    toolset: Toolset,
    guard: LazyGuard,
    background_tasks: BackgroundTasks,
) -> TurnDependencies:
    store, settings = kernel.store, kernel.config[AgentSettings]
    hooks = [hook for each in features for hook in each.hooks]
    return TurnDependencies(
        model=thinking.model,
        journal=features.wrapped(Journal, store.journal),
        transcript=store.transcript,
        sessions=store.sessions,
        toolset=toolset,
        judge=features.wrapped(Judge, guard),
        approvals=guard,
        late_results=store.late_results,
        prompts=thinking.prompts,
        notices=kernel.hub,
        budget=thinking.budget,
        blobs=store.blobs,
        clock=kernel.clock,
        hooks=Hooks(hooks, kernel.clock, settings.hook_seconds),
        # the terminal and the API take a reply of any length in one piece
        limit_of=lambda address: kernel.channels.limit_of(address) or 10_000_000,
        background_tasks=background_tasks,
        settings=settings,
        default_model=thinking.default_model,
        compactor=thinking.compactor,
        context_room=thinking.room,
        transcribe=thinking.catalog.transcribe,
        mask=kernel.known,
        mask_personal=mask_personal,
    )


def erasure_of(kernel: Kernel, features: Features) -> Erasure:
    """The store's, with what features keep elsewhere."""
    return kernel.store.erasure.with_keepers([each.erase for each in features if each.erase is not None])


def _make_operations(
    kernel: Kernel,
    features: Features,
    views: Callable[[], Awaitable[Mapping[str, Any]]],
    thinking: _Thinking,
    toolset: Toolset,
    reloading: SettingsReload,
    address: str,
    on_hand_over: Callable[[], None] | None,
) -> DaemonOperations:
    config, store, clock = kernel.config, kernel.store, kernel.clock
    tool_runtime = features.port(LazyToolRuntime)
    erasure = erasure_of(kernel, features)

    async def probe(name: str, draft: str) -> Mapping[str, Any]:
        here = config if kernel.one_shot else read_config()  # its file may have changed
        return await _probe()(here, thinking.budget, clock, name, draft)

    async def erase(who: str, preview: bool) -> Mapping[str, Any]:
        return await _erase_person()(store, erasure, kernel.pairing_service, config.home, who, preview)

    async def replay(id: str, model: str) -> Mapping[str, Any]:
        return await _replay()(store, thinking.model, thinking.routes.routes, thinking.budget, clock)(id, model)

    return DaemonOperations(
        kernel,
        thinking.compactor,
        Inspector(
            config[AgentSettings], thinking.prompts, store.transcript, store.sessions, toolset, thinking.default_model,
            thinking.model,
        ),
        UsageReport(store.ledger, thinking.budget, clock),
        probe,
        thinking.routes,
        tool_runtime,
        OwnerSessions(store, erasure, kernel.session_queues),
        erase,
        replay,
        reloading,
        views,
        address,
        on_hand_over,
    )  # fmt: skip


async def _payer(store: Store, session: SessionKey) -> SessionKey:
    """What a sub-agent spends is its root's."""
    row = await store.subagents.spawned_as(session) if depth_of(session) else None
    return session if row is None else row.root


@Lazy
def _probe() -> Callable[[Config, Budget, Clock, str, str], Awaitable[Mapping[str, Any]]]:
    from hob.app.models.probe import probe_model

    return probe_model


@Lazy
def _tool_catalog() -> Callable[..., ToolCatalog]:
    from hob.app.tools.catalog import open_tool_catalog

    return open_tool_catalog


@Lazy
def _replay() -> Callable[..., Callable[[str, str], Awaitable[Mapping[str, Any]]]]:
    from hob.app.replay.replay import TurnReplay

    return TurnReplay


@Lazy
def _erase_person() -> Callable[[Store, Erasure, PairingService, Path, str, bool], Awaitable[Mapping[str, Any]]]:
    from hob.app.maintenance.person_erasure import erase_person

    return erase_person


def _make_commands(
    kernel: Kernel, features: Features, operations: DaemonOperations, thinking: _Thinking
) -> SlashCommands:
    config = kernel.config
    policy, channels = config[PolicySettings], config[ApprovalSettings].channels
    permission_modes = PermissionModes(
        PermissionLevel(tuple(Mode), policy.mode),
        PermissionLevel(tuple(Autonomy), policy.autonomy),
        lambda inbound: not may_answer(inbound, channels),
    )
    home, sessions = kernel.session_queues.context.routing.session_of, kernel.store.sessions
    return SlashCommands(
        operations, sessions, thinking.budget, kernel.clock, config[AgentSettings], thinking.default_model,
        thinking.model,
        permission_modes, home, _commands_of(kernel, features),
    )  # fmt: skip


def _commands_of(kernel: Kernel, features: Features) -> Mapping[SlashCommand, Perform]:
    """What answers the commands of features. Raises NotConfigured for one that is there already."""
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
            found[command.row.name] = (command.row, partial(_perform, command, here))
    return dict(found.values())


async def _perform(command: FeatureCommand, kernel: Kernel, call: CommandCall) -> str:
    return await command.run()(kernel, call)


def _usual_model(choice: Choice) -> str:
    """The usual model's name, as far as it is known without asking a server."""
    try:
        ref = choice.default()
    except ModelError:
        return ""
    return str(ref) if ref is not None and ref.model else ""


def make_api(kernel: Kernel, features: Features, services: TurnServices, accept: Accept, dashboard: str = "") -> Api:
    """What the routes need, over all that runs."""
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
        {**features.ports, LazyTools: services.tools},
        dashboard=dashboard,
        views=[
            {"name": view.name, "title": view.title, "asks": list(view.asks)}
            for subsystem, _ in features.opened.values()
            for view in subsystem.views
        ],
    )
