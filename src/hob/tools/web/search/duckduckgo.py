"""DuckDuckGo's page without scripts. It is not an API, needs no key, and may refuse frequent requests."""

from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

from hob.core.errors import ToolFailed
from hob.tools.web.search.provider import Hit, SearchRequest, WebQuery, ask, plain

ADDRESS = "https://html.duckduckgo.com"
_FRESH = {"day": "d", "week": "w", "month": "m", "year": "y"}
_BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


class DuckDuckGo:
    """Searches with DuckDuckGo's HTML page."""

    name = "duckduckgo"

    def __init__(self, address: str = ADDRESS) -> None:
        self._url = f"{address}/html/"

    async def search(self, query: WebQuery) -> tuple[Hit, ...]:
        params = {"q": query.words}
        if query.freshness:
            params["df"] = _FRESH.get(query.freshness, "")
        if query.country and query.language:
            params["kl"] = f"{query.country}-{query.language}".lower()
        answer = await ask(self.name, SearchRequest("GET", self._url, params, {"User-Agent": _BROWSER}))
        if answer.status_code == 202 or "anomaly-modal" in answer.text:
            raise ToolFailed("DuckDuckGo takes this for a robot and gives no results now; try again later")
        page = _ResultPage()
        page.feed(answer.text)
        page.close()
        return tuple(page.hits())[: query.count]


class _ResultPage(HTMLParser):
    """Parses titles, addresses and snippets. Advertisements have other addresses and are skipped."""

    def __init__(self) -> None:
        super().__init__()
        self._found: list[dict[str, str]] = []
        self._into = ""

    def hits(self) -> list[Hit]:
        return [Hit(plain(each["title"]), each["url"], plain(each["snippet"])) for each in self._found if each["url"]]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        kinds = given.get("class", "").split()
        if "result__a" in kinds:
            self._found.append({"title": "", "url": _target(given.get("href", "")), "snippet": ""})
            self._into = "title"
        elif "result__snippet" in kinds and self._found:
            self._into = "snippet"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("a", "div"):
            self._into = ""

    def handle_data(self, data: str) -> None:
        if self._into:
            self._found[-1][self._into] += data


def _target(address: str) -> str:
    """Return the target of a redirect link."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.path == "/l/":
        return next(iter(parse_qs(parts.query).get("uddg", [])), "")
    own = parts.netloc.endswith("duckduckgo.com")
    return address if parts.scheme in ("http", "https") and not own else ""
