"""Brave Search (https://api-dashboard.search.brave.com/app/documentation/web-search)."""

from hob.tools.web.search.provider import Hit, SearchRequest, WebQuery, ask, plain, read_hits

ADDRESS = "https://api.search.brave.com"
_FRESH = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}


class Brave:
    """Searches with Brave's API."""

    name = "brave"

    def __init__(self, key: str, address: str = ADDRESS) -> None:
        self._key = key
        self._url = f"{address}/res/v1/web/search"

    async def search(self, query: WebQuery) -> tuple[Hit, ...]:
        wanted = {
            "q": query.words,
            "count": str(query.count),
            "freshness": _FRESH.get(query.freshness, ""),
            "search_lang": query.language,
            "country": query.country.upper(),
        }
        headers = {"X-Subscription-Token": self._key, "Accept": "application/json"}
        params = {name: value for name, value in wanted.items() if value}
        answer = await ask(self.name, SearchRequest("GET", self._url, params, headers))
        found = (
            Hit(plain(each.get("title")), str(each.get("url")), plain(each.get("description")), plain(each.get("age")))
            for each in read_hits(self.name, answer, "web", "results")
        )
        return tuple(found)[: query.count]
