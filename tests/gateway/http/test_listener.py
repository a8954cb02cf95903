"""The listener on a real socket, against those who send too much before they say who they are."""

import asyncio
import contextlib
import json
import os
import resource
import socket
import stat
import struct
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from hob.core.errors import NotConfigured
from hob.gateway.http.listener import MAX_HEAD_BYTES, READ_BYTES, TURNED_AWAY, serve
from hob.gateway.http.sockets import bind_tcp, bind_unix


async def echo_length(scope: Scope, receive: Receive, send: Send) -> None:
    length = 0
    while (message := await receive())["type"] == "http.request":
        length += len(message["body"])
        if not message["more_body"]:
            break
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(str(length)))]}
    )
    await send({"type": "http.response.body", "body": str(length).encode()})


def test_misspelled_host_is_named_with_its_setting() -> None:
    with pytest.raises(NotConfigured, match=r"gateway\.host 'a\.\.b'"):
        bind_tcp("a..b", 0)


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    listener: socket.socket = bind_tcp("127.0.0.1", 0)
    port = listener.getsockname()[1]
    async with serve(echo_length, [listener], grace=1):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        yield reader, writer
        writer.close()


def test_unix_socket_is_private_regardless_of_the_umask(tmp_path: Path) -> None:
    former = os.umask(0)
    try:
        bind_unix(tmp_path / "s").close()
    finally:
        os.umask(former)
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


async def test_endless_headers_end_the_connection() -> None:
    async with connected() as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: hob\r\n")
        sent = 0
        try:
            while sent < 4 * (MAX_HEAD_BYTES + READ_BYTES):
                writer.write(b"x-%d: " % sent + b"a" * 8000 + b"\r\n")
                await writer.drain()
                sent += 8000
            closed = await reader.read() == b""
        except ConnectionError:
            closed = True
        assert closed


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: hob\r\nhost: evil.example\r\n",
        b"GET / HTTP/1.1\r\nHost: hob\r\nHost: hob\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: hob\r\n",
        b"GET http://hob@evil.example/ HTTP/1.1\r\nHost: hob\r\n",
        b"GET / HTTP/1.1\r\nHost: hob\r\n" + b"x-a: " + b"a" * MAX_HEAD_BYTES + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: hob\r\n" + b"".join(b"x-%d: %s\r\n" % (n, b"a" * 1_000) for n in range(70)),
        b"GET /?" + b"a" * MAX_HEAD_BYTES + b" HTTP/1.1\r\nHost: hob\r\n",
        b"GET / HTTP/1.1\r\nHost: hob\r\nHost: b\r\nupgrade: websocket\r\nconnection: upgrade\r\n",
    ],
)
async def test_head_that_is_ambiguous_or_too_large_is_refused(head: bytes) -> None:
    async with connected() as (reader, writer):
        writer.write(head + b"\r\n")
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b'"invalid_request"' in answer


async def test_headers_of_300_kb_get_no_answer_of_the_application() -> None:
    async with connected() as (reader, writer):
        writer.write(
            b"GET / HTTP/1.1\r\nHost: hob\r\n" + b"".join(b"x-%d: %s\r\n" % (n, b"a" * 1_000) for n in range(300))
        )
        answer = b""
        with contextlib.suppress(ConnectionError):  # what is left unread resets the connection
            answer = await reader.read()
        assert not answer.startswith(b"HTTP/1.1 200 ")


async def test_absolute_address_of_the_same_host_is_taken() -> None:
    async with connected() as (reader, writer):
        writer.write(b"GET http://Hob:80/ HTTP/1.1\r\nhost: hob:80\r\nconnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")


