"""The alarm for replies that do not arrive: told once an incident; while nothing is pending, nothing wakes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager

from hob.app.contribution import Contribution, Job
from hob.app.kernel import Kernel
from hob.core.clock import Clock
from hob.core.errors import StoreError
from hob.core.messages import Address
from hob.core.translation.sentences import Sentence, say, span
from hob.store.messages.outbox import OutboxAge
from hob.store.store import Store

TOO_OLD = 300.0
"""Seconds that something may be pending before the owner hears of it."""

log = logging.getLogger(__name__)

Tell = Callable[[str, str, str], Awaitable[None]]
"""Tells the owner a text, under a key that is told once, and not by this channel if another leads to them."""


class OutboxAlarm:
    """An incident begins when something has been pending for five minutes, and ends when nothing is any more."""

    def __init__(self, store: Store, clock: Clock, notify: Tell, language: str) -> None:
        self._store = store
        self._clock = clock
        self._tell = notify
        self._language = language
        self._owing = asyncio.Event()
        self.since: float | None = None
        """Since when the incident lasts (Unix seconds); None while there is none."""

    def on_pending(self) -> None:
        """Something may be pending from now on."""
        self._owing.set()

    async def run(self) -> None:
        """Watch, as long as it runs; first over what earlier runs left."""
        while True:
            self._owing.clear()
            try:
                left = await self._look()
            except StoreError as error:
                log.warning("the outbox cannot be looked at: %s", error)
                left = TOO_OLD
            if left is None:
                await self._owing.wait()
                left = TOO_OLD  # what is pending since now is not late before that
            await self._clock.sleep(left)

    async def _look(self) -> float | None:
        """Seconds until something can be late; None where nothing is pending."""
        oldest = await self._store.outbox.oldest()
        if oldest is None:
            self._end()
            return None
        late = self._clock.now().timestamp() - oldest.created
        if late < TOO_OLD:
            self._end()
            return min(TOO_OLD, max(1.0, TOO_OLD - late))  # the clock may have been set back
        if self.since is None:
            self.since = oldest.created
            await self._begin(oldest, late)
        return TOO_OLD

    async def _begin(self, oldest: OutboxAge, late: float) -> None:
        log.error(
            "replies to %s have been waiting for %.0f s: %s", oldest.channel, late, oldest.reason or "no reason known"
        )
        why = f" ({oldest.reason})" if oldest.reason else ""
        text = say(
            Sentence.OUTBOX_LATE, self._language, channel=oldest.channel, wait=span(late, self._language), why=why
        )
        await self._tell(text, oldest.id, oldest.channel)

    def _end(self) -> None:
        if self.since is not None:
            log.warning("replies arrive again")
            self.since = None


@asynccontextmanager
async def open_alarm(kernel: Kernel) -> AsyncIterator[Contribution]:
    """The alarm over this kernel, awake to what is written for a channel that runs."""
    alarm = OutboxAlarm(kernel.store, kernel.clock, kernel.notifier.notify_undelivered, kernel.language)

    def on_pending(addresses: Collection[Address] | None) -> None:
        if kernel.channels.serves_any(addresses):
            alarm.on_pending()

    with kernel.signals.outbox.subscribed(on_pending):
        yield Contribution(
            jobs=(Job("outbox_alarm", lambda _: alarm.run()),), status=lambda: {"late_since": alarm.since}
        )
