"""HTTP listeners: timeouts, connection and header limits, pings."""

import asyncio
import json
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence, Sized
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from hob.gateway.http.failures import Failure
from hob.gateway.http.uvicorn_server import Config, HttpToolsProtocol, RequestResponseCycle, Server
from hob.gateway.openai.errors import response_at

# Accepting connections, limited by their number.

log = logging.getLogger(__name__)

BURST = 16
"""Connections accepted in a row before open ones get a turn."""
REST_SECONDS = 1.0
"""Pause after the system could not accept a connection."""
_TOLD_SECONDS = 60.0


class ConnectionAcceptor:
    """Accepts connections like `asyncio`'s server, but with a limit: asyncio accepts all, and when descriptors run out
    it retries and logs in a busy loop.

    Connections beyond `maximum` are closed at once.
    """

    def __init__(
        self,
        listener: socket.socket,
        protocol: Callable[[], asyncio.Protocol],
        group: asyncio.TaskGroup,
        *,
        connections: Sized,
        maximum: int,
        tls: ssl.SSLContext | None,
        handshake_seconds: float,
    ) -> None:
        """The socket must be non-blocking; closing it is up to the caller."""
        self._listener = listener
        self._protocol = protocol
        self._group = group
        self._connections = connections
        self._maximum = maximum
        self._tls = tls
        self._handshake = handshake_seconds if tls is not None else None
        self._loop = asyncio.get_running_loop()
        self._arriving: set[asyncio.Task[None]] = set()
        self._resting: asyncio.TimerHandle | None = None
        self._told = float("-inf")
        self._loop.add_reader(listener.fileno(), self._accept)

    def close(self) -> None:
        """Stop accepting, and drop connections that are still being set up."""
        self._loop.remove_reader(self._listener.fileno())
        if self._resting is not None:
            self._resting.cancel()
        for task in self._arriving:
            task.cancel()

    async def wait_closed(self) -> None:
        """Return at once: accepted connections no longer belong to the acceptor."""

    def _accept(self) -> None:
        for _ in range(BURST):
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # out of descriptors or memory
                self._pause(error)
                return
            if len(self._connections) + len(self._arriving) >= self._maximum:
                connection.close()
                continue
            connection.setblocking(False)
            task = self._group.create_task(self._connect(connection))
            self._arriving.add(task)
            task.add_done_callback(partial(self._on_connected, connection))

    async def _connect(self, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(
                self._protocol, connection, ssl=self._tls, ssl_handshake_timeout=self._handshake
            )
        except OSError:  # the client disconnected, or does not speak TLS
            connection.close()

    def _on_connected(self, connection: socket.socket, task: asyncio.Task[None]) -> None:
        self._arriving.discard(task)
        if task.cancelled():
            connection.close()

    def _pause(self, error: OSError) -> None:
        self._loop.remove_reader(self._listener.fileno())
        self._resting = self._loop.call_later(REST_SECONDS, self._resume)
        if self._loop.time() - self._told >= _TOLD_SECONDS:
            self._told = self._loop.time()
            log.error("no connection can be taken: %s; it is tried again every second", error.strerror)

    def _resume(self) -> None:
        self._resting = None
        self._loop.add_reader(self._listener.fileno(), self._accept)


MAX_HEAD_BYTES = 64 * 1024
MAX_CONNECTIONS = 1_000
PING_SECONDS = 20.0
"""Seconds between two pings of a WebSocket, and the time to answer one."""
TURNED_AWAY = 16
"""Connections beyond the limit that still get an answer; the rest are closed."""
HEAD_SECONDS = 15.0
"""Time for a request's head, a TLS handshake, or `MIN_BYTES` of a body."""
MIN_BYTES = 1_024
READ_BYTES = 256 * 1024
"""asyncio's read size: the first piece may hold a whole head and part of the body."""


class HeadRefused(Exception):
    """A refused request head. The message says why."""


class _WholeAnswer(asyncio.Transport):
    """Sends an answer's head together with the start of its body: each piece costs a system call and wakes the caller.
    If the length is unknown, the head is sent first.
    """

    def __init__(self, transport: asyncio.Transport, cycle: RequestResponseCycle) -> None:
        self._transport = transport
        self._cycle = cycle
        self._head = b""
        self._begun = False

    def write(self, data: Any) -> None:
        if self._cycle.response_started and not self._begun:
            self._begun = True
            if self._cycle.chunked_encoding is False:
                self._head = data
                return
        self._transport.write(self._head + data)
        self._head = b""

    def close(self) -> None:
        if self._head:
            self._transport.write(self._head)
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()


class LimitedHttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits that apply before the request and its token are known."""

    _head_bytes = 0
    _head_size = 0
    _host: bytes | None = None
    _wrong = ""
    _in_head = True
    _body_bytes = 0
    _no_room = False
    _awaits = False
    """Whether more data is expected after the last read: most requests arrive whole and need no timer."""
    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._maximum, self.limit_concurrency = self.limit_concurrency, None  # uvicorn's own limit answers without JSON

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._no_room = self._maximum is not None and len(self.connections) > self._maximum
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._awaits = True
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES + READ_BYTES:
                self.transport.close()
                return
        super().data_received(data)
        if self._awaits:
            self._expect()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not an HTTP request."""
        body = json.dumps(Failure("invalid_request", self._wrong or msg).view()).encode()
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        self.transport.close()

    def on_message_begin(self) -> None:
        self._awaits = True
        self._host, self._head_size = None, 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        if name.lower() == b"host":
            if self._host is not None:
                self._refuse("a request has one Host header")
            self._host = value.strip()
        super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._head_size += size
        if self._head_size > MAX_HEAD_BYTES:
            self._refuse(f"address and headers of a request have at most {MAX_HEAD_BYTES:,} bytes")

    def _refuse(self, why: str) -> None:
        """Make the parser end the request; `send_400_response` answers it."""
        self._wrong = why
        raise HeadRefused(why)

    def on_headers_complete(self) -> None:
        if not self.url.startswith((b"/", b"*")) and urlsplit(self.url).netloc.lower() != (self._host or b"").lower():
            self._refuse("the address names another host than the Host header does")  # RFC 9112, 3.2.2
        self._in_head, self._body_bytes = False, 0
        self._expect_nothing()
        self._awaits = not self.parser.should_upgrade()
        usual, before = self.app, self.cycle
        if self._no_room:
            self.app = _turn_away
        super().on_headers_complete()
        self.app = usual
        if self.cycle is not before and self.scope["method"] != "HEAD":
            self.cycle.transport = _WholeAnswer(self.transport, self.cycle)

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_head, self._head_bytes = True, 0
        self._expect_nothing()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._in_head:
            self._expect()

    def _expect(self) -> None:
        """Start the deadline for the client's next data, however slowly it arrives."""
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _expect_nothing(self) -> None:
        self._awaits = False
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        begun: RequestResponseCycle | None = self.cycle
        if begun is None or begun.response_complete:
            self.transport.abort()
        elif self._in_head or self.flow.read_paused or self._body_bytes >= MIN_BYTES:
            self._body_bytes = 0
            # pipelined requests may wait for their answer, and large bodies may take as long as they need
            self._expect()
        else:
            self.transport.abort()


async def _turn_away(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer clients beyond the connection limit."""
    failure = Failure("too_many_connections", "too many connections are open; try again soon", 2)
    response = response_at(scope["path"], failure)
    response.headers["connection"] = "close"
    await response(scope, receive, send)


def _frames(**arguments: Any) -> asyncio.Protocol:
    """Return the protocol of a connection that becomes a WebSocket."""
    from hob.gateway.live.frames import LimitedFrames  # loads a library that only WebSockets need

    return LimitedFrames(**arguments)


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Return whether the record is more than a notice about a request that was cut off or is not HTTP."""
    cut = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not (cut or str(record.msg).startswith(("Cancel %s running task", "Invalid HTTP request received")))


@asynccontextmanager
async def serve(
    app: ASGIApp,
    sockets: Sequence[socket.socket],
    *,
    grace: float,
    tls: ssl.SSLContext | None = None,
    proxies: Sequence[str] = (),
    max_connections: int = MAX_CONNECTIONS,
    turned_away: int = TURNED_AWAY,
    message_bytes: int = 1_000_000,
) -> AsyncIterator[None]:
    """Serve while the block is open; then stop listening and give open requests `grace` seconds to end.

    Clients beyond `max_connections` are asked to retry, `turned_away` of them at a time. The `proxies` are trusted for
    clients' addresses. `message_bytes` is the largest WebSocket message; WebSockets are closed with 1012 at the end.
    """
    max_connections = max(1, max_connections)
    config = Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        ws=_frames,  # type: ignore[arg-type]  # a factory function works like the class
        ws_max_size=message_bytes,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_per_message_deflate=False,  # costs memory per client, and compressed lengths leak secrets beside chosen text
        timeout_graceful_shutdown=max(1, round(grace)),
        http=LimitedHttpProtocol,
        limit_concurrency=max_connections,
        loop="asyncio",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
    )
    config.load()
    config.ssl = tls
    logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)
    server = Server(config)
    server.lifespan = config.lifespan_class(config)
    # uvicorn's main loop wakes ten times a second for a date header and a counter that are off here; without it an idle
    # daemon does nothing
    async with asyncio.TaskGroup() as group:
        server.servers = [_make_acceptor(server, config, each, group, turned_away) for each in sockets]  # type: ignore[misc]
        try:
            yield
        finally:
            for connection in list(server.server_state.connections):
                connection.shutdown()
            await asyncio.shield(server.shutdown(list(sockets)))


def _make_acceptor(
    server: Server, config: Config, listener: socket.socket, group: asyncio.TaskGroup, turned_away: int
) -> ConnectionAcceptor:
    state = server.server_state
    return ConnectionAcceptor(
        listener,
        lambda: LimitedHttpProtocol(config, state, server.lifespan.state),
        group,
        connections=state.connections,
        maximum=(config.limit_concurrency or MAX_CONNECTIONS) + turned_away,
        tls=config.ssl,
        handshake_seconds=HEAD_SECONDS,
    )
