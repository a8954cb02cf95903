"""The shortest way to a model server: an httpx2 transport straight on asyncio and httptools.

httpx2's own transport costs 110 ms of imports and first use, and 90 µs of CPU for every piece of a stream. A model
server sends one piece per token, so both are felt. This one does what Hob needs and no more: HTTP/1.1, TLS, kept
connections, one request on each at a time. It does not do proxies (`open_client` then takes httpx2's own transport),
HTTP/2 or redirects, and it never repeats a request.
"""

import asyncio
import ssl
import sys
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httptools
import httpx2

from hob.providers.addresses import is_loopback

_IDLE_SECONDS = 30.0
_MOST_IDLE = 16
_MOST_WAITING = 1024 * 1024
"""Bytes that may lie here unread before the server has to wait."""
_MOST_HEAD = 256 * 1024

_Origin = tuple[str, str, int]


def open_client(url: str) -> httpx2.AsyncClient:
    """A client for this server. It follows no redirects, and looks for a proxy where the environment names one."""
    parts = urlsplit(url)
    proxies = {} if is_loopback(url) else getproxies()
    if (parts.scheme in proxies or "all" in proxies) and not proxy_bypass(parts.hostname or ""):
        return httpx2.AsyncClient(limits=httpx2.Limits(max_connections=64, max_keepalive_connections=16))
    return httpx2.AsyncClient(transport=DirectTransport(), trust_env=False)


class DirectTransport(httpx2.AsyncBaseTransport):
    """Raises what httpx2's own transport raises."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._idle: dict[_Origin, list[_Connection]] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it; the response's body is read as it comes."""
        url = request.url
        if url.scheme not in ("http", "https"):
            raise httpx2.UnsupportedProtocol(f"{url.scheme or 'nothing'} is no protocol of ours", request=request)
        timeouts = request.extensions.get("timeout", {})
        origin = (url.scheme, url.raw_host.decode("ascii"), url.port or (443 if url.scheme == "https" else 80))
        body = await request.aread()
        connection = self._take_idle(origin) or await self._connect(origin, request, timeouts.get("connect"))
        answer = _Answer(self, connection, origin, timeouts.get("read"))
        try:
            connection.send(_head_of(request), body)
            await connection.wait_for_head(timeouts.get("read"))
        except BaseException:
            connection.close()
            raise
        return httpx2.Response(connection.status, headers=connection.headers, stream=answer)

    async def aclose(self) -> None:
        """Close what is idle; what is in use closes with its response."""
        for connections in self._idle.values():
            for connection in connections:
                connection.close()
        self._idle.clear()
        await asyncio.sleep(0)  # the event loop closes the sockets

    def _take_idle(self, origin: _Origin) -> "_Connection | None":
        waiting = self._idle.get(origin, [])
        while waiting:
            connection = waiting.pop()
            if connection.wake():
                return connection
        return None

    def put_back(self, origin: _Origin, connection: "_Connection") -> None:
        """Keep a connection for the next request, for a while."""
        waiting = [known for known in self._idle.get(origin, ()) if not known.closed][-_MOST_IDLE + 1 :]
        self._idle[origin] = [*waiting, connection]
        connection.rest(_IDLE_SECONDS)

    async def _connect(self, origin: _Origin, request: httpx2.Request, seconds: float | None) -> "_Connection":
        scheme, host, port = origin
        if scheme == "https" and self._tls is None:
            self._tls = _default_tls()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                _, connection = await loop.create_connection(
                    lambda: _Connection(loop),
                    host,
                    port,
                    ssl=self._tls if scheme == "https" else None,
                    happy_eyeballs_delay=0.25,  # an address family that leads nowhere costs no more than this
                )
        except TimeoutError as error:
            raise httpx2.ConnectTimeout("no connection in time", request=request) from error
        except (OSError, UnicodeError) as error:  # a host name may be no name at all
            raise httpx2.ConnectError(str(error), request=request) from error
        return connection


def _default_tls() -> ssl.SSLContext:
    if sys.platform == "linux" and ssl.get_default_verify_paths().cafile:
        return ssl.create_default_context()
    return httpx2.create_ssl_context()  # knows where other systems keep their certificates; costs 70 ms more


