"""The web of the guard's tests: Hob's own fetch and search tools, and a loopback server that acts as every host."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2

from hob.core.clock import SystemClock
from hob.core.ports.tools import Toolset
from hob.tools.documents.documents import DocumentReader
from hob.tools.web.fetcher import WebFetcher
from hob.tools.web.public_transport import PublicTransport
from hob.tools.web.search.opening import open_search
from hob.tools.web.settings import WebSettings
from hob.tools.web.web_tools import WebTools
from tests.guard.simulated import Done, SimulatedWorld
from tests.tools.keeping import FolderBlobs
from tests.tools.web.server import WebServer, only_loopback_is_public, reply, web_server

_HOST = re.compile(r"^host: *(\S+)", re.IGNORECASE | re.MULTILINE)
_LINK = re.compile(r"https?://[^\s)\"\]]*[^\s)\"\].,]")
_SCHEME = re.compile(r"^x-scheme: *(\w+)", re.IGNORECASE | re.MULTILINE)


class _ToPort(httpx2.AsyncHTTPTransport):
    """Connects to one port without TLS, whatever the URL says."""

    def __init__(self, port: int) -> None:
        super().__init__(trust_env=False)
        self._port = port

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["x-scheme"] = request.url.scheme
        request.url = request.url.copy_with(scheme="http", port=self._port)
        return await super().handle_async_request(request)


@asynccontextmanager
async def web_of(outside: SimulatedWorld, folder: Path, *, linked: bool = False) -> AsyncIterator[Toolset]:
    """`web_fetch` and `web_search` over its pages and search results, one per line, or one per link in them (`linked`).

    Requests to hosts are recorded in `outside.done`; queries to the search provider are not.
    """
    web = WebServer()

    async def answer(head: str, writer: asyncio.StreamWriter) -> None:
        found, scheme = _HOST.search(head), _SCHEME.search(head)
        assert found is not None
        url = f"{scheme[1] if scheme else 'http'}://{found[1]}{head.split(' ', 2)[1]}"
        if found[1] == f"127.0.0.1:{web.port}":
            (query,) = parse_qs(urlsplit(url).query)["q"]
            hits = [
                {"url": url, "title": "A page", "content": each}
                for n, each in enumerate(outside.found.get(query, "").splitlines())
                for url in (_LINK.findall(each) if linked else [f"http://found.example/{n}"])
            ]
            writer.write(reply(json.dumps({"results": hits}).encode(), "application/json"))
            return
        outside.done.append(Done("web_fetch", {"url": url}))
        page = outside.pages.get(url)
        missing = reply(b"no such page", status="404 Not Found")
        writer.write(missing if page is None else reply(page.encode(), "text/plain; charset=utf-8"))

    web.pages["*"] = answer
    async with web_server(web):
        fetcher = WebFetcher(SystemClock(), PublicTransport(only_loopback_is_public(), _ToPort(web.port)))
        settings = WebSettings(search="searxng", searxng_url=f"http://127.0.0.1:{web.port}")
        documents = DocumentReader()
        try:
            search = partial(open_search, settings)
            yield WebTools(fetcher, search, documents, FolderBlobs(folder), SystemClock()).toolset
        finally:
            await documents.close()
