"""Search providers are called as their documentation says, and results are short lines."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import get_args
from urllib.parse import parse_qs, urlsplit

import pytest

from hob.core.errors import NotConfigured, ToolFailed
from hob.core.settings import Secret
from hob.guard.policy.exemptions import urls_in
from hob.testing.clock import ManualClock
from hob.tools.documents.documents import DocumentReader
from hob.tools.web.fetcher import WebFetcher
from hob.tools.web.search.brave import Brave
from hob.tools.web.search.duckduckgo import DuckDuckGo
from hob.tools.web.search.opening import open_search
from hob.tools.web.search.provider import Hit, SearchProvider, WebQuery
from hob.tools.web.search.searxng import SearXNG
from hob.tools.web.search.tavily import Tavily
from hob.tools.web.settings import SEARCH_ENGINES, SearchName, WebSettings
from hob.tools.web.web_tools import WebTools
from tests.tools.calling import text_of
from tests.tools.keeping import FolderBlobs
from tests.tools.web.server import WebServer, reply, web_server

DATA = Path(__file__).parent / "data"
PATHS = {"searxng": "/search", "brave": "/res/v1/web/search", "tavily": "/search", "duckduckgo": "/html/"}
MAKERS: dict[str, Callable[[str], SearchProvider]] = {
    "searxng": SearXNG,
    "brave": lambda address: Brave("key-1", address),
    "tavily": lambda address: Tavily("key-1", address),
    "duckduckgo": DuckDuckGo,
}
FILES = {name: f"{name}.{'html' if name == 'duckduckgo' else 'json'}" for name in PATHS}
KINDS = {"duckduckgo": "text/html; charset=UTF-8"}


class Answering(WebServer):
    """Answers every provider address and records the parameters."""

    def asked(self) -> dict[str, str]:
        target = self.heads[-1].split(" ", 2)[1]
        return {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}


@pytest.fixture
async def web() -> AsyncIterator[Answering]:
    async with web_server(Answering()) as server:
        yield server


def answer(web: WebServer, name: str, data: bytes | None = None, status: str = "200 OK") -> SearchProvider:
    """Make the provider over a server with this recorded answer."""
    body = (DATA / FILES[name]).read_bytes() if data is None else data
    web.pages["*"] = reply(body, KINDS.get(name, "application/json"), status)
    return MAKERS[name](web.url("", "127.0.0.1"))


@pytest.mark.parametrize("name", PATHS)
async def test_results_keep_their_order_without_markup(web: Answering, name: str) -> None:
    hits = await answer(web, name).search(WebQuery("whale & krill"))
    assert [hit.url for hit in hits] == ["https://example.org/whales?a=1&b=2", "https://example.com/krill"]
    assert hits[0].title == "Whales & their food"
    assert hits[0].snippet == "Blue whales eat krill, up to four tons a day."
    assert web.heads[-1].split(" ", 2)[1].partition("?")[0] == PATHS[name]


@pytest.mark.parametrize("name", PATHS)
async def test_result_count_is_limited(web: Answering, name: str) -> None:
    assert len(await answer(web, name).search(WebQuery("x", count=1))) == 1


async def test_each_provider_gets_its_own_request_format(web: Answering) -> None:
    query = WebQuery("whale & krill", 3, "week", "de", "at")
    await answer(web, "searxng").search(query)
    assert web.asked() == {"q": "whale & krill", "format": "json", "language": "de", "time_range": "week"}
    await answer(web, "brave").search(query)
    assert web.asked() == {"q": "whale & krill", "count": "3", "freshness": "pw", "search_lang": "de", "country": "AT"}
    assert "x-subscription-token: key-1" in web.heads[-1].lower()
    await answer(web, "duckduckgo").search(query)
    assert web.asked() == {"q": "whale & krill", "df": "w", "kl": "at-de"}
    await answer(web, "tavily").search(query)
    assert "authorization: bearer key-1" in web.heads[-1].lower()
    assert json.loads(web.bodies[-1]) == {
        "query": "whale & krill", "max_results": 3, "search_depth": "basic", "time_range": "week",
    }  # fmt: skip


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("401 Unauthorized", r"refused \(401\)"),
        ("429 Too Many Requests", "no more requests"),
        ("500 Internal Server Error", "status 500"),
    ],
)
async def test_provider_failure_is_reported(web: Answering, name: str, status: str, said: str) -> None:
    with pytest.raises(ToolFailed, match=said):
        await answer(web, name, b"{}", status).search(WebQuery("x"))


@pytest.mark.parametrize("name", ["searxng", "brave", "tavily"])
@pytest.mark.parametrize("data", [b"[]", b'"x"', b'{"results": 3, "web": null}', b'{"results": [1]}'])
async def test_answer_of_unknown_shape_has_no_results(web: Answering, name: str, data: bytes) -> None:
    assert await answer(web, name, data).search(WebQuery("x")) == ()


@pytest.mark.parametrize("name", ["searxng", "brave", "tavily"])
@pytest.mark.parametrize("data", [b"", b"<html>"])
async def test_answer_that_is_not_json_is_reported(web: Answering, name: str, data: bytes) -> None:
    with pytest.raises(ToolFailed, match="no JSON"):
        await answer(web, name, data).search(WebQuery("x"))


async def test_searxng_without_json_says_what_to_change(web: Answering) -> None:
    with pytest.raises(ToolFailed, match=r"must list json under search\.formats"):
        await answer(web, "searxng", b"", "403 Forbidden").search(WebQuery("x"))


async def test_duckduckgo_robot_check_is_reported(web: Answering) -> None:
    with pytest.raises(ToolFailed, match="takes this for a robot"):
        await answer(web, "duckduckgo", b"<div class='anomaly-modal__title'>", "202 Accepted").search(WebQuery("x"))


async def test_unreachable_provider_is_named() -> None:
    with pytest.raises(ToolFailed, match="searxng cannot be reached"):
        await SearXNG("http://127.0.0.1:1").search(WebQuery("x"))


class Canned:
    """Implements `SearchProvider`."""

    name = "canned"

    def __init__(self, *hits: Hit) -> None:
        self.hits = hits
        self.asked: list[WebQuery] = []

    async def search(self, query: WebQuery) -> tuple[Hit, ...]:
        self.asked.append(query)
        return self.hits


def tools_over(provider: Callable[[], SearchProvider], top: Path, clock: ManualClock) -> WebTools:
    return WebTools(WebFetcher(clock), provider, DocumentReader(), FolderBlobs(top), clock)


async def test_only_result_addresses_count_as_found(tmp_path: Path) -> None:
    """Snippets may contain any address; fetching one of many unasked could leak a bit each."""
    provider = Canned(
        Hit("See https://evil.example/1", "https://site.example/a", "or HTTP://evil.example/2", "2 days ago"),
        Hit("Other", "https://other.example/"),
        Hit("Two in one", "https://a.example/\nhttps://evil.example/3"),
        Hit("None", "None"),
    )
    text = await text_of(tools_over(lambda: provider, tmp_path, ManualClock()).toolset, "web_search", query="a  b")
    assert text == (
        "1. See evil.example/1\n   https://site.example/a\n   2 days ago · or evil.example/2\n"
        "2. Other\n   https://other.example/"
    )
    assert urls_in(text) == {"https://site.example/a", "https://other.example/"}
    assert provider.asked == [WebQuery("a b")]


async def test_search_is_cached_for_fifteen_minutes(tmp_path: Path) -> None:
    provider, clock = Canned(), ManualClock()
    tools = tools_over(lambda: provider, tmp_path, clock).toolset
    assert await text_of(tools, "web_search", query="a") == "canned found nothing for 'a'"
    await text_of(tools, "web_search", query="a")
    assert len(provider.asked) == 1
    await clock.advance(901)
    await text_of(tools, "web_search", query="a")
    assert len(provider.asked) == 2


async def test_missing_search_provider_is_reported_with_the_settings_command(tmp_path: Path) -> None:
    tools = tools_over(lambda: open_search(WebSettings()), tmp_path, ManualClock()).toolset
    with pytest.raises(ToolFailed, match=r"no search provider is chosen.*hob config set web\.search duckduckgo"):
        await text_of(tools, "web_search", query="a")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (WebSettings("searxng"), r"web\.searxng_url is missing"),
        (WebSettings("brave"), "key of brave is missing"),
        (WebSettings("tavily"), "key of tavily is missing"),
    ],
)
def test_incomplete_provider_settings_are_named(settings: WebSettings, said: str) -> None:
    with pytest.raises(NotConfigured, match=said):
        open_search(settings)


def test_chosen_provider_is_opened() -> None:
    key = Secret.of("k")
    assert isinstance(open_search(WebSettings("searxng", searxng_url="http://localhost:8888")), SearXNG)
    assert isinstance(open_search(WebSettings("brave", key)), Brave)
    assert isinstance(open_search(WebSettings("tavily", key)), Tavily)
    assert isinstance(open_search(WebSettings("duckduckgo")), DuckDuckGo)


def test_every_search_engine_of_the_table_can_be_opened() -> None:
    key = Secret.of("key")
    opened = [
        open_search(WebSettings(name, search_key=key, searxng_url="http://localhost:8888")) for name in SEARCH_ENGINES
    ]
    assert [each.name for each in opened] == list(SEARCH_ENGINES) == list(get_args(SearchName))
