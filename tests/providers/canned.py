"""A server that says what it is told to, whatever is asked."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from hob.core.clock import SystemClock
from hob.core.settings import Secret
from hob.providers.client import Client
from hob.providers.health import Lane
from hob.providers.server import Server
from hob.providers.walking import Failover
from hob.testing import ManualClock, ScriptedModel


@asynccontextmanager
async def serving(
    body: bytes, status: int = 200, headers: str = "content-type: application/json\r\n"
) -> AsyncIterator[str]:
    """The address of a server that gives this answer."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
        await reader.readexactly(size)
        writer.write(f"HTTP/1.1 {status} x\r\n{headers}content-length: {len(body)}\r\n".encode())
        writer.write(b"connection: close\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()


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
    failover = Failover(lambda ref: (Lane(ref, "x"),), lambda _: ScriptedModel(), clock)
    servers = [Server(address, Secret.of(key)) for key in keys] or [Server(address)]
    return Client(servers, SystemClock(), failover.patiently)
