"""The composition root: the whole architecture on one page.

`open_app` opens everything in dependency order and closes it backwards. Nothing else sees two peers at once.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
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
from hob.agent.remarks import render
from hob.app.accounts import Accounts
from hob.app.afterwards import open_afterwards
from hob.app.attempts import Attempts
from hob.app.desk import Desk
from hob.app.door import Door, Entrance
from hob.app.guard_when_needed import GuardWhenNeeded, load_guard
from hob.app.hands_when_needed import HandsWhenNeeded, open_hands
from hob.app.identity import open_files
from hob.app.offering import Offering, open_offering
from hob.app.operating.alarm import OutboxAlarm
from hob.app.operating.forgetting import Forgetting
from hob.app.operating.log_file import told_end
from hob.app.operating.reloading import Reloading
from hob.app.operating.upkeep import open_upkeep
from hob.app.routing import ChatRouting
from hob.app.sections import choose_models, read_config
from hob.app.telling import Telling
from hob.app.trials import Trials
from hob.app.webhooks import WebhookParts
from hob.bus import Bus, BusSettings, Hub, open_bus
from hob.config import Config, process_environment
from hob.core.clock import Clock, SystemClock
from hob.core.errors import ModelError
from hob.core.hooks import Hook
from hob.core.messages import Address
from hob.core.ports.accept import Accept
from hob.core.ports.channel import Channel
from hob.core.ports.guard import Admission, Judge
from hob.core.ports.journal import Journal
from hob.core.ports.model import Model, Prices, Profiles
from hob.core.ports.tools import Toolset
from hob.core.remarks import Remark
from hob.core.tracing import OWN
from hob.gateway.api import Api
from hob.gateway.settings import GatewaySettings
from hob.gateway.tokens import Keyring, TokenFile, ensure_token
from hob.gateway.webhooks.reception import Reception
from hob.gateway.webhooks.settings import Webhooks
from hob.guard.admission.registrar import Registrar
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.answers import may_answer
from hob.guard.masking.edges import MaskedAdmission
from hob.guard.masking.known import KnownSecrets, values_at_hand, values_in
from hob.guard.masking.logs import masked_logs
from hob.guard.masking.models import masked_model
from hob.guard.masking.personal import mask_personal
from hob.guard.modes import Autonomy, Mode
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.providers import Choice, ModelProfiles, ModelSettings, Routing, open_model, open_prices
from hob.providers.screening.screening import Screening
from hob.providers.screening.settings import ClassifierSettings, PromptGuardSettings, SanitizerSettings
from hob.store import Store, StoreSettings, open_store
from hob.workspace import BootstrapFiles, WorkspaceSettings

CACHE = "cache"
"""The folder in the home for what can be made anew at any time."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Extras:
    """What an embedding program or a test puts in: channels, hooks, another model or clock.

    Tools, judge and admission stand in place of Hob's own; tools without a judge are judged by Hob's. `wrap_tools` is
    given the tools there are, and gives those that turns call.
    """

    channels: tuple[Channel, ...] = ()
    toolset: Toolset | None = None
    judge: Judge | None = None
    admission: Admission | None = None
    hooks: tuple[Hook, ...] = ()
    clock: Clock = field(default_factory=SystemClock)
    wrap_tools: Callable[[Toolset], Toolset] = lambda toolset: toolset
    wrap_model: Callable[[Model], Model] = lambda model: model
    wrap_journal: Callable[[Journal], Journal] = lambda journal: journal
    wrap_accept: Callable[[Accept], Accept] = lambda accept: accept


@dataclass(frozen=True, slots=True)
class App:
    """Hob, open."""

    home: Path
    config: Config
    store: Store
    bus: Bus
    desk: Desk
    api: Api
    choice: Choice
    hands: HandsWhenNeeded
    reload: Reloading


