"""Delivery of the outbox: in order within a chat, retried until accepted, and limited to the channel's pace."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import field
from typing import Any, Protocol, TypeVar

from hob.bus.settings import BusSettings
from hob.bus.waiting import backoff, failure_pause, retry, wait_for_event, within
from hob.core.clock import Clock
from hob.core.content.capabilities import get_capabilities
from hob.core.content.fallbacks import apply_fallbacks
from hob.core.errors import NotFound, SendFailed, StoreError
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.events.tracing import CONTENT_FREE, TRACE
from hob.core.ids import new_event_id, new_span_id
from hob.core.messages import Address, Outbound
from hob.core.ports.channel import Channel, Delivered, Repeats
from hob.core.values import dataclass
from hob.store.database.state_moves import IllegalMove
from hob.store.messages.outbox import OutboxRow
from hob.store.store import Store

log = logging.getLogger(__name__)

T = TypeVar("T")
MAX_SLEEP_SECONDS = 300.0
"""Longest sleep until a wall-clock time, since the wall clock may jump."""
_LONGEST_PAUSE = 3_600.0
"""Longest pause between two sends that a channel may ask for: a row due later was written while the clock was ahead."""
INTERRUPTED = "Hob ended while this was being sent; it may have arrived."


class SkipsMessages(Protocol):
    """Rules for messages that are not sent."""

    def skips(self, outbound: Outbound) -> str:
        """Return why this chunk is not sent, for people; empty if it is sent."""


@dataclass(slots=True)
class DeliveryRoute:
    """Delivery state of one channel."""

    channel: Channel
    slots: asyncio.Semaphore
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    chats: set[tuple[str, str]] = field(default_factory=set)
    """Chats and threads with a send in progress."""
    quiet: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no send is in progress and no row needs attention."""


@dataclass(frozen=True, slots=True)
class SendFailure:
    """A failed send. `unknown` means that the channel may have received the message."""

    reason: str
    permanent: bool = False
    retry_after: float = 0.0
    unknown: bool = False


