"""Incoming and outgoing webhooks: a follower of the timeline puts selected events into the outbox.

Entries have ids derived from their events and are written together with the cursor, so a crash neither duplicates nor
loses one.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from hob.agent.sessions import is_subagent
from hob.app.contribution import Contribution, Effects, Follower, Job
from hob.app.kernel import Kernel
from hob.app.notifications.owner_notifier import OnPending, OwnerNotifier
from hob.app.running_app import RunningServices
from hob.channels.webhooks.channel import OutgoingWebhooks
from hob.channels.webhooks.settings import WebhookOutSettings, WebhooksOut
from hob.config.loading import Config
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.events.tracing import CONTENT_FREE
from hob.core.ids import OutboxId, SessionKey
from hob.core.messages import WEBHOOK_CHANNEL, WEBHOOK_OUT_CHANNEL, Address, Outbound, OutboundKind
from hob.core.ports.accept import Accept
from hob.core.ports.channel import Delivered, Repeats
from hob.core.states import TurnState
from hob.core.translation.language import say
from hob.gateway.webhooks.receiver import WebhookReceiver
from hob.gateway.webhooks.settings import AnswerTo, Webhooks, WebhookSettings
from hob.store.store import Store

log = logging.getLogger(__name__)


@asynccontextmanager
async def open_webhooks(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Create the answer channel for incoming webhooks, and the dispatcher for outgoing ones."""
    config, receivers, notifier = kernel.config, kernel.config[WebhooksOut], kernel.notifier
    dispatcher = WebhookDispatcher(receivers, kernel.store, notifier, kernel.language, kernel.signals.outbox)
    await dispatcher.begin()

    async def warn(_: RunningServices) -> None:
        await asyncio.to_thread(warn_of_webhooks, config)

    yield Contribution(
        provides={WebhookReceiver: WebhookReceiver(config[Webhooks])},
        channels=(AnswerChannel(config[Webhooks], notifier), OutgoingWebhooks(receivers, kernel.clock)),
        followers=(Follower(NAME, dispatcher.work, KINDS),) if receivers else (),
        jobs=(Job("webhook_settings", warn),) if receivers or config[Webhooks] else (),
    )


def warn_of_webhooks(config: Config) -> None:
    """Log webhooks that neither receive nor report anything. Reads their secrets."""
    for name, received in config[Webhooks].items():
        if problem := received.problem():
            log.warning("webhook %s takes nothing: %s", name, problem, extra=CONTENT_FREE)
    for name, told in config[WebhooksOut].items():
        if problem := told.problem():
            log.warning("webhook %s cannot be told anything: %s", name, problem, extra=CONTENT_FREE)


class AnswerChannel:
    """Implements `Channel` for incoming webhooks, whose senders do not wait for an answer.

    Answers that are not for the owner stay on the timeline and in the webhook's session.
    """

    name = WEBHOOK_CHANNEL
    account = ""
    repeats = Repeats.SHOWN_ONCE
    text_limit = 10_000_000

    def __init__(self, webhooks: Mapping[str, WebhookSettings], notifier: OwnerNotifier) -> None:
        self._webhooks = webhooks
        self._telling = notifier

    def run(self, accept: Accept) -> AbstractAsyncContextManager[None]:
        """Receive nothing: deliveries arrive over HTTP."""
        return _nothing(accept)

    async def send(self, message: Outbound) -> Delivered:
        """Forward the answer to the owner if the webhook's settings say so; durable on return. Raises StoreErrors."""
        settings = self._webhooks.get(message.to.chat)
        if settings is None or settings.answer is not AnswerTo.OWNER:
            return Delivered("kept")
        return Delivered(await self._telling.forward(message, f"[{message.to.chat}] {message.text}"))


@asynccontextmanager
async def _nothing(_: Accept) -> AsyncIterator[None]:
    yield


NAME = "webhooks"
_STATE = (WEBHOOK_OUT_CHANNEL, "")
_SINCE = "since."
_DAY = 86_400.0
KINDS = (EventKind.TURN, EventKind.APPROVAL, EventKind.SYSTEM, EventKind.DELIVERY)
_TOLD_BY_US = "webhook"
_ENDS: Mapping[str, str] = {
    TurnState.DONE: "turn.done",
    TurnState.SILENT: "turn.done",
    TurnState.FAILED: "turn.failed",
    TurnState.SET_ASIDE: "turn.failed",
}


class _Notice(NamedTuple):
    """An event to report. `words` is the message text, which only some receivers get."""

    type: str
    data: Mapping[str, Any]
    words: Mapping[str, str]
    hops: int = 0


