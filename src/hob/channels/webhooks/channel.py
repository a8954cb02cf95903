"""Outgoing webhooks as Standard Webhooks: each attempt gets a new signature, and all attempts share one id."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol

from hob import __version__
from hob.channels.webhooks.settings import CAPABILITIES, WebhookOutSettings
from hob.core.clock import Clock
from hob.core.errors import NotConfigured, SendFailed
from hob.core.events.webhooks import ID, SIGNATURE, TIMESTAMP, sign
from hob.core.lazy import Lazy
from hob.core.messages import WEBHOOK_OUT_CHANNEL, Outbound, OutboundKind
from hob.core.ports.accept import Accept
from hob.core.ports.channel import Delivered, Repeats

_GONE = 410


class _Client(Protocol):
    async def post(
        self, settings: WebhookOutSettings, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, float | None]: ...

    async def aclose(self) -> None: ...


@Lazy
def _client() -> Callable[[], _Client]:
    from hob.channels.webhooks.http_client import WebhookClient

    return WebhookClient


class OutgoingWebhooks:
    """Implements `Channel`. A chat is a receiver's name in the settings; a message's text is the request body.

    Redirects are not followed, proxies are not used, and response bodies are not read. Nothing is opened before the
    first message.
    """

    name = WEBHOOK_OUT_CHANNEL
    account = ""
    repeats = Repeats.SHOWN_ONCE
    text_limit = 10_000_000
    capabilities = CAPABILITIES

    def __init__(self, receivers: Mapping[str, WebhookOutSettings], clock: Clock) -> None:
        self._receivers = receivers
        self._clock = clock
        self._client = Lazy(lambda: _client()())

    def run(self, accept: Accept) -> AbstractAsyncContextManager[None]:
        """Close the client at the end of the block. This channel receives no messages."""
        return self._run(accept)

    @asynccontextmanager
    async def _run(self, _: Accept) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Close the client."""
        if self._client.loaded is not None:
            await self._client.loaded.aclose()

    async def send(self, message: Outbound) -> Delivered:
        """Post the message to its receiver. Raises SendFailed, permanently if the receiver is gone."""
        settings = self._receivers.get(message.to.chat)
        if settings is None:
            raise SendFailed(f"there is no [webhooks_out.{message.to.chat}] any more", permanent=True)
        body = body_of(message, self._clock.now()).encode()
        headers = self._headers(settings, message.id, body)
        client = await asyncio.to_thread(self._client)
        try:
            async with asyncio.timeout(settings.seconds):  # httpx limits each read, but a response may trickle
                status, retry_after = await client.post(settings, body, headers)
        except TimeoutError as error:
            raise SendFailed(f"it did not answer within {settings.seconds:g} s") from error
        if 200 <= status < 300:
            return Delivered(message.id)  # edits, deletes and reactions name it
        if 300 <= status < 400:
            raise SendFailed(f"it answered {status}; redirects are not followed, url is to be the last address")
        raise SendFailed(f"it answered {status}", permanent=status == _GONE, retry_after=retry_after)

    def _headers(self, settings: WebhookOutSettings, id: str, body: bytes) -> dict[str, str]:
        at = int(self._clock.now().timestamp())
        try:
            signature = " ".join(sign(each.reveal(), id, at, body) for each in settings.secrets)
        except (NotConfigured, ValueError) as error:
            raise SendFailed(str(error)) from error
        return {
            "content-type": "application/json",
            "user-agent": f"Hob/{__version__}",
            ID: id,
            TIMESTAMP: str(at),
            SIGNATURE: signature,
        }


def body_of(message: Outbound, now: datetime) -> str:
    """Return the request body: events as they were written, and messages of the tool `message` as an event of their
    own.
    """
    if message.kind is not OutboundKind.REPLY:
        return message.text
    data = {
        "action": message.action,
        "about": message.about,
        "text": message.text,
        "buttons": [{"label": each.label, "answer": each.answer} for each in message.buttons],
        "poll": message.poll,
    }
    timestamp = now.astimezone(UTC).isoformat(timespec="milliseconds")
    value = {"id": message.id, "type": "message", "timestamp": timestamp, "data": {k: v for k, v in data.items() if v}}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
