"""Where the answers to webhooks go."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from hob.app.telling import Telling
from hob.core.messages import WEBHOOK_CHANNEL, Outbound
from hob.core.ports.accept import Accept
from hob.core.ports.channel import Delivered, Repeats
from hob.gateway.webhooks.settings import AnswerTo, WebhookSettings


class AnswerChannel:
    """Implements `Channel` for what comes in by webhooks, whose senders wait for no answer.

    What is not for the owner is on the timeline and in the webhook's conversation, and goes nowhere else.
    """

    name = WEBHOOK_CHANNEL
    account = ""
    repeats = Repeats.SHOWN_ONCE
    text_limit = 10_000_000

    def __init__(self, webhooks: Mapping[str, WebhookSettings], telling: Telling) -> None:
        self._webhooks = webhooks
        self._telling = telling

    def run(self, accept: Accept) -> AbstractAsyncContextManager[None]:
        """Nothing is received here: deliveries come in over HTTP."""
        return self._run(accept)

    @asynccontextmanager
    async def _run(self, _: Accept) -> AsyncIterator[None]:
        yield

    async def send(self, message: Outbound) -> Delivered:
        """Durable at the owner's when it returns, where the webhook's settings say so. Raises StoreErrors."""
        settings = self._webhooks.get(message.to.chat)
        if settings is None or settings.answer is not AnswerTo.OWNER:
            return Delivered("kept")
        return Delivered(await self._telling.forward(message, f"[{message.to.chat}] {message.text}"))