@dataclass(frozen=True, slots=True)
class _Base:
    """What everything else is opened over."""

    config: Config
    choice: Choice
    store: Store
    hub: Hub
    extras: Extras
    token: str
    own_only: bool
    on_hand_over: Callable[[], None] | None
    files: BootstrapFiles
    known: KnownSecrets
    registrar: Registrar
    telling: Telling
    alarm: OutboxAlarm
    webhooks: WebhookParts

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Those that are sent to; of a one-shot owner without Hob's own."""
        return self.extras.channels if self.own_only else (*self.extras.channels, *self.webhooks.channels)

    @property
    def clock(self) -> Clock:
        return self.extras.clock

    @property
    def routing(self) -> ChatRouting:
        people = self.registrar.people if self.config[AdmissionSettings].person_sessions else None
        return ChatRouting(self.config[BusSettings], people)

    @property
    def salt(self) -> bytes:
        return self.token.encode()

    @property
    def language(self) -> str:
        return self.config[AgentSettings].language


@dataclass(frozen=True, slots=True)
class _Trust:
    """The tools and the guard that stands before them."""

    hands: HandsWhenNeeded
    guard: GuardWhenNeeded
    toolset: Toolset
    judge: Judge


@dataclass(frozen=True, slots=True)
class _Peers:
    driver: Driver
    desk: Desk
    commands: SlashCommands
    offering: Offering


@dataclass(frozen=True, slots=True)
class _Models:
    model: Routing
    prices: Prices
    profiles: Profiles


@asynccontextmanager
async def open_app(
    home: Path,
    config: Config,
    *,
    extras: Extras | None = None,
    own_only: bool = False,
    on_hand_over: Callable[[], None] | None = None,
) -> AsyncIterator[App]:
    """Hob over this home, whose lock the caller holds.

    With `own_only` it runs what is accepted from now on and leaves earlier work to the next daemon: the one-shot
    owner. Raises NotConfigured and StoreErrors.
    """
    extras = extras or Extras()
    known = KnownSecrets({**values_at_hand(config.secrets()), **values_in(process_environment())})
    async with AsyncExitStack() as stack:
        stack.enter_context(masked_logs(known))
        stack.enter_context(told_end())
        store = await stack.enter_async_context(open_store(home, config[StoreSettings], extras.clock, mask=known))
        config = config.with_stored(await store.settings.load())
        gateway = config[GatewaySettings]
        token = _owners_token(home, gateway, known)
        base = await _open_base(config, store, extras, token, known, own_only, on_hand_over)
        door = _make_door(base)
        trust = await _open_trust(stack, base)
        peers = await _open_peers(stack, base, trust)
        bus = await _open_bus(stack, base, trust, peers, door)
        upkeep = open_upkeep(config, store, trust.hands, base.alarm, extras.clock)
        reloading = Reloading(config, known, upkeep, extras.clock)
        forgetting = Forgetting(store, base.registrar, trust.hands, home)
        peers.desk.bind(bus, upkeep, reloading, forgetting, base.webhooks.followers)
        base.telling.bind(bus.courier.owed)
        base.webhooks.bind(bus)
        trust.guard.bind(bus)
        attempts = Attempts(store.audit, extras.clock)
        if not own_only:
            await base.webhooks.announcer.begin()
            announcing = base.webhooks.announcer.run()
            await _watch(stack, base, trust.guard.watch(), attempts.run(), upkeep.run(), base.alarm.run(), announcing)
        accept = extras.wrap_accept(Entrance(bus.accept, door))
        for channel in base.channels:
            await stack.enter_async_context(channel.run(accept))
        api = _make_api(base, accept, peers, trust, attempts)
        reloading.add_listener(api.keyring.forget)
        yield App(home, config, store, bus, peers.desk, api, base.choice, trust.hands, reloading)


async def _open_base(
    config: Config,
    store: Store,
    extras: Extras,
    token: str,
    known: KnownSecrets,
    own_only: bool,
    on_hand_over: Callable[[], None] | None,
) -> _Base:
    registrar = Registrar(store.people, extras.clock)
    await registrar.load()
    telling = Telling(store, registrar.people, extras.channels, extras.clock)
    if extras.channels:
        await telling.load()
    files = open_files(config.home, config[WorkspaceSettings], may_seed=not own_only)
    alarm = OutboxAlarm(store, extras.clock, telling.tell_late, config[AgentSettings].language)
    choice = choose_models(config)
    hub, clock, language = Hub(), extras.clock, config[AgentSettings].language
    webhooks = WebhookParts(config, store, clock, telling, language)
    return _Base(
        config, choice, store, hub, extras, token, own_only, on_hand_over, files, known, registrar, telling, alarm,
        webhooks,
    )  # fmt: skip


