"""Page fetching with limits on redirects, time and bytes."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from datetime import datetime
from email.message import Message

import httpx2

from hob.core.clock import Clock
from hob.core.errors import ToolFailed
from hob.core.values import dataclass
from hob.tools.web.public_transport import PublicTransport

SECONDS = 30.0
MAX_BYTES = 750_000
MAX_DOCUMENT_BYTES = 10_000_000
"""Maximum bytes of PDFs and other files that are useless if truncated."""

MAX_REDIRECTS = 3
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; Hob)",
    "Accept": "text/markdown, text/html;q=0.9, application/json;q=0.9, text/plain;q=0.8, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
_READ_IN_PART = ("text/", "application/json", "application/xml", "application/xhtml", "application/javascript")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A server's response. `cut` means that it was truncated by size or time."""

    url: str
    final_url: str
    status: int
    media_type: str
    charset: str
    data: bytes
    cut: bool
    fetched_at: datetime
    took: float


class WebFetcher:
    """Fetches pages from the public internet."""

    def __init__(self, clock: Clock, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._clock = clock
        self._transport = transport

    async def get(self, url: str) -> FetchedPage:
        """Fetch a page. Raises ToolRefused for addresses that are not public, ToolFailed."""
        start = self._clock.monotonic()
        transport = self._transport or PublicTransport()
        timeout = httpx2.Timeout(SECONDS)
        try:
            async with (
                asyncio.timeout(SECONDS) as limit,
                httpx2.AsyncClient(transport=transport, trust_env=False, timeout=timeout, headers=_HEADERS) as client,
            ):
                return await self._follow(client, url, start, limit)
        except httpx2.InvalidURL as error:
            raise ToolFailed(f"{url[:300]} is no address in the web: {error}") from error
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise ToolFailed(f"{_host(url)} did not answer within {SECONDS:g} s") from error
        except (httpx2.HTTPError, OSError, zlib.error) as error:
            raise ToolFailed(f"{_host(url)} cannot be reached: {str(error) or type(error).__name__}") from error

    async def _follow(self, client: httpx2.AsyncClient, url: str, start: float, limit: asyncio.Timeout) -> FetchedPage:
        at = httpx2.URL(url)
        for _ in range(MAX_REDIRECTS + 1):
            async with client.stream("GET", at) as response:
                if response.status_code not in _REDIRECTS or "location" not in response.headers:
                    media_type, charset = _content_type(response)
                    data, cut = await _body(response, media_type, limit)
                    took = self._clock.monotonic() - start
                    return FetchedPage(
                        url, str(at), response.status_code, media_type, charset, data, cut, self._clock.now(), took
                    )
                at = at.join(response.headers["location"]).copy_with(fragment=None)
        raise ToolFailed(f"{_host(url)} redirects more than {MAX_REDIRECTS} times, last to {str(at)[:300]}")


async def _body(response: httpx2.Response, media_type: str, limit: asyncio.Timeout) -> tuple[bytes, bool]:
    in_part = not media_type or media_type.startswith(_READ_IN_PART) or media_type.endswith(("+json", "+xml"))
    maximum = MAX_BYTES if in_part else MAX_DOCUMENT_BYTES
    data = bytearray()
    loop = asyncio.get_running_loop()
    deadline = (limit.when() or loop.time() + SECONDS) - 1.0
    chunks = _decoded(response, maximum)
    try:
        while True:
            async with asyncio.timeout_at(deadline):
                chunk = await anext(chunks, None)
            if chunk is None:
                return bytes(data), False
            data += chunk
            if len(data) > maximum:
                break
    except TimeoutError:
        if not data:
            raise
    if not in_part:
        raise ToolFailed(f"the file is larger than {maximum:,} bytes, or comes too slowly")
    return bytes(data[:maximum]), True


async def _decoded(response: httpx2.Response, maximum: int) -> AsyncIterator[bytes]:
    """Decompress the body without ever holding more than needed."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("", "identity"):
        async for chunk in response.aiter_raw():
            yield chunk
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise ToolFailed(f"the page came packed as {encoding[:40]}, which was not asked for")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip or zlib, detected from the first bytes
    async for chunk in response.aiter_raw():
        yield unpack.decompress(chunk, maximum + 1)
        if unpack.unconsumed_tail:
            yield unpack.decompress(unpack.unconsumed_tail, maximum + 1)
            return


def _content_type(response: httpx2.Response) -> tuple[str, str]:
    message = Message()
    message["content-type"] = response.headers.get("content-type", "")
    charset = message.get_content_charset("")
    return (message.get_content_type() if message["content-type"] else ""), charset


def _host(url: str) -> str:
    try:
        return httpx2.URL(url).host or url[:300]
    except httpx2.InvalidURL:
        return url[:300]
