"""Silent mode, web users, and their linked chats."""

import json
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager

from hob.app.contribution import Contribution, Effects, Follower
from hob.app.kernel import Kernel
from hob.bus.delivery import SkipsMessages
from hob.bus.settings import SELF_MADE, DeliverySettings
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.content.chunks import split_text
from hob.core.errors import InvalidRequest, NotFound
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import OutboxId, TurnId
from hob.core.messages import POLLED_CHANNELS, WEBHOOK_CHANNEL, WEBHOOK_OUT_CHANNEL, Address, Outbound, OutboundKind
from hob.core.translation.language import translatable
from hob.core.trust.people import SenderAddress
from hob.gateway.webusers import WebUser, WebUsers
from hob.store.plugin_records import PluginRecord, PluginRecords
from hob.store.store import Store

_MACHINES = SELF_MADE | {WEBHOOK_CHANNEL, WEBHOOK_OUT_CHANNEL}
_PREFIX = "user:"


class DeliveryRules:
    """Implements `WebUsers`, decides what is skipped, and forwards web users' answers to their chats."""

    def __init__(
        self,
        settings: DeliverySettings,
        store: Store,
        records: PluginRecords,
        clock: Clock,
        limit_of: Callable[[Address], int],
        on_pending: Callable[[Collection[Address]], None],
    ) -> None:
        self._settings = settings
        self._store = store
        self._records = records
        self._clock = clock
        self._limit_of = limit_of
        self._on_pending = on_pending
        self._users: dict[str, WebUser] = {}

    async def load(self) -> None:
        """Load the web users, once, before anything is sent. Raises StoreErrors."""
        self._users.clear()
        for record in await self._records.list(_PREFIX):
            user = _read(record)
            self._users[user.id] = user

    def reconfigure(self, config: Config) -> None:
        """Apply new settings, from the next chunk on."""
        self._settings = config[DeliverySettings]

    def skips(self, outbound: Outbound) -> str:
        """Return why this chunk is not sent; empty if it is."""
        settings, to = self._settings, outbound.to
        if not settings.silent_mode or to.channel in _MACHINES:
            return ""
        if settings.silent_channels and to.channel not in settings.silent_channels:
            return ""
        if any(user.force_send and user.address == _address_of(to) for user in self._users.values()):
            return ""
        return "silent mode (delivery.silent_mode)"

    def all(self) -> tuple[WebUser, ...]:
        return tuple(sorted(self._users.values(), key=lambda user: user.name.casefold()))

    def one(self, id: str) -> WebUser:
        try:
            return self._users[id]
        except KeyError:
            raise NotFound(translatable("there is no web user {id}", id=id[:80])) from None

    async def add(self, name: str) -> WebUser:
        name = " ".join(name.split())
        if not name:
            raise InvalidRequest(translatable("a web user needs a name"))
        known = next((user for user in self._users.values() if user.name.casefold() == name.casefold()), None)
        return known or await self._keep(WebUser(secrets.token_hex(4), name, True, "", self._clock.now().timestamp()))

    async def change(self, id: str, *, force_send: bool | None = None, address: str | None = None) -> WebUser:
        user = self.one(id)
        if force_send is not None:
            user = user._replace(force_send=force_send)
        if address is not None:
            user = user._replace(address=_checked(address))
        return await self._keep(user)

    async def remove(self, id: str) -> None:
        user = self.one(id)
        await self._records.drop(_PREFIX + user.id)
        del self._users[user.id]

    async def follow(self, events: Sequence[tuple[int, TimelineEvent]]) -> Effects | None:
        """Forward finished turns of linked web users to their chats: message and answer."""
        linked = {user.session: user for user in self._users.values() if user.address}
        outbounds: list[Outbound] = []
        for _, event in events:
            user = linked.get(event.session) if event.session is not None else None
            if user is not None and event.turn is not None:
                outbounds += await self._outbounds(user, event, event.turn)
        if not outbounds:
            return None
        places = frozenset(outbound.to for outbound in outbounds)
        return Effects(self._store.outbox.on_pending(outbounds), lambda: self._on_pending(places))

    async def _outbounds(self, user: WebUser, event: TimelineEvent, turn: TurnId) -> list[Outbound]:
        message = await self._store.inbox.first_of(turn)
        result = None if message is None else await self._store.results.find(message)
        if result is None or not result.settled or not result.reply:
            return []
        address = SenderAddress.parse(user.address)
        to = Address(address.channel, address.id, address.account)
        limit = self._limit_of(to) or 10_000_000
        asked = await self._store.turns.opening(turn)
        said = [f"{user.name}: {asked}"] if asked else []
        chunks = [chunk for text in (*said, result.reply) for chunk in split_text(text, limit)]
        return [
            Outbound(OutboxId(f"web:{turn}:{n}"), to, chunk, OutboundKind.REPLY, turn, event.trace, n)
            for n, chunk in enumerate(chunks)
        ]

    async def _keep(self, user: WebUser) -> WebUser:
        value = json.dumps([user.name, user.force_send, user.address, user.created])
        await self._records.put(PluginRecord(_PREFIX + user.id, value, person=_erasable_sender(user.address)))
        self._users[user.id] = user
        return user


def _read(record: PluginRecord) -> WebUser:
    name, force_send, address, created = json.loads(record.value)
    return WebUser(record.key.removeprefix(_PREFIX), name, force_send, address, created)


def _checked(text: str) -> str:
    if not text.strip():
        return ""
    try:
        address = SenderAddress.parse(text)
    except ValueError as error:
        raise InvalidRequest(str(error)) from error
    if address.channel in (*_MACHINES, *POLLED_CHANNELS):
        raise InvalidRequest(translatable("{channel} is not a chat that Hob can write to", channel=address.channel))
    return str(address)


def _address_of(to: Address) -> str:
    return str(SenderAddress.of(to.channel, to.chat, to.account))


def _erasable_sender(address: str) -> str | None:
    """Return the sender in the form that erasure uses, so that the link is erased with the person."""
    if not address:
        return None
    return str(SenderAddress.parse(address))


GATHER_SECONDS = 0.25
"""Window in which answers for linked chats are collected and sent together."""


@asynccontextmanager
async def open_delivery(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Create the delivery rules with the follower that forwards answers to linked chats."""
    rules = DeliveryRules(
        kernel.config[DeliverySettings],
        kernel.store,
        kernel.records,
        kernel.clock,
        kernel.channels.limit_of,
        kernel.signals.outbox,
    )
    await rules.load()

    async def erased(_: Collection[TurnId]) -> None:
        await rules.load()

    yield Contribution(
        provides={WebUsers: rules, SkipsMessages: rules},
        followers=(Follower("web_users", rules.follow, kinds=(EventKind.TURN,), pause=GATHER_SECONDS),),
        erase=erased,
        on_settings=rules.reconfigure,
    )
