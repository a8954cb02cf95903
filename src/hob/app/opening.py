"""The composition root: the whole architecture on one page.

`open_app` opens everything in dependency order and closes it backwards. Nothing else sees two peers at once.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hob.agent import (
    AgentSettings,
    Budget,
    Compactor,
    ContextRoom,
    Driver,
    Hooks,
    Inspector,
    Parts,
    PromptBuilder,
    SlashCommands,
    SpendingSettings,
)
from hob.app.accounts import Accounts
from hob.app.admission import NoGuardYet, NoTools, OwnerOnly
from hob.app.afterwards import open_afterwards
from hob.app.desk import Desk
from hob.app.identity import open_files
from hob.app.routing import ChatRouting
from hob.app.sections import choose_models, read_config
from hob.app.trials import Trials
from hob.bus import Bus, BusSettings, Hub, open_bus
from hob.config import Config
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
from hob.gateway.api import Api
from hob.gateway.settings import GatewaySettings
from hob.gateway.tokens import ensure_token
from hob.guard.admission.registrar import Registrar
from hob.providers import Choice, ModelProfiles, ModelSettings, Routing, open_model, open_prices
from hob.providers.screening.screening import Screening
from hob.providers.screening.settings import ClassifierSettings, PromptGuardSettings, SanitizerSettings
from hob.store import Store, StoreSettings, open_store
from hob.workspace import WorkspaceSettings

CACHE = "cache"
"""The folder in the home for what can be made anew at any time."""


@dataclass(frozen=True, slots=True)
class Extras:
    """What an embedding program or a test puts in: channels, tools and their judge, hooks, another model or clock."""

    channels: tuple[Channel, ...] = ()
    toolset: Toolset = field(default_factory=NoTools)
    judge: Judge = field(default_factory=NoGuardYet)
    admission: Admission = field(default_factory=OwnerOnly)
    hooks: tuple[Hook, ...] = ()
    clock: Clock = field(default_factory=SystemClock)
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


@dataclass(frozen=True, slots=True)
class _Peers:
    driver: Driver
    desk: Desk
    commands: SlashCommands


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
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(home, config[StoreSettings], extras.clock))
        config = config.with_stored(await store.settings.load())
        hub = Hub()
        gateway = config[GatewaySettings]
        token = ensure_token(home, gateway.auth_token)
        choice = choose_models(config)
        peers = await _open_peers(stack, config, choice, store, hub, extras, token, own_only, on_hand_over)
        bus = await _open_bus(stack, config, store, hub, peers, extras, own_only)
        peers.desk.bind(bus)
        accept = extras.wrap_accept(bus.accept)
        for channel in extras.channels:
            await stack.enter_async_context(channel.run(accept))
        registrar = Registrar(store.people, extras.clock)
        await registrar.load()
        api = Api(accept, store, hub, peers.desk, gateway, extras.clock, token, registrar)
        yield App(home, config, store, bus, peers.desk, api, choice)


async def _open_peers(
    stack: AsyncExitStack,
    config: Config,
    choice: Choice,
    store: Store,
    hub: Hub,
    extras: Extras,
    token: str,
    own_only: bool,
    on_hand_over: Callable[[], None] | None,
) -> _Peers:
    settings, clock = config[AgentSettings], extras.clock
    salt = token.encode()
    models = await _open_models(stack, config, choice, store, clock, salt)
    model, prices = extras.wrap_model(models.model), models.prices
    default_model = partial(_usual_model, choice)
    files = open_files(config.home, config[WorkspaceSettings], may_seed=not own_only)
    context_room = ContextRoom(models.profiles)
    prompts = PromptBuilder(settings, clock, files, salt=salt, context_room=context_room)
    budget = Budget(config[SpendingSettings], store.ledger, prices, clock, settings.language)
    compactor = Compactor(
        settings,
        model=model,
        transcript=store.transcript,
        budget=budget,
        clock=clock,
        salt=salt,
        context_room=context_room,
    )
    afterwards = await stack.enter_async_context(open_afterwards())
    if not own_only:  # a daemon makes the list of prices before anybody waits for it
        afterwards(prices.prepare([default_model()]))
    driver = Driver(
        Parts(
            model=model,
            journal=extras.wrap_journal(store.journal),
            transcript=store.transcript,
            sessions=store.sessions,
            toolset=extras.toolset,
            judge=extras.judge,
            prompts=prompts,
            notices=hub,
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
        )
    )
    inspector = Inspector(settings, prompts, store.transcript, store.sessions, extras.toolset, default_model, model)
    trials = Trials(budget, clock, (lambda: config) if own_only else read_config)  # a daemon's file may have changed
    accounts = Accounts(store.ledger, budget, clock)
    desk = Desk(store, compactor, inspector, accounts, trials, models.model, on_hand_over, files.unaccepted)
    commands = SlashCommands(desk, store.sessions, budget, clock, settings, default_model, model)
    return _Peers(driver, desk, commands)


async def _open_models(
    stack: AsyncExitStack, config: Config, choice: Choice, store: Store, clock: Clock, salt: bytes
) -> _Models:
    settings = config[ModelSettings]
    prices, table = open_prices(settings.prices, choice, config.home / CACHE, clock)
    profiles = ModelProfiles(choice, table)
    screening = Screening(config[PromptGuardSettings], config[SanitizerSettings], config[ClassifierSettings], salt)
    model = open_model(
        settings,
        clock,
        choice=choice,
        blobs=store.blobs,
        profiles=profiles,
        screening=screening,
        folder=config.home / CACHE,
        silence=config[AgentSettings].idle_seconds * 0.75,  # before the turn itself gives up
    )
    return _Models(await stack.enter_async_context(model), prices, profiles)


async def _open_bus(
    stack: AsyncExitStack,
    config: Config,
    store: Store,
    hub: Hub,
    peers: _Peers,
    extras: Extras,
    own_only: bool,
) -> Bus:
    return await stack.enter_async_context(
        open_bus(
            store,
            turns=peers.driver,
            commands=peers.commands,
            routing=ChatRouting(config[BusSettings]),
            admission=extras.admission,
            channels=extras.channels,
            settings=config[BusSettings],
            clock=extras.clock,
            hub=hub,
            language=config[AgentSettings].language,
            own_only=own_only,
        )
    )


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