class OutboxDelivery:
    """Sends chunks from the outbox to their channels. Rows of other channels stay."""

    def __init__(
        self,
        store: Store,
        channels: Sequence[Channel],
        *,
        settings: BusSettings,
        clock: Clock,
        group: asyncio.TaskGroup,
        on_sent: Callable[[Address], None] = lambda to: None,
        skips: Callable[[Outbound], str] = lambda outbound: "",
    ) -> None:
        """`on_sent` is called with the address of each send; `skips` returns why a chunk is not sent."""
        self._store = store
        self._on_sent = on_sent
        self._skips = skips
        self._settings = settings
        self._clock = clock
        self._group = group
        self._routes = {
            (channel.name, channel.account): DeliveryRoute(channel, asyncio.Semaphore(settings.sends_at_once))
            for channel in channels
        }
        self._tasks: set[asyncio.Task[None]] = set()
        self._longest_pause = max(settings.send_pause_most_seconds, _LONGEST_PAUSE)

    def start(self) -> None:
        """Start delivering, beginning with sends that the last process left unfinished."""
        for route in self._routes.values():
            self._spawn(self._serve(route))

    def pending(self, addresses: Iterable[Address] | None = None) -> None:
        """Look for new rows of these addresses (None: of any)."""
        if addresses is None:
            routes = set(self._routes)
        else:
            routes = {(address.channel, address.account) for address in addresses} & self._routes.keys()
        for key in routes:
            self._routes[key].quiet.clear()
            self._routes[key].wake.set()

    async def drain(self, seconds: float) -> None:
        """Let sends in progress finish for this long, then cancel them; the next start settles them."""
        until = self._clock.monotonic() + seconds
        for route in self._routes.values():
            await wait_for_event(route.quiet, self._clock, max(0.0, until - self._clock.monotonic()))
        for task in tuple(self._tasks):
            task.cancel()

    # One channel

    async def _serve(self, route: DeliveryRoute) -> None:
        await self._persist(lambda: self._settle_unfinished(route))
        failures = 0
        while True:
            route.wake.clear()
            try:
                pause = await self._start_due(route)
                failures = 0
                if not route.chats and not route.wake.is_set():
                    route.quiet.set()
            except StoreError as error:
                failures += 1
                pause = failure_pause(self._settings, failures)
                log.error("the outbox of %s cannot be read: %s", route.channel.name, error)
            await wait_for_event(route.wake, self._clock, pause)

    async def _start_due(self, route: DeliveryRoute) -> float | None:
        """Start all sends that are due; return the seconds until the next row is due, or None."""
        name, account = route.channel.name, route.channel.account
        outbox = self._store.outbox
        now = self._clock.now().timestamp()
        for row in await outbox.next(name, account, now, now + self._longest_pause):
            chat = (row.outbound.to.chat, row.outbound.to.thread)
            if chat not in route.chats:
                route.chats.add(chat)
                route.quiet.clear()
                self._spawn(self._deliver(route, row))
        due = await outbox.next_due(name, account)
        if due is None:
            return None
        # A row just started still counts as due until its state is written, after which this runs again. The lower
        # bound prevents rounding errors from waking it slightly early, again and again.
        soonest = 1.0 if route.chats else 0.001
        return min(max(due - now, soonest), MAX_SLEEP_SECONDS)

    async def _settle_unfinished(self, route: DeliveryRoute) -> None:
        channel = route.channel
        for row in await self._store.outbox.unfinished_sends():
            to = row.outbound.to
            if (to.channel, to.account) != (channel.name, channel.account):
                continue
            if channel.repeats is Repeats.NEVER:
                await self._park(row, INTERRUPTED)
            else:
                await self._store.outbox.again(row.outbound.id)

    # One chunk

    async def _deliver(self, route: DeliveryRoute, row: OutboxRow) -> None:
        TRACE.set(row.outbound.trace)
        chat = (row.outbound.to.chat, row.outbound.to.thread)
        try:
            async with route.slots:
                await self._send(route.channel, row)
        except (IllegalMove, NotFound) as error:  # erased or moved meanwhile
            log.warning("%s is no longer what it was: %s", row.outbound.id, error)
        finally:
            route.chats.discard(chat)
            route.wake.set()

    async def _send(self, channel: Channel, row: OutboxRow) -> None:
        outbox, id = self._store.outbox, row.outbound.id
        if why := self._skips(row.outbound):
            skipped = self._event(row, "skipped", self._clock.now().timestamp(), None, why)
            await self._persist(lambda: outbox.skipped(id, why, skipped))
            return
        await self._persist(lambda: outbox.sending(id))
        began, at = self._clock.monotonic(), self._clock.now().timestamp()
        self._on_sent(row.outbound.to)  # before the send: a program may reply before the channel has returned
        outcome = await self._attempt(channel, row)
        seconds = self._clock.monotonic() - began
        match outcome:
            case Delivered(receipt):
                event = self._event(row, "ok", at, seconds)
                await self._persist(lambda: outbox.sent(id, receipt, event))
                what = row.outbound.turn or "a notice"
                log.info("%s sent to %s in %.1f s", what, channel.name, seconds, extra=CONTENT_FREE)
            case SendFailure(unknown=True) if channel.repeats is Repeats.NEVER:
                await self._persist(lambda: self._park(row, outcome.reason))
            case SendFailure():
                await self._record_failure(row, outcome)

    async def _attempt(self, channel: Channel, row: OutboxRow) -> Delivered | SendFailure:
        try:
            message = apply_fallbacks(row.outbound, get_capabilities(channel))
            return await within(self._clock, self._settings.send_seconds, channel.send(message))
        except SendFailed as failed:
            return SendFailure(str(failed), failed.permanent, failed.retry_after or 0.0)
        except TimeoutError as late:
            return SendFailure(f"the channel did not answer ({late})", unknown=True)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return SendFailure("the channel cancelled itself", unknown=True)
        except Exception as error:  # errors of channels end here
            log.exception("the channel %s broke while sending %s", channel.name, row.outbound.id)
            return SendFailure(f"{type(error).__name__}: {error}", unknown=True)

    async def _record_failure(self, row: OutboxRow, unsent: SendFailure) -> None:
        outbox, id, settings = self._store.outbox, row.outbound.id, self._settings
        attempts = row.attempts + 1
        now = self._clock.now().timestamp()
        if unsent.permanent or attempts >= settings.send_attempts:
            log.error("%s cannot be delivered: %s", id, unsent.reason)
            event = self._event(row, "undeliverable", now, None, unsent.reason)
            await self._persist(lambda: outbox.failed(id, unsent.reason, None, event))
            return
        pause = backoff(attempts, settings.send_pause_seconds, settings.send_pause_most_seconds)
        log.warning("%s was not taken (attempt %d): %s", id, attempts, unsent.reason)
        next_at = now + min(max(pause, unsent.retry_after), self._longest_pause)
        await self._persist(lambda: outbox.failed(id, unsent.reason, next_at))

    async def _park(self, row: OutboxRow, reason: str) -> None:
        event = self._event(row, "parked", self._clock.now().timestamp(), None, reason)
        await self._store.outbox.park(row.outbound.id, reason, event)

    def _event(self, row: OutboxRow, status: str, at: float, seconds: float | None, text: str = "") -> TimelineEvent:
        return TimelineEvent(
            id=new_event_id(),
            trace=row.outbound.trace,
            span=new_span_id(),
            parent=None,
            at=at,
            kind=EventKind.DELIVERY,
            name=row.outbound.to.channel,
            status=status,
            turn=row.outbound.turn,
            text=text,
            seconds=seconds,
        )

    # Failures of the store

    async def _persist(self, work: Callable[[], Awaitable[T]]) -> T:
        return await retry(work, self._wait_for_store)

    async def _wait_for_store(self, failures: int, error: StoreError) -> None:
        log.error("delivery waits for the store: %s", error)
        await self._clock.sleep(failure_pause(self._settings, failures))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
