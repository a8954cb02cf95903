"""The listener on a real socket, against those who send too much before they say who they are."""

import asyncio
import json
import os
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from hob.gateway.listener import MOST_HEAD_BYTES, READ_BYTES, serve
from hob.gateway.sockets import bind_tcp, bind_unix


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


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    listener: socket.socket = bind_tcp("127.0.0.1", 0)
    port = listener.getsockname()[1]
    async with serve(echo_length, [listener], grace=1):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        yield reader, writer
        writer.close()


def test_the_unix_socket_is_its_owners_alone_whatever_the_umask_says(tmp_path: Path) -> None:
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
            while sent < 4 * (MOST_HEAD_BYTES + READ_BYTES):
                writer.write(b"x-%d: " % sent + b"a" * 8000 + b"\r\n")
                await writer.drain()
                sent += 8000
            closed = await reader.read() == b""
        except ConnectionError:
            closed = True
        assert closed


async def test_one_connection_too_many_is_told_in_the_apis_own_words() -> None:
    listener: socket.socket = bind_tcp("127.0.0.1", 0)
    port = listener.getsockname()[1]
    request = b"GET / HTTP/1.1\r\nhost: hob\r\n\r\n"
    async with serve(echo_length, [listener], grace=1, most_connections=1):
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


async def test_a_large_body_and_many_requests_on_one_connection_are_no_header() -> None:
    async with connected() as (reader, writer):
        body = b"x" * (MOST_HEAD_BYTES + READ_BYTES)
        for _ in range(3):
            writer.write(b"POST / HTTP/1.1\r\nhost: hob\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            assert await reader.readexactly(6) == b"%d" % len(body)


async def test_a_request_cut_off_at_the_end_leaves_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
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