async def test_connection_beyond_the_limit_gets_a_json_error() -> None:
    listener: socket.socket = bind_tcp("127.0.0.1", 0)
    port = listener.getsockname()[1]
    request = b"GET / HTTP/1.1\r\nhost: hob\r\n\r\n"
    async with serve(echo_length, [listener], grace=1, max_connections=1):
        first, first_writer = await asyncio.open_connection("127.0.0.1", port)
        first_writer.write(request)
        assert (await first.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        second, second_writer = await asyncio.open_connection("127.0.0.1", port)
        second_writer.write(request)
        head, _, body = (await second.read()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503")
        assert b"\r\nretry-after: 2\r\n" in head
        assert json.loads(body)["error"]["code"] == "too_many_connections"
        assert await first.readexactly(1) == b"0"
        first_writer.write(request)
        assert (await first.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        for writer in (first_writer, second_writer):
            writer.close()


async def test_header_limit_ignores_bodies_and_earlier_requests() -> None:
    async with connected() as (reader, writer):
        body = b"x" * (MAX_HEAD_BYTES + READ_BYTES)
        for _ in range(3):
            writer.write(b"POST / HTTP/1.1\r\nhost: hob\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            assert await reader.readexactly(6) == b"%d" % len(body)


async def test_request_cut_off_at_the_end_leaves_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    held = asyncio.Event()

    async def hold(_scope: Scope, _receive: Receive, _send: Send) -> None:
        held.set()
        await asyncio.Event().wait()

    listener: socket.socket = bind_tcp("127.0.0.1", 0)
    async with serve(hold, [listener], grace=1):
        _, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        writer.write(b"GET / HTTP/1.1\r\nhost: hob\r\n\r\n")
        await held.wait()
    writer.close()
    assert caplog.text == ""


@asynccontextmanager
async def listening(maximum: int = 1_000) -> AsyncIterator[int]:
    listener: socket.socket = bind_tcp("127.0.0.1", 0)
    async with serve(echo_length, [listener], grace=1, max_connections=maximum):
        yield listener.getsockname()[1]


REQUEST = b"GET / HTTP/1.1\r\nhost: hob\r\n\r\n"
HALVES = {
    "nothing": (),
    "half a head": (b"GET /h",),
    "half a head of a second request": (REQUEST, b"GET /h"),
    "not even that": (REQUEST, b"\r\n"),
    "half a body that nobody reads": (b"POST /x HTTP/1.1\r\nhost: hob\r\ncontent-length: 99\r\n\r\n", b"x"),
}


async def answer_when_read(_scope: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass
    await answer_at_once(_scope, receive, send)


async def answer_at_once(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("sent", HALVES.values(), ids=HALVES)
async def test_connection_that_stalls_is_closed(sent: tuple[bytes, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hob.gateway.http.listener.HEAD_SECONDS", 0.1)
    listener: socket.socket = bind_tcp("127.0.0.1", 0)
    async with serve(answer_at_once, [listener], grace=1), asyncio.timeout(4):  # a kept connection is let go after 5 s
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        for piece in sent:
            writer.write(piece)
            if piece.endswith(b"\r\n\r\n"):
                await reader.readuntil(b"\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            await reader.read()
        writer.close()


@pytest.mark.parametrize("then", [b"", b"x"], ids=["nothing", "a byte now and then"])
async def test_stalled_body_times_out(then: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hob.gateway.http.listener.HEAD_SECONDS", 0.1)
    listener: socket.socket = bind_tcp("127.0.0.1", 0)
    async with serve(answer_when_read, [listener], grace=1), asyncio.timeout(4):
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        writer.write(b"POST /x HTTP/1.1\r\nhost: hob\r\ncontent-length: 9999\r\n\r\nx")
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(then)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.02):
                        await reader.read()
        writer.close()


async def test_steady_body_does_not_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hob.gateway.http.listener.HEAD_SECONDS", 0.1)
    listener: socket.socket = bind_tcp("127.0.0.1", 0)
    async with serve(answer_when_read, [listener], grace=1):
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        writer.write(b"POST /x HTTP/1.1\r\nhost: hob\r\nconnection: close\r\ncontent-length: 80000\r\n\r\n")
        loop = asyncio.get_running_loop()
        for n in range(20):
            loop.call_later(n * 0.02, writer.write, b"x" * 4_000)
        assert (await reader.read()).startswith(b"HTTP/1.1 401")
        writer.close()


async def test_slow_pipelined_head_does_not_close_a_connection_awaiting_its_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hob.gateway.http.listener.HEAD_SECONDS", 0.01)
    go_on = asyncio.Event()

    async def answer_late(scope: Scope, receive: Receive, send: Send) -> None:
        await go_on.wait()
        await answer_at_once(scope, receive, send)

    listener: socket.socket = bind_tcp("127.0.0.1", 0)
    async with serve(answer_late, [listener], grace=1):
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        writer.write(REQUEST + b"GET /")
        asyncio.get_running_loop().call_later(0.1, go_on.set)
        assert (await reader.read()).startswith(b"HTTP/1.1 401")
        writer.close()


async def test_connections_beyond_the_turned_away_are_closed() -> None:
    async with listening(maximum=1) as port:
        kept = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3 * TURNED_AWAY)]
        ended = [asyncio.create_task(reader.read()) for reader, _ in kept]
        await asyncio.wait(ended[1 + TURNED_AWAY :])
        assert not any(task.done() for task in ended[: 1 + TURNED_AWAY])
        for _, writer in kept:
            writer.close()
        await asyncio.wait(ended)


@pytest.mark.skipif(sys.platform != "linux", reason="the system counts no pieces elsewhere")
async def test_answer_is_sent_in_one_piece() -> None:
    async with connected() as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: hob\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n0")).startswith(b"HTTP/1.1 200")
        told = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 156)
        assert struct.unpack_from("I", told, 152) == (1,)  # tcpi_data_segs_in


@pytest.mark.parametrize(
    ("method", "length", "fails"),
    [("GET", b"", False), ("HEAD", b"content-length: 1\r\n", False), ("GET", b"content-length: 1\r\n", True)],
    ids=["a stream", "a head alone", "an answer that fails"],
)
async def test_head_without_a_body_is_sent(method: str, length: bytes, fails: bool) -> None:
    go_on = asyncio.Event()

    async def begin(scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"content-length", b"1")] if length else []
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b"x"})
        elif fails:
            raise AssertionError("a mistake")
        await go_on.wait()

    listener: socket.socket = bind_tcp("127.0.0.1", 0)
    async with serve(begin, [listener], grace=1), asyncio.timeout(4):
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        writer.write(f"{method} / HTTP/1.1\r\nhost: hob\r\n\r\n".encode())
        assert length in await reader.readuntil(b"\r\n\r\n")
        go_on.set()
        writer.close()


async def test_listener_without_descriptors_pauses_and_logs_once(caplog: pytest.LogCaptureFixture) -> None:
    async with listening() as port:
        first, first_writer = await asyncio.open_connection("127.0.0.1", port)
        first_writer.write(REQUEST)
        await first.readuntil(b"\r\n\r\n0")
        late = socket.socket()
        late.setblocking(False)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (late.fileno() + 1, hard))
        holes = list(_filled())
        try:
            await asyncio.get_running_loop().sock_connect(late, ("127.0.0.1", port))
            for _ in range(20):  # it is the same loop that would spin
                first_writer.write(REQUEST)
                await first.readuntil(b"\r\n\r\n0")
            assert caplog.text.count("no connection can be taken") == 1
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for each in holes:
                os.close(each)
        await asyncio.get_running_loop().sock_sendall(late, REQUEST)
        assert (await asyncio.get_running_loop().sock_recv(late, 12)) == b"HTTP/1.1 200"
        late.close()
        first_writer.close()


def _filled() -> Iterator[int]:
    """Every descriptor there is."""
    with contextlib.suppress(OSError):
        while True:
            yield os.open(os.devnull, os.O_RDONLY)
