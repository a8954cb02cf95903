"""Tavily (https://docs.tavily.com/documentation/api-reference/endpoint/search)."""

from hob.tools.web.search.provider import Hit, SearchRequest, WebQuery, ask, plain, read_hits

ADDRESS = "https://api.tavily.com"


class Tavily:
    """Searches with Tavily's API."""

    name = "tavily"

    def __init__(self, key: str, address: str = ADDRESS) -> None:
        self._key = key
        self._url = f"{address}/search"

    async def search(self, query: WebQuery) -> tuple[Hit, ...]:
        body: dict[str, object] = {"query": query.words, "max_results": query.count, "search_depth": "basic"}
        if query.freshness:
            body["time_range"] = query.freshness
        answer = await ask(
            self.name, SearchRequest("POST", self._url, headers={"Authorization": f"Bearer {self._key}"}, json=body)
        )
        found = (
            Hit(plain(each.get("title")), str(each.get("url")), plain(each.get("content")),
                plain(each.get("published_date")))
            for each in read_hits(self.name, answer, "results")
        )  # fmt: skip
        return tuple(found)[: query.count]
