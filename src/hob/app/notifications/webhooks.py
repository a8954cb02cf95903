"""Opening of incoming and outgoing webhooks."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from hob.app.contribution import Contribution, Follower, Job
from hob.app.kernel import Kernel
from hob.app.notifications.owner_notifier import OwnerNotifier
from hob.app.notifications.webhook_dispatcher import KINDS, NAME, WebhookDispatcher
from hob.app.running_app import RunningServices
from hob.channels.webhooks.channel import OutgoingWebhooks
from hob.channels.webhooks.settings import WebhooksOut
from hob.config.loading import Config
from hob.core.events.tracing import CONTENT_FREE
from hob.core.messages import WEBHOOK_CHANNEL, Outbound
from hob.core.ports.accept import Accept
from hob.core.ports.channel import Delivered, Repeats
from hob.gateway.webhooks.receiver import WebhookReceiver
from hob.gateway.webhooks.settings import AnswerTo, Webhooks, WebhookSettings

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
