"""The sandbox's proxy: opens tunnels to, and fetches pages from, allowed hosts only.

CONNECT to port 443 (RFC 9110, 9.3.6) and requests for `http://` URLs on port 80 (RFC 9112, 3.2.2), nothing else. The
proxy resolves names itself and connects to exactly the address that it has checked, never to one of this machine or its
network.
"""

import asyncio
import socket
import ssl
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import cast
from urllib.parse import urlsplit

from hob.core.values import dataclass
from hob.tools.sandbox.network.hosts import (
    HostDecision,
    HostDecisionCallback,
    HostRules,
    host_name,
    is_link_local,
    is_public_address,
)
from hob.tools.sandbox.network.interception import Interception
from hob.tools.sandbox.network.request_heads import ProxyRefused, send_error, split_head, split_header

# The server name in a TLS ClientHello (RFC 8446, 4.1.2; RFC 6066, 3) shows the real destination of a tunnel. Many hosts
# share addresses, so a tunnel to an allowed name could address another host behind the same address. Therefore the name
# in the first message must equal the allowed one.

MAX_HELLO = 5 + 16384 * 2
_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME = 22, 1, 0


class NotTls(Exception):
    """Raised if the first bytes are not a ClientHello."""


def server_name(data: bytes) -> str | None:
    """Return the name in the hello, or "" if it has none; None while the message is incomplete. Raises NotTls."""
    hello = bytearray()
    at = 0
    while True:
        if len(data) > at and data[at] != _HANDSHAKE:
            raise NotTls
        if len(data) < at + 5:
            return None
        end = at + 5 + int.from_bytes(data[at + 3 : at + 5], "big")
        hello += data[at + 5 : end]
        if hello and hello[0] != _CLIENT_HELLO:
            raise NotTls
        if len(hello) >= 4 and len(hello) >= 4 + int.from_bytes(hello[1:4], "big"):
            return _name_in(bytes(hello[4 : 4 + int.from_bytes(hello[1:4], "big")]))
        if len(data) < end:
            return None
        if end > MAX_HELLO:
            raise NotTls
        at = end


def _name_in(body: bytes) -> str:
    try:
        at = 2 + 32  # version, random
        at += 1 + body[at]  # session
        at += 2 + int.from_bytes(body[at : at + 2], "big")  # ciphers
        at += 1 + body[at]  # compression
        end = at + 2 + int.from_bytes(body[at : at + 2], "big")
        at += 2
        while at + 4 <= end:
            kind, size = int.from_bytes(body[at : at + 2], "big"), int.from_bytes(body[at + 2 : at + 4], "big")
            if kind == _SERVER_NAME and size > 5:
                length = int.from_bytes(body[at + 7 : at + 9], "big")
                return body[at + 9 : at + 9 + length].decode("ascii")
            at += 4 + size
    except (IndexError, UnicodeDecodeError) as error:
        raise NotTls from error
    return ""


_MAX_HEAD = 32 * 1024
_PIECE = 64 * 1024
_HEAD_SECONDS, _CONNECT_SECONDS, _IDLE_SECONDS = 15.0, 20.0, 300.0
_MAX_CONNECTIONS = 64
_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authorization",
        "te",
        "trailer",
        "upgrade",
        "host",
        "expect",
    }
)


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A request to the proxy: a tunnel, or the head of a request to forward with a body of this many bytes."""

    host: str
    port: int
    head: bytes = b""
    body: int = 0

    @property
    def tunnel(self) -> bool:
        return not self.head


@dataclass(frozen=True, slots=True)
class Internet:
    """The outside world: name resolution, permitted addresses, the two open ports, trusted certificates.

    `local` are hosts, each with a port, that may also be in this machine's network.
    """

    resolve: Callable[[str, int], Awaitable[list[str]]]
    reachable: Callable[[str], bool]
    http: int = 80
    https: int = 443
    trust: Callable[[], ssl.SSLContext] = ssl.create_default_context
    local: frozenset[tuple[str, int]] = frozenset()


async def resolve_host(host: str, port: int) -> list[str]:
    """Resolve a name as this machine does. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def is_reachable(address: str) -> bool:
    """Return whether this is an internet address and not this machine's own, to which a socket can be bound."""
    if not is_public_address(address):
        return False
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind((address, 0))
        except OSError:
            return True
    return False


