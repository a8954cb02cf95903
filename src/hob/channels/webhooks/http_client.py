"""The HTTP client of outgoing webhooks. Slow to import, so it is loaded by the first delivery.

A receiver's name is resolved once, checked, and called by the checked address, so a later change of its DNS entry has
no effect (https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html).
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

import httpx2

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


_NAT64 = ip_network("64:ff9b::/96")
"""The last 32 bits are an IPv4 address (https://www.rfc-editor.org/rfc/rfc6052)."""
_UNICAST = ip_network("2000::/3")
"""The public unicast range of IPv6 (https://www.iana.org/assignments/ipv6-address-space)."""
_SPECIAL = tuple(
    ip_network(each)
    for each in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20",
        "168.63.129.16/32",  # https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
    )
)  # fmt: skip
"""Special-purpose ranges (https://www.iana.org/assignments/iana-ipv4-special-registry and its IPv6 counterpart), with
cloud metadata. A list of Hob's own, since `ipaddress` judges differently from version to version.
"""


def is_public(address: str) -> bool:
    """Return whether a numeric address is public; False for names and for addresses that embed a non-public one."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return found.scope_id is None and is_public(str(inner))
        if found.scope_id is not None or found not in _UNICAST:
            return False
    return not any(found in each for each in _SPECIAL)


async def addresses_of(host: str, port: int, *, private: bool) -> tuple[str, ...]:
    """Resolve a host to numeric addresses, best first. Raises SendFailed if any of them must not be called.

    The failure is permanent only for fixed addresses. A name may temporarily resolve elsewhere, for example behind a
    captive portal or before a tunnel is up.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SendFailed(f"the name {host} leads nowhere") from error
    addresses = tuple(dict.fromkeys(str(each[4][0]) for each in found))
    refused = [each for each in addresses if not (private or is_public(each))]
    if refused:
        raise SendFailed(
            f"{host} is {refused[0]}, no address of the public net; allow_private of the webhook allows it",
            permanent=_is_fixed(host),
        )
    return addresses


def _is_fixed(host: str) -> bool:
    """Return whether a host always resolves to the same place: a number in any notation, or localhost."""
    if host == "localhost" or host.endswith(".localhost"):  # https://www.rfc-editor.org/rfc/rfc6761#section-6.3
        return True
    try:
        return bool(socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST))
    except (OSError, UnicodeError):
        return False
