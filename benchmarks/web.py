"""Cost of reading a web page."""

import asyncio
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.rows import Row
from hob.core.clock import SystemClock
from hob.core.ids import BlobId, CallId, SessionKey, SpanId, TraceId, TurnId
from hob.core.ports.tools import CallContext
from hob.core.tools import ToolCall
from hob.core.turns import Turn
from hob.tools.documents.documents import DocumentReader
from hob.tools.sandbox.network.proxy import Internet
from hob.tools.web.fetcher import WebFetcher
from hob.tools.web.public_transport import PublicTransport
from hob.tools.web.search.opening import open_search
from hob.tools.web.settings import WebSettings
from hob.tools.web.web_tools import WebTools

_WORDS = "quick brown fox jumps over lazy dogs while seven wizards make toxic brew for evil queens".split()  # noqa: SIM905
_CONTEXT = CallContext(Turn(TurnId("t"), SessionKey("s"), TraceId("x"), SpanId("y"), ()))


class _NoBlobs:
    """Implements `Blobs`."""

    async def put(self, data: bytes, media_type: str) -> BlobId:
        return BlobId(str(len(data)))

    async def load(self, blob: BlobId) -> bytes:
        return b""


def measure(bench: Bench) -> Iterator[Row]:
    """Measure `web_fetch` of a 200 kB article on loopback, including the reader process, from the second page on."""
    took, size = asyncio.run(_fetched(bench.times(30, 5)))
    yield Row(f"web_fetch of a page of {size // 1000} kB", took, "ms CPU", 60)


async def _fetched(times: int) -> tuple[float, int]:
    page = _page()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(page)}\r\n\r\n"
        writer.write(head.encode() + page)
        await writer.drain()
        writer.close()

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    clock, documents = SystemClock(), DocumentReader(linger=60)
    fetcher = WebFetcher(clock, PublicTransport(Internet(resolve, lambda _: True)))
    web = WebTools(fetcher, lambda: open_search(WebSettings()), documents, _NoBlobs(), clock)

    async def fetch(n: int) -> None:
        call = ToolCall(CallId("c"), "web_fetch", f'{{"url": "http://site.example:{port}/{n}"}}')
        result = await web.toolset.call(call, _CONTEXT)
        assert not result.is_error, result.text

    async with server:
        await fetch(0)
        began = _used(documents)
        for n in range(times):
            await fetch(n + 1)
        took = (_used(documents) - began) / times * 1000
    await documents.close()
    return took, len(page)


def _used(documents: DocumentReader) -> float:
    """Return the CPU seconds of this process and of the document reader's."""
    process = documents._process  # noqa: SLF001 - its cost is measured
    assert process is not None
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _page() -> bytes:
    """Return a typical article: headings, paragraphs with links, a menu, a script."""
    chance = random.Random(1)

    def paragraph() -> str:
        return f"<p>{' '.join(chance.choices(_WORDS, k=80))} <a href='/l/{chance.random()}'>link</a>.</p>"

    parts = (f"<h2>Part {n}</h2>{''.join(paragraph() for _ in range(4))}" for n in range(100))
    menu, script = "<a href='/x'>menu</a>" * 100, "x = 1;" * 500
    text = f"<script>{script}</script><nav>{menu}</nav><article><h1>Title</h1>{''.join(parts)}</article>"
    return f"<!doctype html><html><head><title>Page</title></head><body>{text}</body></html>".encode()
