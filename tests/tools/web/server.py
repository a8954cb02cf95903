"""A web server on loopback with scripted pages, and a simulated internet that consists of it."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from hob.tools.sandbox.network.proxy import Internet

Handler = Callable[[str, asyncio.StreamWriter], Awaitable[None]]
"""Answers a request with this head."""

_LENGTH = re.compile(r"content-length: *(\d+)", re.IGNORECASE)

PUBLIC = "93.184.216.34"
"""The public address that stands for the server."""


class WebServer:
    """The server; it records requests."""

    def __init__(self) -> None:
        self.port = 0
        self.heads: list[str] = []
        self.bodies: list[bytes] = []
        self.connections = 0
        self.pages: dict[str, bytes | Handler] = {}

    def url(self, path: str = "/", host: str = "site.example") -> str:
        return f"http://{host}:{self.port}{path}"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.heads.append(head)
            if (length := _LENGTH.search(head)) is not None:
                self.bodies.append(await reader.readexactly(int(length[1])))
            page = self.pages.get(head.split(" ", 2)[1]) or self.pages.get("*")
            page = page or reply(b"no such page", status="404 Not Found")
            if isinstance(page, bytes):
                writer.write(page)
            else:
                await page(head, writer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def reply(body: bytes, kind: str = "text/html; charset=utf-8", status: str = "200 OK", **headers: str) -> bytes:
    """Build a complete response."""
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}Connection: close\r\n\r\n"
    )
    return head.encode() + body


def redirect(to: str) -> bytes:
    return reply(b"", status="302 Found", Location=to)


W = TypeVar("W", bound=WebServer)


@asynccontextmanager
async def web_server(web: W) -> AsyncIterator[W]:
    """Run the server for the duration of the block."""
    server = await asyncio.start_server(web.answer, "127.0.0.1", 0)
    web.port = server.sockets[0].getsockname()[1]
    async with server:
        yield web


def only_loopback_is_public() -> Internet:
    """Resolve every name to the server, which counts as public."""

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    return Internet(resolve, lambda _address: True)
