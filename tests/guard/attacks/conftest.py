"""A house to attack, and a listener outside."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.tools.web.server import web_server

from .house import House


@asynccontextmanager
async def listening(house: House) -> AsyncIterator[None]:
    """A listener that records whatever reaches a port of this machine."""

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        house.reached.append(b"connected")
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                house.reached.append(await reader.read(4_096))
        writer.close()

    class Datagrams(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: object) -> None:
            house.reached.append(data)

    async with await asyncio.start_server(take, "127.0.0.1") as server:
        house.port = server.sockets[0].getsockname()[1]
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(Datagrams, ("127.0.0.1", house.port))
        try:
            yield
        finally:
            transport.close()


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    house = House(tmp_path)
    monkeypatch.setenv("HOME", str(house.owner))
    house.furnish()
    async with listening(house), web_server(house.web):
        house.accept_server()
        yield house