async def _open_trust(stack: AsyncExitStack, base: _Base) -> _Trust:
    config, store, extras = base.config, base.store, base.extras
    environ = process_environment()
    hands = await stack.enter_async_context(
        open_hands(config, store, base.hub, base.clock, environ, base.known, partial(_warn, base))
    )
    toolset = extras.wrap_tools(extras.toolset or hands)

    guard = GuardWhenNeeded(
        store,
        lambda: load_guard()(
            config,
            store,
            hands.made,
            base.clock,
            specs=lambda: {**hands.named(), **{spec.name: spec for spec in toolset.specs()}},
            language=base.language,
            secrets=lambda text: ("a known secret",) if base.known(text) != text else (),
            identity=base.files.load,
            people=base.registrar.people,
            telling=base.telling,
        ),
    )
    return _Trust(hands, guard, toolset, extras.judge or guard)


async def _warn(base: _Base, remark: Remark) -> None:
    await base.telling.tell(render(remark, base.language), "obeyed")


async def _open_peers(stack: AsyncExitStack, base: _Base, trust: _Trust) -> _Peers:
    config, store, clock, extras = base.config, base.store, base.clock, base.extras
    settings, limits = config[AgentSettings], config[SpendingSettings]
    models = await _open_models(stack, base)
    model, prices = masked_model(extras.wrap_model(models.model), base.known), models.prices
    default_model = partial(_usual_model, base.choice)
    context_room = ContextRoom(models.profiles)
    prompts = PromptBuilder(
        settings, clock, base.files, salt=base.salt, context_room=context_room, notes=trust.hands.notes
    )
    budget = Budget(limits, store.ledger, prices, clock, settings.language, zone_of(settings.timezone))
    compactor = Compactor(
        settings,
        model=model,
        transcript=store.transcript,
        budget=budget,
        clock=clock,
        salt=base.salt,
        context_room=context_room,
    )
    store.erasure.add_keeper(trust.hands)
    afterwards = await stack.enter_async_context(open_afterwards())
    if not base.own_only:  # a daemon makes the list of prices before anybody waits for it
        afterwards(prices.prepare([default_model()]))
        afterwards(_learn_all(base.known, config))
        afterwards(trust.hands.tidy())
    parts = Parts(
        model=model,
        journal=extras.wrap_journal(store.journal),
        transcript=store.transcript,
        sessions=store.sessions,
        toolset=trust.toolset,
        judge=trust.judge,
        approvals=trust.guard,
        prompts=prompts,
        notices=base.hub,
        budget=budget,
        blobs=store.blobs,
        clock=clock,
        hooks=Hooks(extras.hooks, clock, settings.hook_seconds),
        limit_of=_limits(extras.channels),
        afterwards=afterwards,
        settings=settings,
        default_model=default_model,
        compactor=compactor,
        context_room=context_room,
        mask=base.known,
        mask_personal=mask_personal,
    )
    inspector = Inspector(settings, prompts, store.transcript, store.sessions, trust.toolset, default_model, model)
    trials = Trials(budget, clock, (lambda: config) if base.own_only else read_config)  # its file may have changed
    accounts = Accounts(store.ledger, budget, clock)
    hands, unaccepted = trust.hands, base.files.unaccepted
    desk = Desk(
        store, compactor, inspector, accounts, trials, models.model, base.on_hand_over, hands, clock, unaccepted
    )
    leeway, home = _leeway_of(config), base.routing.session_of
    commands = SlashCommands(desk, store.sessions, budget, clock, settings, default_model, model, leeway, home)
    offering = await stack.enter_async_context(open_offering(config[ModelSettings], base.choice, budget, clock))
    return _Peers(Driver(parts), desk, commands, offering)


