"""A transport that reaches only the public internet: resolve, check, pin.

A name is resolved here, all its addresses are checked, and the connection goes to a checked address. So a name that
resolves differently later (rebinding) gains nothing, and an address is recognised in every notation: decimal, octal,
hexadecimal, IPv4 embedded in IPv6. Redirects are requests like any other.
"""

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address

import httpx2

from hob.core.errors import ToolFailed, ToolRefused
from hob.tools.sandbox.network.proxy import INTERNET, Internet

_RESOLVE_SECONDS = 10.0
_PORTS = {"http": 80, "https": 443}
# lower ports belong to mail servers and the like, which a request could be tricked into talking to
_LOWEST_OTHER_PORT = 1024


class PublicTransport(httpx2.AsyncBaseTransport):
    """Sends requests to public addresses. Raises ToolRefused for others, ToolFailed if a name does not resolve."""

    def __init__(self, internet: Internet = INTERNET, inner: httpx2.AsyncBaseTransport | None = None) -> None:
        """`inner` makes the connections."""
        self._internet = internet
        # kept connections are found by address, and must not serve another name there
        unkept = httpx2.Limits(max_keepalive_connections=0)
        self._inner = inner or httpx2.AsyncHTTPTransport(trust_env=False, limits=unkept)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        if url.scheme not in _PORTS or not url.host:
            raise ToolRefused(f"{url} is no address in the web (http or https)")
        port = url.port or _PORTS[url.scheme]
        if port not in _PORTS.values() and port < _LOWEST_OTHER_PORT:
            raise ToolRefused(f"port {port} of {url.host} is not one that serves web pages")
        addresses = await self._addresses(url.raw_host.decode("ascii").strip("[]"), port)
        for address in addresses:
            if not self._internet.reachable(address):
                where = "" if address == url.host else f" leads to {address}, which"
                raise ToolRefused(f"{url.host}{where} is not on the public internet")
        return await self._send(request, addresses)

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        try:
            async with asyncio.timeout(_RESOLVE_SECONDS):
                found = await self._internet.resolve(host, port)
        except (OSError, UnicodeError, TimeoutError) as error:
            raise ToolFailed(f"there is no address for the name {host}") from error
        return list(dict.fromkeys(each.partition("%")[0] for each in found))

    async def _send(self, request: httpx2.Request, addresses: Sequence[str]) -> httpx2.Response:
        *others, last = addresses
        for address in others:
            try:
                return await self._inner.handle_async_request(_pinned(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_pinned(request, last))

    async def aclose(self) -> None:
        await self._inner.aclose()


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    """Return the request with this address as its target. Host header and TLS name stay."""
    name = request.url.raw_host.decode("ascii").strip("[]")
    host = f"[{address}]" if ip_address(address).version == 6 else address
    extensions = {**request.extensions, "sni_hostname": name}
    url = request.url.copy_with(host=host)
    return httpx2.Request(request.method, url, headers=request.headers, stream=request.stream, extensions=extensions)
