"""Requests that reach the public internet and nothing else: resolve, check, pin.

A name is resolved here, every address it has is checked, and the connection goes to the very address that was checked.
So a name that leads elsewhere the next time it is asked for (rebinding) leads nowhere, and an address is judged as what
it is however it is written: decimal, octal, hexadecimal, IPv6 around IPv4. Redirects are requests like any other.
"""

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address

import httpx2

from hob.core.errors import ToolFailed, ToolRefused
from hob.tools.sandbox.network.proxy import INTERNET, Internet

_RESOLVE_SECONDS = 10.0
_PORTS = {"http": 80, "https": 443}
_LOWEST_OTHER_PORT = 1024  # below it listen mail servers and the like, which a request could be made to talk to


class PublicTransport(httpx2.AsyncBaseTransport):
    """Sends requests to public addresses. Raises ToolRefused for all others, ToolFailed where a name has none."""

    def __init__(self, internet: Internet = INTERNET, inner: httpx2.AsyncBaseTransport | None = None) -> None:
        """`inner` makes the connections."""
        self._internet = internet
        # a connection that is kept is found by its address: it must never serve another name there
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
    """The same request to this address; the name stays in its header and in what the certificate must say."""
    name = request.url.raw_host.decode("ascii").strip("[]")
    host = f"[{address}]" if ip_address(address).version == 6 else address
    extensions = {**request.extensions, "sni_hostname": name}
    url = request.url.copy_with(host=host)
    return httpx2.Request(request.method, url, headers=request.headers, stream=request.stream, extensions=extensions)
