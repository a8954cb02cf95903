"""The turn services: what turns are made with, over the kernel and the features. They begin nothing."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from hob.agent import (
    AgentSettings,
    Budget,
    Compactor,
    ContextRoom,
    Driver,
    Hooks,
    Inspector,
    Leeway,
    Parts,
    PromptBuilder,
    Scale,
    SlashCommands,
    SpendingSettings,
    zone_of,
)
from hob.app.accounts import Accounts
from hob.app.afterwards import Afterwards, open_afterwards
from hob.app.desk import Desk
from hob.app.door import Door
from hob.app.extras import Extras
from hob.app.guard_when_needed import GuardWhenNeeded, load_guard
from hob.app.hands_when_needed import HandsWhenNeeded
from hob.app.kernel import CACHE, Kernel
from hob.app.offering import Offering, open_offering
from hob.app.operating.forgetting import Forgetting
from hob.app.operating.reloading import Reloading
from hob.app.operating.sessions import Conversations
from hob.app.sections import read_config
from hob.app.trials import Trials
from hob.bus import Acceptor
from hob.core.errors import ModelError
from hob.core.ports.guard import Judge
from hob.core.ports.model import Model, Prices
from hob.core.ports.tools import Toolset
from hob.guard.answers import may_answer
from hob.guard.masking.edges import MaskedAdmission
from hob.guard.masking.models import masked_model
from hob.guard.masking.personal import mask_personal
from hob.guard.modes import Autonomy, Mode
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.providers import Choice, ModelProfiles, ModelSettings, Routing, open_model, open_prices
from hob.providers.screening.screening import Screening
from hob.providers.screening.settings import ClassifierSettings, PromptGuardSettings, SanitizerSettings


@dataclass(frozen=True, slots=True)
class Features:
    """What stands beside the kernel before turns can be made: the tools, and how the features are, for `status`."""

    hands: HandsWhenNeeded
    views: Callable[[], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Thinking:
    """What asks models, and what the driver and the commands share of it."""

    routes: Routing
    model: Model
    prices: Prices
    default_model: Callable[[], str]
    room: ContextRoom
    prompts: PromptBuilder
    budget: Budget
    compactor: Compactor


@dataclass(frozen=True, slots=True)
class TurnServices:
    """What runs turns and lets messages in, whole and at rest."""

    driver: Driver
    commands: SlashCommands
    accept: Acceptor
    door: Door
    guard: GuardWhenNeeded
    desk: Desk
    offering: Offering
    reloading: Reloading
    prepare: Callable[[], None]
    """Begins what a daemon does before anybody waits for it."""


async def make_turn_services(
    stack: AsyncExitStack,
    kernel: Kernel,
    features: Features,
    extras: Extras,
    *,
    address: str,
    on_hand_over: Callable[[], None] | None,
) -> TurnServices:
    """What they hold open is closed with the stack. `address` is where the API can be reached, `hob.sock` apart."""
    config, lanes, hands = kernel.config, kernel.lanes, features.hands
    toolset = extras.wrap_tools(extras.toolset or hands)
    guard = _make_guard(kernel, hands, toolset)
    thinking = await _open_thinking(stack, kernel, hands, extras)
    afterwards = await stack.enter_async_context(open_afterwards())
    driver = Driver(_parts(kernel, thinking, toolset, extras.judge or guard, guard, afterwards, extras))
    reloading = Reloading(config, kernel.known, kernel.clock, kernel.signals.settings, thinking.routes.become)
    desk = _make_desk(kernel, features, thinking, toolset, reloading, address, on_hand_over)
    commands = _make_commands(kernel, desk, thinking)
    door = Door(config, kernel.store, kernel.registrar, kernel.clock, kernel.telling, kernel.channels, kernel.language)
    accept = Acceptor(
        lanes.context,
        commands=commands,
        admission=MaskedAdmission(extras.admission or door, kernel.known),
        arrived=lanes.arrived,
        adopt=lanes.adopt if kernel.one_shot else None,
        questions=guard,
    )
    models = open_offering(config[ModelSettings], kernel.choice, thinking.budget, kernel.clock)
    offering = await stack.enter_async_context(models)
    stack.enter_context(kernel.signals.settings.heard_by(lambda _: thinking.routes.look_again()))

    def prepare() -> None:
        afterwards(thinking.prices.prepare([thinking.default_model()]))
        afterwards(kernel.learn_all())
        afterwards(hands.tidy())

    return TurnServices(driver, commands, accept, door, guard, desk, offering, reloading, prepare)


def _make_guard(kernel: Kernel, hands: HandsWhenNeeded, toolset: Toolset) -> GuardWhenNeeded:
    known = kernel.known
    return GuardWhenNeeded(
        kernel.store,
        lambda: load_guard()(
            kernel.config,
            kernel.store,
            kernel.lanes,
            hands.made,
            kernel.clock,
            specs=lambda: {**hands.named(), **{spec.name: spec for spec in toolset.specs()}},
            language=kernel.language,
            secrets=lambda text: ("a known secret",) if known(text) != text else (),
            identity=kernel.files.load,
            people=kernel.registrar.people,
            telling=kernel.telling,
        ),
    )


async def _open_thinking(stack: AsyncExitStack, kernel: Kernel, hands: HandsWhenNeeded, extras: Extras) -> _Thinking:
    config, store, clock, salt = kernel.config, kernel.store, kernel.clock, kernel.salt
    models, settings, cache = config[ModelSettings], config[AgentSettings], config.home / CACHE
    prices, table = open_prices(models.prices, kernel.choice, cache, clock)
    profiles = ModelProfiles(kernel.choice, table)
    screening = Screening(config[PromptGuardSettings], config[SanitizerSettings], config[ClassifierSettings], salt)
    opened = open_model(
        models,
        clock,
        choice=kernel.choice,
        blobs=store.blobs,
        profiles=profiles,
        screening=screening,
        folder=cache,
        silence=settings.idle_seconds * 0.75,  # before the turn itself gives up
        changed=(prices.become, profiles.become),
    )
    routes = await stack.enter_async_context(opened)
    model, room = masked_model(extras.wrap_model(routes), kernel.known), ContextRoom(profiles)
    limits, zone = config[SpendingSettings], zone_of(settings.timezone)
    budget = Budget(limits, store.ledger, prices, clock, settings.language, zone)
    prompts = PromptBuilder(settings, clock, kernel.files, salt=salt, context_room=room, notes=hands.notes)
    compactor = Compactor(
        settings, model=model, transcript=store.transcript, budget=budget, clock=clock, salt=salt, context_room=room
    )
    return _Thinking(routes, model, prices, partial(_usual_model, kernel.choice), room, prompts, budget, compactor)


def _parts(
    kernel: Kernel,
    thinking: _Thinking,
    toolset: Toolset,
    judge: Judge,
    approvals: GuardWhenNeeded,
    afterwards: Afterwards,
    extras: Extras,
) -> Parts:
    store, settings = kernel.store, kernel.config[AgentSettings]
    return Parts(
        model=thinking.model,
        journal=extras.wrap_journal(store.journal),
        transcript=store.transcript,
        sessions=store.sessions,
        toolset=toolset,
        judge=judge,
        approvals=approvals,
        prompts=thinking.prompts,
        notices=kernel.hub,
        budget=thinking.budget,
        blobs=store.blobs,
        clock=kernel.clock,
        hooks=Hooks(extras.hooks, kernel.clock, settings.hook_seconds),
        # the terminal and the API take a reply of any length in one piece
        limit_of=lambda address: kernel.channels.limit_of(address) or 10_000_000,
        afterwards=afterwards,
        settings=settings,
        default_model=thinking.default_model,
        compactor=thinking.compactor,
        context_room=thinking.room,
        mask=kernel.known,
        mask_personal=mask_personal,
    )


def _make_desk(
    kernel: Kernel,
    features: Features,
    thinking: _Thinking,
    toolset: Toolset,
    reloading: Reloading,
    address: str,
    on_hand_over: Callable[[], None] | None,
) -> Desk:
    config, store, clock, hands = kernel.config, kernel.store, kernel.clock, features.hands
    erasure = store.erasure.with_keepers((hands,))
    return Desk(
        kernel,
        thinking.compactor,
        Inspector(
            config[AgentSettings], thinking.prompts, store.transcript, store.sessions, toolset, thinking.default_model,
            thinking.model,
        ),
        Accounts(store.ledger, thinking.budget, clock),
        # its file may have changed
        Trials(thinking.budget, clock, (lambda: config) if kernel.one_shot else read_config),
        thinking.routes,
        hands,
        Conversations(store, erasure, kernel.lanes),
        Forgetting(store, erasure, kernel.registrar, hands, config.home),
        reloading,
        features.views,
        address,
        on_hand_over,
    )  # fmt: skip


def _make_commands(kernel: Kernel, desk: Desk, thinking: _Thinking) -> SlashCommands:
    config = kernel.config
    policy, channels = config[PolicySettings], config[ApprovalSettings].channels
    leeway = Leeway(
        Scale(tuple(Mode), policy.mode),
        Scale(tuple(Autonomy), policy.autonomy),
        lambda inbound: not may_answer(inbound, channels),
    )
    home, sessions = kernel.lanes.context.routing.session_of, kernel.store.sessions
    return SlashCommands(
        desk, sessions, thinking.budget, kernel.clock, config[AgentSettings], thinking.default_model, thinking.model,
        leeway, home,
    )  # fmt: skip


def _usual_model(choice: Choice) -> str:
    """The usual model's name, as far as it is known without asking a server."""
    try:
        ref = choice.default()
    except ModelError:
        return ""
    return str(ref) if ref is not None and ref.model else ""
