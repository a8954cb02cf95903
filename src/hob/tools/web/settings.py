"""Settings of web search. Imports only the standard library and core."""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

from hob.core.settings import Secret, setting
from hob.core.translation.language import translatable
from hob.core.values import dataclass

SearchName = Literal["duckduckgo", "searxng", "brave", "tavily"]


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """A search service: its title in the setup, and the setting it needs."""

    title: str
    needs: Literal["", "search_key", "searxng_url"] = ""


SEARCH_ENGINES: Mapping[SearchName, SearchEngine] = {
    "duckduckgo": SearchEngine(translatable("DuckDuckGo (needs no key)")),
    "searxng": SearchEngine(translatable("your own SearXNG"), needs="searxng_url"),
    "brave": SearchEngine(translatable("Brave Search (needs a key)"), needs="search_key"),
    "tavily": SearchEngine(translatable("Tavily (needs a key)"), needs="search_key"),
}
_CHOICES = ("", *sorted(SEARCH_ENGINES, key=lambda name: not SEARCH_ENGINES[name].needs))


def engine_of(name: str) -> SearchEngine | None:
    """Return the engine with this name, or None."""
    return next((engine for known, engine in SEARCH_ENGINES.items() if known == name), None)


def _address_problem(address: str) -> str:
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        sound = False
    return "" if sound else f"{address!r} is no address; write it as https://searx.example.org"


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The service that Hob searches the web with."""

    search: str = setting("", "The service that searches the web; not set: Hob cannot search.", one_of=_CHOICES)
    search_key: Secret | None = setting(None, "Your API key for brave or tavily.")
    searxng_url: str = setting(
        "", "Address of your SearXNG, such as http://localhost:8888; not set: none.", problem=_address_problem
    )
