"""Unprompted messages to the owner, sent where they wrote last, and recorded on the timeline."""

import json
import logging
from collections.abc import Callable, Collection
from dataclasses import astuple, replace

from hob.bus.directory import ChannelDirectory
from hob.core.clock import Clock
from hob.core.content.chunks import split_text
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import OutboxId, TraceId, new_event_id, new_span_id, new_trace_id
from hob.core.messages import Address, Outbound, OutboundKind
from hob.core.trust.labels import SenderClass
from hob.core.trust.people import SenderAddress
from hob.guard.admission.people import People
from hob.store.store import Store

OnPending = Callable[[Collection[Address] | None], None]
_STATE = ("hob", "")
_KEY = "owner"

log = logging.getLogger(__name__)


class OwnerNotifier:
    """Tracks where the owner can be reached, and sends messages there."""

    def __init__(
        self, store: Store, people: People, channels: ChannelDirectory, clock: Clock, on_pending: OnPending
    ) -> None:
        """`on_pending` is called when a message awaits delivery."""
        self._store = store
        self._people = people
        self._channels = channels
        self._clock = clock
        self._on_pending = on_pending
        self._at: tuple[Address, str] | None = None
        self._kept: tuple[Address, str] | None = None

    async def load(self) -> None:
        """Load the owner's last address from an earlier run. Raises StoreErrors."""
        found = (await self._store.channel_state.get(*_STATE)).get(_KEY)
        if found:
            *address, sender = json.loads(found)
            self._at = self._kept = (Address(*address), sender)

    def note_owner_address(self, address: Address, sender: str) -> None:
        """Record that the owner has just written at this address, in a direct chat, under this id."""
        self._at = (address, sender)

    async def keep(self) -> None:
        """Store the owner's address if it has changed. Raises StoreErrors."""
        at = self._at
        if at is not None and at != self._kept:
            await self._store.channel_state.put(*_STATE, {_KEY: json.dumps((*astuple(at[0]), at[1]))})
            self._kept = at

    async def notify(
        self, text: str, what: str, *, sender: str = "", key: str = "", trace: str = "", avoid: str = ""
    ) -> None:
        """Send the owner this text and record it; durable on return. A repeated `key` is sent once.

        Uses another channel than `avoid` if one reaches the owner. Raises StoreErrors.
        """
        to, event = self._owner(avoid) or self._owner(), self._event(text, what, sender, trace)
        log.warning("%s: %s", what, sender or "the owner is told")
        if to is None:
            await self._store.timeline.add((event,))
            return
        limit = self._channels.limit_of(to)
        outbounds = [
            Outbound(
                OutboxId(f"{what}.{key or event.id}.{n}"), to, part, OutboundKind.NOTICE, None, event.trace, n, False
            )
            for n, part in enumerate(split_text(text, limit))
        ]
        await self._store.outbox.enqueue(outbounds, (event,))
        self._on_pending((to,))

    async def notify_undelivered(self, text: str, key: str, channel: str) -> None:
        """Tell the owner that replies to this channel are not delivered. Raises StoreErrors."""
        await self.notify(text, "outbox", key=key, avoid=channel)

    async def forward(self, message: Outbound, text: str) -> str:
        """Send the owner this text instead of the message, once per message. Returns the channel used.

        If no channel reaches the owner, the terminal shows it when opened next. Raises StoreErrors.
        """
        to = self._owner() or Address("local", "main")
        limit = self._channels.limit_of(to)
        parts = split_text(text, limit) if limit else (text,)
        await self._store.outbox.enqueue(
            [replace(message, id=OutboxId(f"{message.id}.{n}"), to=to, text=part) for n, part in enumerate(parts)]
        )
        self._on_pending((to,))
        return to.channel

    async def note(self, text: str, what: str, *, sender: str = "", trace: str = "") -> None:
        """Record a text on the timeline without sending it. Raises StoreErrors."""
        await self._store.timeline.add((self._event(text, what, sender, trace),))

    def _owner(self, avoid: str = "") -> Address | None:
        """Return where the owner wrote last, else one of their addresses; None if no channel reaches them."""
        if self._at is not None and self._at[0].channel != avoid:
            at, sender = self._at
            person = self._people.find(SenderAddress.of(at.channel, sender, at.account))
            still = person is not None and person.cls is SenderClass.OWNER
            if still and self._channels.find(at) is not None:
                return at
        owners = (person for person in self._people if person.cls is SenderClass.OWNER)
        linked = [address for person in owners for address in person.addresses]
        return next(
            (
                Address(name, address.id, account)
                for address in linked
                for name, account in self._channels.all
                if name.casefold() == address.channel and address.account in ("", account) and name != avoid
            ),
            None,
        )

    def _event(self, text: str, what: str, sender: str, trace: str) -> TimelineEvent:
        return TimelineEvent(
            id=new_event_id(),
            trace=TraceId(trace) if trace else new_trace_id(),
            span=new_span_id(),
            parent=None,
            at=self._clock.now().timestamp(),
            kind=EventKind.SYSTEM,
            name="admission",
            status=what,
            sender_id=sender,
            text=text,
        )
