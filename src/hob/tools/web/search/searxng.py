"""SearXNG, a self-hosted search engine (https://docs.searxng.org/dev/search_api.html)."""

from hob.core.errors import ToolFailed
from hob.tools.web.search.provider import Hit, SearchRequest, WebQuery, ask, plain, read_hits


class SearXNG:
    """Searches with a SearXNG instance that allows the format json."""

    name = "searxng"

    def __init__(self, address: str) -> None:
        self._url = f"{address.rstrip('/')}/search"

    async def search(self, query: WebQuery) -> tuple[Hit, ...]:
        params = {"q": query.words, "format": "json", "language": query.language or "auto"}
        if query.freshness:
            params["time_range"] = query.freshness
        try:
            answer = await ask(self.name, SearchRequest("GET", self._url, params))
        except ToolFailed as error:
            if "(403)" in str(error):
                raise ToolFailed("SearXNG refused: its settings.yml must list json under search.formats") from error
            raise
        found = (
            Hit(plain(each.get("title")), str(each.get("url")), plain(each.get("content")),
                plain(each.get("publishedDate"))[:10])
            for each in read_hits(self.name, answer, "results")
        )  # fmt: skip
        return tuple(found)[: query.count]
