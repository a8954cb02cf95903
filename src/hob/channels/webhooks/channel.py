"""Webhooks that go out, by Standard Webhooks: signed again for each try, under one id for all of them."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import urlsplit

import httpx2

from hob import __version__
from hob.channels.webhooks.addresses import addresses_of
from hob.channels.webhooks.settings import WebhookOutSettings
from hob.core.clock import Clock
from hob.core.errors import NotConfigured, SendFailed
from hob.core.events.webhooks import ID, SIGNATURE, TIMESTAMP, sign
from hob.core.messages import WEBHOOK_OUT_CHANNEL, Outbound
from hob.core.ports.accept import Accept
from hob.core.ports.channel import Delivered, Repeats

_GONE = 410
_MOST_WAIT = 3_600.0
_PORTS = {"http": 80, "https": 443}


class OutgoingWebhooks:
    """Implements `Channel`: a chat is a receiver by its name in the settings, a message's text is the body as it is.

    Redirects are not followed, no proxy is asked, and what is answered is not read. Nothing is opened before the first
    message.
    """

    name = WEBHOOK_OUT_CHANNEL
    account = ""
    repeats = Repeats.SHOWN_ONCE
    text_limit = 10_000_000

    def __init__(self, receivers: Mapping[str, WebhookOutSettings], clock: Clock) -> None:
        self._receivers = receivers
        self._clock = clock
        self._clients: dict[str, httpx2.AsyncClient] = {}

    def run(self, accept: Accept) -> AbstractAsyncContextManager[None]:
        """Nothing is received here; what was opened for sending is closed with the block."""
        return self._run(accept)

    @asynccontextmanager
    async def _run(self, _: Accept) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Close what was opened."""
        while self._clients:
            await self._clients.popitem()[1].aclose()

    async def send(self, message: Outbound) -> Delivered:
        """Tell the receiver. Raises SendFailed: for good where no one is there any more."""
        settings = self._receivers.get(message.to.chat)
        if settings is None:
            raise SendFailed(f"there is no [webhooks_out.{message.to.chat}] any more", permanent=True)
        body = message.text.encode()
        headers = self._headers(settings, message.id, body)
        try:
            async with asyncio.timeout(settings.seconds):  # httpx limits each piece, and an answer may drip
                status, retry_after = await self._post(settings, body, headers)
        except TimeoutError as error:
            raise SendFailed(f"it did not answer within {settings.seconds:g} s") from error
        if 200 <= status < 300:
            return Delivered(str(status))
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

    async def _post(
        self, settings: WebhookOutSettings, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, float | None]:
        """The status, and after how long to come again. Raises SendFailed."""
        parts = urlsplit(settings.url)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        reason = f"{host} cannot be reached"
        for address in await addresses_of(host, port, private=settings.allow_private):
            shown = f"[{address}]" if ":" in address else address
            request = self._client(parts.scheme).build_request(
                "POST",
                f"{parts.scheme}://{shown}:{port}{target}",
                content=body,
                headers={**headers, "host": parts.netloc},
                timeout=settings.seconds,
                extensions={"sni_hostname": host},  # whose certificate is wanted is the name, not the number
            )
            try:
                response = await self._client(parts.scheme).send(request, stream=True)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                reason = f"{host} cannot be reached: {error}"
                continue
            except httpx2.HTTPError as error:
                raise SendFailed(f"{host} did not answer: {type(error).__name__}") from error
            await response.aclose()
            return response.status_code, _seconds(response.headers.get("retry-after", ""))
        raise SendFailed(reason)

    def _client(self, scheme: str) -> httpx2.AsyncClient:
        if scheme not in self._clients:
            # plain HTTP trusts no one, and reading whom to trust takes long
            verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if scheme == "http" else True
            limits = httpx2.Limits(max_keepalive_connections=0)
            self._clients[scheme] = httpx2.AsyncClient(
                verify=verify, trust_env=False, follow_redirects=False, limits=limits
            )
        return self._clients[scheme]


def _seconds(text: str) -> float | None:
    """A `Retry-After` in seconds; None for none, or a date."""
    with contextlib.suppress(ValueError):
        return min(_MOST_WAIT, float(int(text))) if text.isascii() and len(text) < 10 and int(text) >= 0 else None
    return None
