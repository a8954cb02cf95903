"""A WebSocket at the real application: the listener on a socket, and `websockets`' own client at the other end."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from hob.app.endpoints import ENDPOINTS
from hob.gateway.http.asgi import build_api
from hob.gateway.http.listener import serve
from hob.gateway.http.sockets import bind_tcp
from hob.gateway.live.messages import MESSAGES
from tests.gateway.conftest import TOKEN, Machine

BEARER = {"authorization": f"Bearer {TOKEN}"}


class Client:
    """What a program does with a WebSocket."""

    def __init__(self, wire: ClientConnection) -> None:
        self.wire = wire

    async def say(self, type_: str, **fields: Any) -> None:
        await self.wire.send(json.dumps({"type": type_, **fields}))

    async def next(self) -> dict[str, Any]:
        """The next message, which holds what the table says. Raises ConnectionClosed."""
        async with asyncio.timeout(10):
            found: dict[str, Any] = json.loads(await self.wire.recv())
        declared, told = MESSAGES[found["type"]].form, found.keys() - {"type", "ref"}
        assert declared.__required_keys__ <= told <= declared.__required_keys__ | declared.__optional_keys__, found
        return found

    async def until(self, *types: str) -> list[dict[str, Any]]:
        """Messages up to the first of one of these types."""
        found = [await self.next()]
        while found[-1]["type"] not in types:
            found.append(await self.next())
        return found

    async def last(self, type_: str) -> dict[str, Any]:
        """The next message of this type."""
        return (await self.until(type_))[-1]

    async def ask(self, type_: str, *types: str, **fields: Any) -> dict[str, Any]:
        """Say something; the first answer of one of these types, or the error."""
        await self.say(type_, **fields)
        return (await self.until(*types, "error"))[-1]

    async def rest(self) -> tuple[list[dict[str, Any]], tuple[int, str]]:
        """Everything up to the end, and the close code with its reason."""
        seen: list[dict[str, Any]] = []
        try:
            while True:
                seen.append(await self.next())
        except ConnectionClosed as closed:
            return seen, (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (1006, "")

    async def end(self) -> tuple[int, str]:
        """The close code and its reason, after whatever comes before."""
        return (await self.rest())[1]


@dataclass(frozen=True, slots=True)
class Reached:
    """Where the application is reached, and by which name."""

    port: int
    name: str = "127.0.0.1"

    @asynccontextmanager
    async def raw(
        self, headers: Mapping[str, str] | None = None, path: str = "/ws", **more: Any
    ) -> AsyncIterator[Client]:
        """Connected, nothing said or heard yet."""
        url = f"ws://{self.name}:{self.port}{path}"
        at: dict[str, Any] = {"host": "127.0.0.1", "port": self.port, "proxy": None, "compression": None}
        async with connect(url, additional_headers=headers or {}, **at, **more) as wire:
            yield Client(wire)

    @asynccontextmanager
    async def client(self, token: str = TOKEN, **more: Any) -> AsyncIterator[Client]:
        """Connected and welcome."""
        async with self.raw({"authorization": f"Bearer {token}"}, **more) as client:
            assert (await client.next())["type"] == "welcome"
            yield client

    async def refused(self, headers: Mapping[str, str] | None = None, path: str = "/ws") -> tuple[int, dict[str, Any]]:
        """The answer to a handshake that is refused."""
        try:
            async with self.raw(headers, path):
                raise AssertionError("it was let in")
        except InvalidStatus as refused:
            return refused.response.status_code, json.loads(refused.response.body or b"{}")


@asynccontextmanager
async def reached(hob: Machine, **more: Any) -> AsyncIterator[Reached]:
    """The application of this machine behind a listener."""
    listener = bind_tcp("127.0.0.1", 0)
    async with serve(build_api(hob.app.api, local=False, endpoints=ENDPOINTS), [listener], grace=1, **more):
        yield Reached(listener.getsockname()[1])
