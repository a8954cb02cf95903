"""What an external knowledge engine finds is told as the claim of its source, to the owner alone."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from hob.core.ids import CallId, SessionKey
from hob.core.models import ModelReply
from hob.core.ports.tools import Toolset
from hob.core.settings import Secret
from hob.core.tools import Effect, Tier, ToolCall
from hob.core.trust.labels import Origin
from hob.memory.knowledge.engine import KnowledgeEngine
from hob.memory.knowledge.settings import KnowledgeSettings
from hob.tools.mcp.toolset import MCP_LABEL
from hob.tools.registry.declaration import ToolOutput, Tools, tool
from tests.app.visiting import ANNA, ME, visited
from tests.tools.web.server import WebServer, reply, web_server

OWNER = SessionKey("owner")


class EngineServer(WebServer):
    """A knowledge engine: `GET /search?q=&k=` with a key."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Any = {"results": [
            {"id": "doc-7", "title": "Boats", "text": "A mooring costs 40 a month.", "score": 1, "date": "2026-05-01"},
            {"text": "nobody's claim"},
            {"id": "doc-8", "content": "Moorings are given in spring.", "score": 0.4},
        ]}  # fmt: skip
        self.status = "200 OK"
        self.asked: list[Mapping[str, list[str]]] = []
        self.pages = {"*": self.reply_to}

    async def reply_to(self, head: str, writer: asyncio.StreamWriter) -> None:
        method, target, _ = head.split(" ", 2)
        url = urlsplit(target)
        assert (method, url.path) == ("GET", "/search")
        self.asked.append(parse_qs(url.query))
        status = self.status if "x-api-key: key-1" in head.lower() else "403 Forbidden"
        body = self.found if isinstance(self.found, bytes) else json.dumps(self.found).encode()
        writer.write(reply(body, "application/json", status))


@pytest.fixture
async def server() -> AsyncIterator[EngineServer]:
    async with web_server(EngineServer()) as server:
        assert isinstance(server, EngineServer)
        yield server


class Notes:
    """A tool of an MCP server."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.asked: list[tuple[str, int]] = []
        self.toolset = Tools(self.search)

    @tool(tier=Tier.READ, effects=frozenset({Effect.READS_UNTRUSTED}))
    async def search(self, query: str, limit: int = 3) -> ToolOutput:
        """Search."""
        self.asked.append((query, limit))
        return ToolOutput(self._text, MCP_LABEL)


def engine(url: str = "", *, key: str = "key-1", mcp: Toolset | None = None, **more: Any) -> KnowledgeEngine:
    settings = KnowledgeSettings(url=url, api_key=Secret(lambda: key), tool="search" if mcp else "", **more)
    return KnowledgeEngine(settings, lambda name: mcp)


async def test_results_with_a_source_are_its_claims(server: EngineServer) -> None:
    found = await engine(f"http://127.0.0.1:{server.port}").recall("what does a mooring cost", OWNER, 8)
    assert [(each.text, each.source) for each in found] == [
        ("Boats: A mooring costs 40 a month.", "knowledge:doc-7"), ("Moorings are given in spring.", "knowledge:doc-8"),
    ]  # fmt: skip
    assert {(each.label.origin, each.label.trusted) for each in found} == {(Origin.WEB, False)}
    assert server.asked == [{"q": ["what does a mooring cost"], "k": ["5"]}]


async def test_only_the_owners_questions_reach_the_engine(server: EngineServer) -> None:
    asking = engine(f"http://127.0.0.1:{server.port}")
    assert await asking.recall("mooring", SessionKey("telegram:2"), 8) == ()
    assert await asking.recall("  ", OWNER, 8) == ()
    assert server.asked == []


@pytest.mark.parametrize("found", [b"no json", {"error": "x"}, 5, b"[" * 100_000])
async def test_mcp_tool_is_the_fallback_of_the_rest_search(server: EngineServer, found: Any) -> None:
    server.found = found
    notes = Notes(json.dumps([{"id": "n1", "text": "The mooring is paid."}]))
    asking = engine(f"http://127.0.0.1:{server.port}", mcp=notes.toolset)
    (memory,) = await asking.recall("mooring", OWNER, 2)
    assert (memory.text, memory.source, memory.label.origin) == ("The mooring is paid.", "knowledge:n1", Origin.MCP)
    assert notes.asked == [("mooring", 2)]
    assert asking.problem == ""


async def test_plain_text_of_an_mcp_tool_is_the_tools_claim() -> None:
    (memory,) = await engine(mcp=Notes("It is paid.").toolset).recall("mooring", OWNER, 2)
    assert (memory.text, memory.source) == ("It is paid.", "knowledge:search")


async def test_engine_failure_is_logged_and_finds_nothing(server: EngineServer) -> None:
    for asking, problem in (
        (engine(f"http://127.0.0.1:{server.port}", key="wrong"), "check knowledge.api_key"),
        (engine("http://127.0.0.1:9"), ""),
        (KnowledgeEngine(KnowledgeSettings(tool="a__b"), lambda _: None), "there is no MCP tool a__b"),
    ):
        assert await asking.recall("mooring", OWNER, 2) == ()
        assert problem in asking.problem
        assert asking.problem
    server.status = "500 Internal Server Error"
    asking = engine(f"http://127.0.0.1:{server.port}")
    assert await asking.recall("mooring", OWNER, 2) == ()
    assert "500" in asking.problem
    server.status = "200 OK"
    assert len(await asking.recall("mooring", OWNER, 2)) == 2
    assert asking.problem == ""


async def test_recall_names_engine_results_and_shows_them_on_demand(tmp_path: Path, server: EngineServer) -> None:
    url = f"http://127.0.0.1:{server.port}"
    async with visited(tmp_path, HOB_KNOWLEDGE_URL=url, HOB_KNOWLEDGE_API_KEY="key-1") as hob:
        await hob.knows()

        def call(n: int, **arguments: object) -> ModelReply:
            arguments = {"query": "mooring", **arguments}
            return ModelReply("", calls=(ToolCall(CallId(f"c_{n}"), "recall", json.dumps(arguments)),))

        hob.model.script = [call(1), "I see."]
        await hob.answer("What does a mooring cost?", ME)
        assert "2 more from web; to read them too, set untrusted=true" in hob.seen
        assert "40 a month" not in hob.seen
        hob.model.script = [call(2, untrusted=True), "40."]
        await hob.answer("Then read them, please.", ME)
        assert "A mooring costs 40 a month. [2026-05-01, knowledge:doc-7, untrusted]" in hob.seen
        before = len(server.asked)
        hob.model.script = [call(3, untrusted=True), "Nothing."]
        await hob.answer("What does a mooring cost him?", ANNA)
        assert len(server.asked) == before


async def test_unconfigured_engine_is_not_opened(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        assert "knowledge" not in str(await hob.app.operations.status())
