"""An alarm for undelivered replies, raised once per incident; sleeps while nothing is pending."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager

from hob.app.contribution import Contribution, Job
from hob.app.kernel import Kernel
from hob.core.clock import Clock
from hob.core.errors import StoreError
from hob.core.messages import Address
from hob.core.translation.sentences import Sentence, format_duration, say
from hob.store.messages.outbox import OutboxAge
from hob.store.store import Store

MAX_PENDING_SECONDS = 300.0
"""Age in seconds at which a pending reply raises the alarm."""

log = logging.getLogger(__name__)

Tell = Callable[[str, str, str], Awaitable[None]]
"""Sends the owner a text, once per key, preferably not over the failing channel."""


class OutboxAlarm:
    """Starts an incident when a reply is pending for five minutes, and ends it when nothing is pending."""

    def __init__(self, store: Store, clock: Clock, notify: Tell, language: str) -> None:
        self._store = store
        self._clock = clock
        self._tell = notify
        self._language = language
        self._owing = asyncio.Event()
        self.since: float | None = None
        """Start of the incident (Unix seconds); None without one."""

    def on_pending(self) -> None:
        """Wake up, since a message may be pending."""
        self._owing.set()

    async def run(self) -> None:
        """Watch until cancelled, beginning with replies from earlier runs."""
        while True:
            self._owing.clear()
            try:
                left = await self._check()
            except StoreError as error:
                log.warning("the outbox cannot be looked at: %s", error)
                left = MAX_PENDING_SECONDS
            if left is None:
                await self._owing.wait()
                left = MAX_PENDING_SECONDS  # what becomes pending from now on cannot be late before that
            await self._clock.sleep(left)

    async def _check(self) -> float | None:
        """Check once. Return the seconds until a message can be late; None if nothing is pending."""
        oldest = await self._store.outbox.oldest()
        if oldest is None:
            self._end()
            return None
        late = self._clock.now().timestamp() - oldest.created
        if late < MAX_PENDING_SECONDS:
            self._end()
            return min(MAX_PENDING_SECONDS, max(1.0, MAX_PENDING_SECONDS - late))  # the clock may have been set back
        if self.since is None:
            self.since = oldest.created
            await self._begin(oldest, late)
        return MAX_PENDING_SECONDS

    async def _begin(self, oldest: OutboxAge, late: float) -> None:
        log.error(
            "replies to %s have been waiting for %.0f s: %s", oldest.channel, late, oldest.reason or "no reason known"
        )
        why = f" ({oldest.reason})" if oldest.reason else ""
        text = say(
            Sentence.OUTBOX_LATE,
            self._language,
            channel=oldest.channel,
            wait=format_duration(late, self._language),
            why=why,
        )
        await self._tell(text, oldest.id, oldest.channel)

    def _end(self) -> None:
        if self.since is not None:
            log.warning("replies arrive again")
            self.since = None


@asynccontextmanager
async def open_alarm(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Create the alarm, woken by writes for a running channel."""
    alarm = OutboxAlarm(kernel.store, kernel.clock, kernel.notifier.notify_undelivered, kernel.language)

    def on_pending(addresses: Collection[Address] | None) -> None:
        if kernel.channels.serves_any(addresses):
            alarm.on_pending()

    with kernel.signals.outbox.subscribed(on_pending):
        yield Contribution(
            jobs=(Job("outbox_alarm", lambda _: alarm.run()),), status=lambda: {"late_since": alarm.since}
        )
