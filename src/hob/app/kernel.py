"""The kernel: what exists before any feature, opened first and closed last.

With the store alone it can stop, cancel, resume and wake turns. It accepts, runs and sends nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from hob.agent.sessions import session_of
from hob.agent.settings import AgentSettings
from hob.app.daemon.process_records import RunningProcesses
from hob.app.logs.log_file import log_failure
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
from hob.core.ids import InboundId, SessionKey
from hob.core.lazy import resolve
from hob.core.memory import MemoryLayer
from hob.core.messages import Address, Inbound
from hob.core.turns import QueueMode
from hob.core.values import dataclass
from hob.gateway.auth.tokens import Keyring, TokenFile, ensure_token
from hob.gateway.settings import GatewaySettings
from hob.guard.admission.pairing import PairingService
from hob.guard.admission.people import People, person_session
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.screening.masking.known_secrets import KnownSecrets, readable_values, values_in
from hob.guard.screening.masking.logs import masked_logs
from hob.providers.routing.choice import ModelChoice
from hob.store.memory.layers import KeptLayer
from hob.store.plugin_records import PluginRecords
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.workspace.bootstrap import BootstrapFiles
from hob.workspace.settings import WorkspaceSettings


class ChatRouting:
    """Implements `Routing`. With `people`, each person has one session across all direct chats."""

    def __init__(self, settings: BusSettings, people: People | None = None) -> None:
        self._settings = settings
        self._people = people

    def session_of(self, inbound: Inbound) -> SessionKey:
        person = None if self._people is None else person_session(inbound, self._people)
        return person or session_of(inbound)

    def mode_of(self, channel: str) -> QueueMode:
        return QueueMode(self._settings.mode_of(channel))


T = TypeVar("T")

CACHE = "cache"
"""The folder in the home for files that can be re-created at any time."""


@dataclass(frozen=True, slots=True)
class Signals:
    """Notifications between parts of Hob. Only current subscribers get them."""

    outbox: Signal[Collection[Address] | None] = field(default_factory=Signal)
    """The outbox may have new messages for these addresses (None: for any)."""
    settings: Signal[Config] = field(default_factory=Signal)
    """Settings or secrets may have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """The services that every part of Hob may use. `one_shot`: Hob lives for one message and runs only its own."""

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
    choice: ModelChoice
    processes: RunningProcesses
    session_queues: SessionQueues
    one_shot: bool
    ports: Mapping[type, object] = field(default_factory=dict)
    """The ports that the feature opened with this kernel has declared to need."""
    feature: str = ""
    """The name of the feature opened with this kernel."""
    layers: Mapping[str, MemoryLayer] = field(default_factory=dict)
    """The memory layers that features declare."""

    def port(self, kind: type[T]) -> T:
        """Return the provider of this port. Raises KeyError if the feature has not declared to need it."""
        return cast(T, resolve(self.ports[kind]))

    @property
    def records(self) -> PluginRecords:
        """The feature's own rows: included in backups, and erased even while the feature is off."""
        return self.store.records_of(self.feature)

    def layer(self, name: str) -> KeptLayer:
        """Return the store of a memory layer that the feature declares. Raises KeyError for another name."""
        return self.store.layer(self.layers[self.feature if name == self.feature else f"{self.feature}_{name}"])

    @property
    def language(self) -> str:
        """The language of Hob's own messages."""
        return self.config[AgentSettings].language

    async def learn_all(self) -> None:
        """Read the secrets in keyrings and of commands too, which may be slow, so that they are masked."""
        self.known.learn(await asyncio.to_thread(partial(readable_values, self.config.secrets(), ask=True)))


@asynccontextmanager
async def open_kernel(
    home: Path, config: Config, clock: Clock, *, one_shot: bool, carried: Collection[str] = ()
) -> AsyncIterator[Kernel]:
    """Open the kernel over this home, whose lock the caller holds. Backups include the files `carried`.

    Raises NotConfigured and StoreErrors.
    """
    environ = process_environment()
    processes = RunningProcesses(home)
    processes.reap()  # before anything else runs
    known = KnownSecrets({**readable_values(config.secrets()), **values_in(environ)})
    async with AsyncExitStack() as stack:
        stack.enter_context(masked_logs(known))
        stack.enter_context(log_failure())
        opening = open_store(home, config[StoreSettings], clock, mask=known, carried=carried)
        store = await stack.enter_async_context(opening)
        config = config.with_stored(await store.settings.load())
        settings = config[GatewaySettings]
        owners = partial(load_owner_token, home, settings, known)
        salt = owners().encode()
        keyring = Keyring(owners, TokenFile(home, clock), clock, chosen=settings.auth_token is not None)
        signals, hub, channels = Signals(), Hub(), ChannelDirectory()
        pairing_service = PairingService(store.people, clock)
        await pairing_service.load()
        notifier = OwnerNotifier(store, pairing_service.people, channels, clock, signals.outbox)
        if not one_shot:  # its channels cannot reach the owner
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


def load_owner_token(home: Path, settings: GatewaySettings, known: KnownSecrets) -> str:
    """Return the owner's current token, after adding it to the masked secrets."""
    token = ensure_token(home, settings.auth_token)
    known.learn({"gateway.token": token})
    return token