def _head_of(request: httpx2.Request) -> bytes:
    lines = [b"%b %b HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    for name, value in request.headers.raw:
        if b"\n" in value or b"\r" in value or b"\0" in value or not name or b"\n" in name or b":" in name:
            raise httpx2.LocalProtocolError(f"{name!r} is not a header that can be sent", request=request)
        lines.append(b"%b: %b" % (name, value))
    return b"\r\n".join(lines) + b"\r\n\r\n"


class _Answer(httpx2.AsyncByteStream):
    """A response's body. Closed before its end, it closes the connection."""

    def __init__(
        self, transport: DirectTransport, connection: "_Connection", origin: _Origin, seconds: float | None
    ) -> None:
        self._transport = transport
        self._connection = connection
        self._origin = origin
        self._seconds = seconds
        self._over = False

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        while data := await self._connection.read(self._seconds):
            yield data

    async def aclose(self) -> None:
        if self._over:
            return
        self._over = True
        if self._connection.reusable:
            self._transport.put_back(self._origin, self._connection)
        else:
            self._connection.close()


class _Connection(asyncio.Protocol):
    """One connection: a request is sent, its response parsed as it arrives."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.closed = False
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._head_size = 0
        self._head_done = False
        self._complete = True
        self._keeps = False
        self._pieces: list[bytes] = []
        self._waiting = 0
        self._paused = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    # -- what the transport does

    def send(self, head: bytes, body: bytes) -> None:
        """Begin a request. Raises WriteError."""
        self._parser = httptools.HttpResponseParser(self)
        self.headers = []
        self.status = self._head_size = 0
        self._head_done = self._complete = False
        if self._transport is None or self.closed:
            raise httpx2.WriteError("the connection is closed")
        self._transport.write(head + body)

    async def wait_for_head(self, seconds: float | None) -> None:
        """Until the status and the headers are here. Raises as `read`."""
        while not self._head_done:
            await self._wait(seconds)

    async def read(self, seconds: float | None) -> bytes:
        """All of the body that has come; empty at its end. Raises ReadTimeout, ReadError, RemoteProtocolError."""
        while not self._pieces:
            if self._complete:
                return b""
            await self._wait(seconds)
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._waiting = 0
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return data

    @property
    def reusable(self) -> bool:
        return self._complete and self._keeps and not self.closed and not self._pieces and self._error is None

    def rest(self, seconds: float) -> None:
        """Close by itself unless woken in this time."""
        self._timer = self._loop.call_later(seconds, self.close)

    def wake(self) -> bool:
        """Whether it can be used again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return self.reusable

    def close(self) -> None:
        self.closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.abort()

    async def _wait(self, seconds: float | None) -> None:
        if self._error is not None:
            raise self._error
        if self.closed:
            raise httpx2.RemoteProtocolError("the server closed the connection before its answer was complete")
        self._waiter = self._loop.create_future()
        timer = None if seconds is None else self._loop.call_later(seconds, self._expire)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _expire(self) -> None:
        self._fail(httpx2.ReadTimeout("nothing came in time"))

    def _fail(self, error: Exception) -> None:
        self._error = self._error or error
        self._wake_reader()

    def _wake_reader(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- what the event loop does

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a promise of create_connection
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._complete:  # nobody asked
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(httpx2.RemoteProtocolError(f"the server does not speak HTTP: {error}"))
            self.close()
            return
        if self._waiting > _MOST_WAITING and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        if self._head_done:
            self._wake_reader()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self._transport = None
        if not self._complete:
            if exc is not None:
                self._fail(httpx2.ReadError(str(exc)))
            elif self._head_done and not self._has_length():
                self._complete = True  # HTTP/1.0 style: the end of the connection is the end of the body
        self._wake_reader()

    def _has_length(self) -> bool:
        return any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in self.headers)

    # -- what the parser says

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value)
        if self._head_size > _MOST_HEAD:
            self._fail(httpx2.RemoteProtocolError("the server's headers have no end"))
            self.close()
            return
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status < 200:  # "100 Continue" and its like announce the real one
            self.headers = []
        else:
            self._head_done = True

    def on_body(self, body: bytes) -> None:
        self._pieces.append(body)
        self._waiting += len(body)

    def on_message_complete(self) -> None:
        if self._head_done:
            self._complete = True
            self._keeps = self._parser.should_keep_alive()
