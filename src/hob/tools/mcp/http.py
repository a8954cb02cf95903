"""MCP over HTTP, to public addresses and to local ones that the owner named."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address

import httpx2
from mcp.client.streamable_http import streamable_http_client

from hob.tools.mcp.streams import Streams
from hob.tools.web.public_transport import PublicTransport

_CONNECT_SECONDS, _READ_SECONDS = 15.0, 300.0


class NamedTransport(httpx2.AsyncBaseTransport):
    """Sends requests to the public internet, and to the one local host that the owner named by number or as localhost.

    Names that resolve to this machine or its network are refused, because anyone can publish such a name. Raises
    ToolRefused.
    """

    def __init__(self, url: str) -> None:
        self._named = httpx2.URL(url).host if is_local(url) else None
        self._public = PublicTransport()
        self._local = httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        way = self._local if request.url.host == self._named else self._public
        return await way.handle_async_request(request)

    async def aclose(self) -> None:
        await self._local.aclose()
        await self._public.aclose()


def is_local(url: str) -> bool:
    """Return whether a URL names this machine or its network, by number or as localhost; False for cloud metadata."""
    host = httpx2.URL(url).host
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or (address.is_private and not address.is_link_local and not address.is_unspecified)


@asynccontextmanager
async def open_http(
    url: str, headers: Mapping[str, str], auth: httpx2.Auth | None, _ended: Callable[[], None]
) -> AsyncIterator[Streams]:
    """Open the streams of a streamable HTTP server. Raises httpx2.HTTPError."""
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
    async with (
        httpx2.AsyncClient(
            transport=NamedTransport(url), headers=headers, auth=auth, timeout=timeout, trust_env=False
        ) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams
