"""The kernel: what is there before any feature, opened first and closed last.

Over the store alone it can stop, cancel, resume and wake; nothing is accepted, run or sent by it.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from hob.agent.settings import AgentSettings
from hob.app.chat_routing import ChatRouting
from hob.app.daemon.process_records import RunningProcesses
from hob.app.logs.log_file import logged_end
from hob.app.notifications.owner_notifier import OwnerNotifier
from hob.app.settings.sections import choose_models
from hob.app.trust.identity_files import open_files
from hob.bus.directory import ChannelDirectory
from hob.bus.notices import Hub
from hob.bus.session_queues import SessionQueues
from hob.bus.settings import BusSettings
from hob.bus.signals import Signal
from hob.bus.turn_runner import BusContext
from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.ids import InboundId
from hob.core.memory import MemoryLayer
from hob.core.messages import Address
from hob.core.values import dataclass
from hob.gateway.auth.tokens import Keyring, TokenFile, ensure_token
from hob.gateway.settings import GatewaySettings
from hob.guard.admission.pairing import PairingService
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.screening.masking.known_secrets import KnownSecrets, readable_values, values_in
from hob.guard.screening.masking.logs import masked_logs
from hob.providers.routing.choice import Choice
from hob.store.memory.layers import KeptLayer
from hob.store.plugin_records import PluginRecords
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.workspace.bootstrap import BootstrapFiles
from hob.workspace.settings import WorkspaceSettings

T = TypeVar("T")

CACHE = "cache"
"""The folder in the home for what can be made again at any time."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What crosses the parts of Hob: somebody may have to look. Those who listen now are told."""

    outbox: Signal[Collection[Address] | None] = field(default_factory=Signal)
    """Something may have been written to the outbox for these addresses (None: for any)."""
    settings: Signal[Config] = field(default_factory=Signal)
    """Settings or secrets may be others than before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """What every part of Hob may use. `one_shot`: it lives for one message, and runs none but its own."""

    config: Config
    environ: Mapping[str, str]
    clock: Clock
    known: KnownSecrets
    keyring: Keyring
    salt: bytes
    store: Store
    signals: Signals
    hub: Hub
    channels: ChannelDirectory
    pairing_service: PairingService
    notifier: OwnerNotifier
    files: BootstrapFiles
    choice: Choice
    processes: RunningProcesses
    session_queues: SessionQueues
    one_shot: bool
    ports: Mapping[type, object] = field(default_factory=dict)
    """What the feature that is opened over it has declared to need."""
    feature: str = ""
    """Which feature is opened over it."""
    layers: Mapping[str, MemoryLayer] = field(default_factory=dict)
    """The layers of memory that plug-ins bring."""

    def port(self, kind: type[T]) -> T:
        """What provides this port. Raises KeyError where the feature has not declared to need it."""
        return cast(T, self.ports[kind])

    @property
    def records(self) -> PluginRecords:
        """Where the feature keeps what it has no table for: in backups, and erased while it is off too."""
        return self.store.records_of(self.feature)

    def layer(self, name: str) -> KeptLayer:
        """What a layer of memory holds that the feature declares. Raises KeyError for another name."""
        return self.store.layer(self.layers[self.feature if name == self.feature else f"{self.feature}_{name}"])

    @property
    def language(self) -> str:
        """In which Hob speaks of itself."""
        return self.config[AgentSettings].language

    async def learn_all(self) -> None:
        """Read the secrets in keyrings and of commands too, which may take a while."""
        self.known.learn(await asyncio.to_thread(partial(readable_values, self.config.secrets(), ask=True)))


@asynccontextmanager
async def open_kernel(
    home: Path, config: Config, clock: Clock, *, one_shot: bool, carried: Collection[str] = ()
) -> AsyncIterator[Kernel]:
    """The kernel over this home, whose lock the caller holds; backups take the files `carried` along.

    Raises NotConfigured and StoreErrors.
    """
    environ = process_environment()
    processes = RunningProcesses(home)
    processes.reap()  # before anything is asked or run again
    known = KnownSecrets({**readable_values(config.secrets()), **values_in(environ)})
    async with AsyncExitStack() as stack:
        stack.enter_context(masked_logs(known))
        stack.enter_context(logged_end())
        opening = open_store(home, config[StoreSettings], clock, mask=known, carried=carried)
        store = await stack.enter_async_context(opening)
        config = config.with_stored(await store.settings.load())
        settings = config[GatewaySettings]
        owners = partial(owners_token, home, settings, known)
        salt = owners().encode()
        keyring = Keyring(owners, TokenFile(home, clock), clock, chosen=settings.auth_token is not None)
        signals, hub, channels = Signals(), Hub(), ChannelDirectory()
        pairing_service = PairingService(store.people, clock)
        await pairing_service.load()
        notifier = OwnerNotifier(store, pairing_service.people, channels, clock, signals.outbox)
        if not one_shot:  # no channel of its own leads to the owner
            await notifier.load()
        people = pairing_service.people if config[AdmissionSettings].person_sessions else None
        bus, language = config[BusSettings], config[AgentSettings].language
        mine: set[InboundId] | None = set() if one_shot else None
        around = BusContext(
            store, ChatRouting(bus, people), bus, clock, hub, language, signals.outbox, channels.limit_of, mine
        )  # fmt: skip
        yield Kernel(
            config=config,
            environ=environ,
            clock=clock,
            known=known,
            keyring=keyring,
            salt=salt,
            store=store,
            signals=signals,
            hub=hub,
            channels=channels,
            pairing_service=pairing_service,
            notifier=notifier,
            files=open_files(config.home, config[WorkspaceSettings], may_seed=not one_shot),
            choice=choose_models(config),
            processes=processes,
            session_queues=SessionQueues(around),
            one_shot=one_shot,
        )


def owners_token(home: Path, settings: GatewaySettings, known: KnownSecrets) -> str:
    """The owner's token as it is now; nothing that leaves Hob shows it."""
    token = ensure_token(home, settings.auth_token)
    known.learn({"gateway.token": token})
    return token
