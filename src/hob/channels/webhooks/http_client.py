"""The HTTP client of outgoing webhooks. Slow to import, so it is loaded by the first delivery."""

import contextlib
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx2

from hob.channels.webhooks.addresses import addresses_of
from hob.channels.webhooks.settings import WebhookOutSettings
from hob.core.errors import SendFailed

_MAX_WAIT = 3_600.0
_PORTS = {"http": 80, "https": 443}


class WebhookClient:
    """Posts to receivers. Redirects are not followed, proxies are not used, and response bodies are not read."""

    def __init__(self) -> None:
        self._clients: dict[str, httpx2.AsyncClient] = {}

    async def aclose(self) -> None:
        """Close the client."""
        while self._clients:
            await self._clients.popitem()[1].aclose()

    async def post(
        self, settings: WebhookOutSettings, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, float | None]:
        """Post a body. Returns the status and the `Retry-After` seconds. Raises SendFailed."""
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
                extensions={"sni_hostname": host},  # the certificate must be for the name, not the address
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
            # plain HTTP needs no certificates, and loading them is slow
            verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if scheme == "http" else True
            limits = httpx2.Limits(max_keepalive_connections=0)
            self._clients[scheme] = httpx2.AsyncClient(
                verify=verify, trust_env=False, follow_redirects=False, limits=limits
            )
        return self._clients[scheme]


def _seconds(text: str) -> float | None:
    """Return a numeric `Retry-After` in seconds; None if it is missing or a date."""
    with contextlib.suppress(ValueError):
        return min(_MAX_WAIT, float(int(text))) if text.isascii() and len(text) < 10 and int(text) >= 0 else None
    return None
