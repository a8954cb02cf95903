"""A server that says what it is told to, whatever is asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from hob.core.clock import SystemClock
from hob.core.settings import Secret
from hob.providers.http.client import Client
from hob.providers.http.server import Server
from hob.providers.routing.failover import ModelRoute
from hob.providers.routing.failover_model import Failover
from hob.testing.clock import ManualClock
from hob.testing.model import ScriptedModel

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(serve: Serve) -> AsyncIterator[str]:
    """The address of a server that treats each connection so, and waits for all of them at its end."""
    open_now: set[asyncio.Task[None] | None] = set()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_now.add(asyncio.current_task())
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await serve(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()
        await asyncio.gather(*filter(None, open_now))


async def read_request(reader: asyncio.StreamReader) -> None:
    """All of the next request."""
    head = await reader.readuntil(b"\r\n\r\n")
    size = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
    await reader.readexactly(size)


@asynccontextmanager
async def serving(
    body: bytes, status: int = 200, headers: str = "content-type: application/json\r\n"
) -> AsyncIterator[str]:
    """The address of a server that gives this answer."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(f"HTTP/1.1 {status} x\r\n{headers}content-length: {len(body)}\r\n".encode())
        writer.write(b"connection: close\r\n\r\n" + body)
        await writer.drain()

    async with listening(serve) as address:
        yield address


@asynccontextmanager
async def saying_forever(status: int = 200, kind: str = "application/json") -> AsyncIterator[Client]:
    """A client of a server whose answer never ends."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(f"HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\n\r\n".encode())
        while True:
            writer.write(bytes(1024 * 1024))
            await writer.drain()

    async with listening(serve) as address:
        client = client_of(address)
        try:
            async with asyncio.timeout(20):  # who listens for ever fails
                yield client
        finally:
            await client.aclose()


@asynccontextmanager
async def saying(answer: Any, kind: str = "application/json", status: int = 200) -> AsyncIterator[Client]:
    """A client of a server that gives this answer: bytes as they are, all else as JSON."""
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    async with serving(body, status, f"content-type: {kind}\r\n") as address:
        client = client_of(address)
        try:
            yield client
        finally:
            await client.aclose()


def client_of(address: str, *keys: str) -> Client:
    """A client with these keys that asks again, as it would in use."""
    clock = ManualClock(jump=True)
    failover = Failover(lambda ref: (ModelRoute(ref, "x"),), lambda _: ScriptedModel(), clock)
    servers = [Server(address, Secret.of(key)) for key in keys] or [Server(address)]
    return Client(servers, SystemClock(), failover.with_retries)