async def _open_models(stack: AsyncExitStack, base: _Base) -> _Models:
    config, choice, store, clock = base.config, base.choice, base.store, base.clock
    settings = config[ModelSettings]
    prices, table = open_prices(settings.prices, choice, config.home / CACHE, clock)
    profiles = ModelProfiles(choice, table)
    screening = Screening(config[PromptGuardSettings], config[SanitizerSettings], config[ClassifierSettings], base.salt)
    model = open_model(
        settings,
        clock,
        choice=choice,
        blobs=store.blobs,
        profiles=profiles,
        screening=screening,
        folder=config.home / CACHE,
        silence=config[AgentSettings].idle_seconds * 0.75,  # before the turn itself gives up
        changed=(prices.become, profiles.become),
    )
    return _Models(await stack.enter_async_context(model), prices, profiles)


def _leeway_of(config: Config) -> Leeway:
    policy, channels = config[PolicySettings], config[ApprovalSettings].channels
    return Leeway(
        Scale(tuple(Mode), policy.mode),
        Scale(tuple(Autonomy), policy.autonomy),
        lambda inbound: not may_answer(inbound, channels),
    )


def _make_door(base: _Base) -> Door:
    registrar, clock, channels = base.registrar, base.clock, base.extras.channels
    return Door(base.config, base.store, registrar, clock, base.telling, channels=channels, language=base.language)


async def _open_bus(stack: AsyncExitStack, base: _Base, trust: _Trust, peers: _Peers, door: Door) -> Bus:
    config, extras = base.config, base.extras
    return await stack.enter_async_context(
        open_bus(
            base.store,
            turns=peers.driver,
            commands=peers.commands,
            routing=base.routing,
            admission=MaskedAdmission(extras.admission or door, base.known),
            channels=base.channels,
            settings=config[BusSettings],
            clock=base.clock,
            hub=base.hub,
            questions=trust.guard,
            language=base.language,
            own_only=base.own_only,
            said=door.said,
            owing=base.alarm.owing,
        )
    )


async def _watch(stack: AsyncExitStack, base: _Base, *watches: Coroutine[Any, Any, None]) -> None:
    """What runs as long as a daemon does."""
    if base.store.unclean:
        log.warning("the last run did not end by itself; what it had in hand goes on", extra=OWN)
    watching = await stack.enter_async_context(asyncio.TaskGroup())
    for watch in watches:
        stack.callback(watching.create_task(watch).cancel)


def _make_api(base: _Base, accept: Accept, peers: _Peers, trust: _Trust, attempts: Attempts) -> Api:
    home, clock, known, settings = base.config.home, base.clock, base.known, base.config[GatewaySettings]
    owners, chosen = partial(_owners_token, home, settings, known), settings.auth_token is not None
    keyring = Keyring(owners, TokenFile(home, clock), clock, chosen=chosen)
    leaves, people, desk, models = trust.guard.approving, base.registrar, peers.desk, peers.offering
    return Api(
        accept, base.store, base.hub, desk, settings, clock, keyring, people, leaves, models, known, attempts,
        Reception(base.config[Webhooks]),
    )  # fmt: skip


def _owners_token(home: Path, settings: GatewaySettings, known: KnownSecrets) -> str:
    """The owner's token as it is now; nothing that leaves Hob shows it."""
    token = ensure_token(home, settings.auth_token)
    known.learn({"gateway.token": token})
    return token


async def _learn_all(known: KnownSecrets, config: Config) -> None:
    """Read the secrets in keyrings and of commands too, which may take a while."""
    known.learn(await asyncio.to_thread(partial(values_at_hand, config.secrets(), ask=True)))


def _limits(channels: tuple[Channel, ...]) -> Callable[[Address], int]:
    limits = {(channel.name, channel.account): channel.text_limit for channel in channels}
    # the terminal and the API take a reply of any length in one piece
    return lambda address: limits.get((address.channel, address.account), 10_000_000)


def _usual_model(choice: Choice) -> str:
    """The usual model's name, as far as it is known without asking a server."""
    try:
        ref = choice.default()
    except ModelError:
        return ""
    return str(ref) if ref is not None and ref.model else ""