class WebhookDispatcher:
    """Sends receivers the events they are configured for."""

    def __init__(
        self,
        receivers: Mapping[str, WebhookOutSettings],
        store: Store,
        notifier: OwnerNotifier,
        language: str,
        on_pending: OnPending,
    ) -> None:
        """`on_pending` is called when an entry awaits delivery."""
        self._receivers = receivers
        self._store = store
        self._telling = notifier
        self._language = language
        self._on_pending = on_pending
        self._since: Mapping[str, int] = {}
        self._complained: set[str] = set()

    async def begin(self) -> None:
        """Start new receivers at the current end of the timeline.

        Call once, before the first event to report. Raises StoreErrors.
        """
        kept = await self._store.channel_state.get(*_STATE)
        if not self._receivers:
            if kept:  # a receiver that returns later does not get the events in between
                await self._store.channel_state.put(*_STATE, dict.fromkeys(kept, ""))
            await self._store.followers.forget(NAME)
            return
        end = await self._store.timeline.newest()
        known = {key.removeprefix(_SINCE): int(value) for key, value in kept.items() if key.startswith(_SINCE)}
        self._since = {name: known.get(name, end) for name in self._receivers}
        fresh = {f"{_SINCE}{name}": str(place) for name, place in self._since.items() if name not in known}
        gone = {f"{_SINCE}{name}": "" for name in known if name not in self._since}
        if fresh or gone:
            await self._store.channel_state.put(*_STATE, {**fresh, **gone})

    async def work(self, events: Sequence[tuple[int, TimelineEvent]]) -> Effects:
        """Queue these events for their receivers."""
        told = [each for place, event in events for each in await self._tell(place, event)]
        if not told:
            return Effects()
        return Effects(self._store.outbox.on_pending(told), partial(self._on_pending, {each.to for each in told}))

    async def _tell(self, place: int, event: TimelineEvent) -> list[Outbound]:
        if event.kind is EventKind.DELIVERY and event.name == WEBHOOK_OUT_CHANNEL:
            await self._report_abandoned(event)
            return []
        kind = _webhook_type(event)
        names = [
            name for name, settings in self._receivers.items() if kind in settings.events and place > self._since[name]
        ]
        if not names:
            return []
        news = await self._news_of(kind, event)
        return [self._outbound(name, event, news) for name in names]

    async def _news_of(self, kind: str, event: TimelineEvent) -> _Notice:
        if event.turn is None:
            return _Notice(kind, {"about": event.status}, {"text": event.text})
        about: dict[str, Any] = {"session": event.session, "turn": event.turn, "trace": event.trace}
        hops = await self._store.turns.hops(event.turn)
        row = await self._store.turns.find(event.turn)
        if kind == "approval.asked":
            asked = await self._store.approvals.open(event.session)
            about |= {"tool": event.name, "approvals": [each.id for each in asked if each.turn == event.turn]}
            return _Notice(kind, about, {"question": row.question if row is not None else ""}, hops)
        about |= {"state": event.classification, "seconds": event.seconds}
        if kind == "turn.failed":
            about["reason"] = event.status
        opening = await self._store.turns.opening(event.turn)
        return _Notice(kind, about, {"message": opening, "reply": row.reply if row is not None else ""}, hops)

    def _outbound(self, name: str, event: TimelineEvent, news: _Notice) -> Outbound:
        id = OutboxId(f"wh_{event.id}_{name}")
        body = {
            "id": id,
            "type": news.type,
            "timestamp": datetime.fromtimestamp(event.at, UTC).isoformat(timespec="milliseconds"),
            "hops": news.hops + 1,
            "data": {**news.data, **(news.words if self._receivers[name].text else {})},
        }
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        to = Address(WEBHOOK_OUT_CHANNEL, name)
        return Outbound(id, to, text, OutboundKind.NOTICE, event.turn, event.trace, previews=False)

    async def _report_abandoned(self, event: TimelineEvent) -> None:
        """Tell the owner about an abandoned delivery, once per day and receiver, since others wait behind it."""
        if event.status != "undeliverable":
            return
        for row in await self._store.outbox.stuck():
            if (row.outbound.to.channel, row.outbound.trace, row.reason) != (event.name, event.trace, event.text):
                continue
            key = f"{row.outbound.to.chat}.{int(event.at // _DAY)}"
            if key not in self._complained:
                self._complained.add(key)
                text = say(
                    self._language,
                    "The webhook {name} could not be told of something ({reason}). `hob retry {id}` tells it again.",
                    name=row.outbound.to.chat,
                    reason=event.text,
                    id=row.outbound.id,
                )
                await self._telling.notify(text, _TOLD_BY_US, key=key, trace=event.trace)
            return


def _webhook_type(event: TimelineEvent) -> str:
    """Return the webhook type of an event; empty if webhooks never report it."""
    match event.kind:
        case EventKind.TURN if event.turn is not None and not is_subagent(event.session or SessionKey("")):
            return _ENDS.get(event.classification, "")
        case EventKind.APPROVAL if event.status == "asked" and event.turn is not None:
            return "approval.asked"
        case EventKind.SYSTEM if event.name == "admission" and event.status != _TOLD_BY_US:
            return "alert"
    return ""
