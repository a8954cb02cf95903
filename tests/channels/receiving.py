"""A webhook receiver: a real server that records requests and gives scripted answers."""

import asyncio
import base64
import contextlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.providers.canned import listening

KEY = base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
SECRET = f"whsec_{KEY}"


HANG = "hang"
"""An answer that never comes."""


DRIP = "drip"
"""An endless answer, byte by byte."""


@dataclass(frozen=True, slots=True)
class Told:
    """A request."""

    line: str
    headers: dict[str, str]
    body: bytes
    answer: str

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def proven(self) -> bool:
        """Verify the signature as Standard Webhooks defines it, independently of Hob's code."""
        text = b".".join([self.id.encode(), self.headers["webhook-timestamp"].encode(), self.body])
        made = base64.b64encode(hmac.digest(base64.b64decode(KEY), text, "sha256")).decode()
        return self.headers["webhook-signature"] == f"v1,{made}"


@dataclass(slots=True)
class Receiver:
    """The receiver: gives `answers` (status lines with headers) in turn, then 204."""

    url: str = ""
    told: list[Told] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def until(self, count: int, seconds: float = 15) -> list[Told]:
        """Wait until this many requests arrived."""
        async with asyncio.timeout(seconds):
            while len(self.told) < count:
                self.came.clear()
                await self.came.wait()
        return self.told

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line, *rest = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in rest)}
        body = await reader.readexactly(int(headers["content-length"]))
        answer = self.answers.pop(0) if self.answers else "204 No Content"
        self.told.append(Told(line, headers, body, answer))
        self.came.set()
        if answer == HANG:
            await reader.read()  # until the sender hangs up
            return
        if answer == DRIP:
            writer.write(b"HTTP/1.1 200 OK\r\nx-long: ")
            with contextlib.suppress(OSError):
                while not reader.at_eof():
                    writer.write(b"a")
                    await writer.drain()
                    await asyncio.sleep(0.05)
            return
        writer.write(f"HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
        await writer.drain()


@asynccontextmanager
async def receiving(*answers: str) -> AsyncIterator[Receiver]:
    """Run a receiver on loopback."""
    receiver = Receiver(answers=list(answers))
    async with listening(receiver.serve) as address:
        receiver.url = f"{address}/hook?x=1"
        yield receiver