INTERNET = Internet(resolve_host, is_reachable)


class Proxy:
    """The proxy of one command. `decided` receives the decision about every connection."""

    _host = staticmethod(host_name)
    """Normalises the host of a request; "" refuses it."""

    def __init__(
        self,
        rules: HostRules,
        decided: HostDecisionCallback,
        internet: Internet = INTERNET,
        interceptor: Interception | None = None,
    ) -> None:
        self._rules = rules
        self._interceptor = interceptor
        self._decided = decided
        self._internet = internet
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def serve(self, listening: socket.socket) -> None:
        """Serve connections to this socket until `close`."""
        self._server = await asyncio.start_server(self._answer, sock=listening, limit=_MAX_HEAD)

    def close(self) -> None:
        """Stop serving and drop all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()

    async def _answer(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._open.add(task)
        try:
            if len(self._open) > _MAX_CONNECTIONS:
                raise ProxyRefused("too many connections at once", "503 Service Unavailable")
            async with asyncio.timeout(_HEAD_SECONDS):
                request = parse_request(await reader.readuntil(b"\r\n\r\n"), self._host)
            await self._pass(request, reader, writer)
        except ProxyRefused as refusal:
            await send_error(writer, refusal.code, f"Refused by the sandbox: {refusal}.\n")
        except (OSError, TimeoutError, IncompleteReadError, LimitOverrunError):
            pass  # one of the sides is gone, or was not a proxy client
        except asyncio.CancelledError:
            pass  # closed; otherwise asyncio would report the connection's end as an error
        finally:
            self._open.discard(task)
            await _close(writer)

    async def _pass(self, request: ProxyRequest, reader: StreamReader, writer: StreamWriter) -> None:
        address = await self._admit(request)
        if self._interceptor is not None and await self._intercepted(
            self._interceptor, request, address, reader, writer
        ):
            return
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                far_reader, far_writer = await asyncio.open_connection(address, request.port)
        except (OSError, TimeoutError) as error:
            raise ProxyRefused(
                f"{request.host} does not answer ({str(error) or 'timeout'})", "502 Bad Gateway"
            ) from error
        try:
            first: bytes | None = request.head
            if request.tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                first = await self._hello(request, reader)
            if first is None:
                return
            far_writer.write(first)
            async with asyncio.TaskGroup() as both:
                both.create_task(_copy(reader, far_writer, None if request.tunnel else request.body))
                both.create_task(_copy(far_reader, writer, None, self._is_too_much))
        except* (OSError, TimeoutError, IncompleteReadError):
            pass
        finally:
            await _close(far_writer)

    async def _intercepted(
        self, interceptor: Interception, request: ProxyRequest, address: str, reader: StreamReader, writer: StreamWriter
    ) -> bool:
        """Return whether the request was intercepted. Raises ProxyRefused for a credential sent to the wrong host."""
        if interceptor.holds(request.head):
            raise self._refused(request, "a credential is written into https requests to its own host only")
        if not (request.tunnel and interceptor.covers(request.host)):
            return False

        def told(name: str, done: bool, why: str) -> None:
            self._decided(HostDecision(request.host, request.port, done, why, name))

        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await interceptor.pass_on(request.host, request.port, address, reader, writer, told)
        return True

    async def _admit(self, request: ProxyRequest) -> str:
        """Return the address to connect to. Raises ProxyRefused."""
        host, port = request.host, request.port
        internet = self._internet
        local = (host, port) in internet.local
        if not local and port != (internet.https if request.tunnel else internet.http):
            ports = f"{internet.http} (http) and {internet.https} (https)"
            raise self._refused(request, f"only ports {ports} are open, not {port}")
        if not self._rules.allow(host):
            raise self._refused(request, f"{host} is not among the allowed hosts")
        try:
            found = await internet.resolve(host, port)
        except OSError as error:
            raise ProxyRefused(f"{host} cannot be resolved ({error})", "502 Bad Gateway") from error
        address = next(
            (each for each in found if internet.reachable(each) or (local and not is_link_local(each))), None
        )
        if address is None:
            leads = "is" if host in found else "leads to"
            raise self._refused(request, f"{host} {leads} an address of this machine or its network")
        self._decided(HostDecision(host, port, True, "allowed"))
        return address

    def _is_too_much(self, passed: int) -> bool:
        """Return whether a connection has transferred too many bytes."""
        return False

    async def _hello(self, request: ProxyRequest, reader: StreamReader) -> bytes | None:
        """Return the first message of a tunnel, or None if it is not for the allowed host."""
        data = b""
        async with asyncio.timeout(_HEAD_SECONDS):
            while True:
                piece = await reader.read(_PIECE)
                data += piece
                try:
                    name = server_name(data)
                except NotTls:
                    self._refused(request, "only TLS goes through a tunnel")
                    return None
                if name is not None:
                    break
                if not piece or len(data) > MAX_HELLO:
                    self._refused(request, "a tunnel was opened and not used")
                    return None
        if host_name(name) != request.host:
            self._refused(request, f"a tunnel to {request.host} was used for {name or 'no name'}")
            return None
        return data

    def _refused(self, request: ProxyRequest, reason: str) -> ProxyRefused:
        self._decided(HostDecision(request.host, request.port, False, reason))
        return ProxyRefused(reason)


def parse_request(head: bytes, read_host: Callable[[str], str] = host_name) -> ProxyRequest:
    """Parse a request head. Raises ProxyRefused for anything ambiguous."""
    (method, target, _), lines = split_head(head, "ascii")
    if method == "CONNECT":
        return ProxyRequest(*_split(target, None, read_host))
    if not target.lower().startswith("http://"):
        raise ProxyRefused("only http:// URLs and tunnels (CONNECT) are passed on", "400 Bad Request")
    parts = urlsplit(target)
    host, port = _split(parts.netloc, 80, read_host)
    kept, body = _headers(lines)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    named = f"[{host}]" if ":" in host else host
    named = named if port == 80 else f"{named}:{port}"
    text = "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {named}", *kept, "Connection: close", "", ""])
    return ProxyRequest(host, port, text.encode("ascii"), body)


def _split(netloc: str, port: int | None, read_host: Callable[[str], str]) -> tuple[str, int]:
    name, colon, number = netloc.rpartition(":")
    if port is not None and (not colon or netloc.endswith("]")):
        name, number = netloc, str(port)
    host = read_host(name)
    if not host or not number.isdigit() or not number.isascii() or len(number) > 5 or not 0 < int(number) < 65536:
        raise ProxyRefused(f"{netloc[:100]!r} is no host by name, with a port", "400 Bad Request")
    return host, int(number)


def _headers(lines: list[str]) -> tuple[list[str], int]:
    """Return the headers to forward and the length of the body."""
    kept: list[str] = []
    body: int | None = None
    for line in lines:
        name, value = split_header(line)
        lowered = name.lower()
        if lowered == "transfer-encoding":
            raise ProxyRefused("a body must have its length", "411 Length Required")
        if lowered == "content-length":
            number = value.strip()
            if body is not None or not number.isdigit() or len(number) > 12:
                raise ProxyRefused("the body's length cannot be read", "400 Bad Request")
            body = int(number)
        if lowered not in _HOP:
            kept.append(line)
    return kept, body or 0


async def _copy(
    source: StreamReader, sink: StreamWriter, limit: int | None, is_too_much: Callable[[int], bool] = lambda _: False
) -> None:
    """Copy until the source ends; with a limit, copy at most that much and do not close the other side.

    Raises OSError if it is too much.
    """
    left = limit
    passed = 0
    while left is None or left > 0:
        async with asyncio.timeout(_IDLE_SECONDS):
            piece = await source.read(_PIECE if left is None else min(left, _PIECE))
        if not piece:
            break
        if left is not None:
            left -= len(piece)
        passed += len(piece)
        if is_too_much(passed):
            raise OSError("it is too much")
        sink.write(piece)
        async with asyncio.timeout(_IDLE_SECONDS):
            await sink.drain()
    if limit is None and sink.can_write_eof():
        sink.write_eof()


async def _close(writer: StreamWriter) -> None:
    writer.close()
    with suppress(OSError, asyncio.CancelledError):  # nothing follows
        await writer.wait_closed()
