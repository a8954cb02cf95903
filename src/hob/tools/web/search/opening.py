"""Selection of the configured search provider."""

from collections.abc import Callable, Mapping

from hob.core.errors import NotConfigured
from hob.tools.web.search.brave import Brave
from hob.tools.web.search.duckduckgo import DuckDuckGo
from hob.tools.web.search.provider import SearchProvider
from hob.tools.web.search.searxng import SearXNG
from hob.tools.web.search.tavily import Tavily
from hob.tools.web.settings import SEARCH_ENGINES, SearchEngine, WebSettings, engine_of

_FREE, *_OTHERS = sorted(SEARCH_ENGINES, key=lambda name: bool(SEARCH_ENGINES[name].needs))
NONE = (
    f"no search provider is chosen; the owner can: hob config set web.search {_FREE} (needs no key), "
    f"or {', '.join(_OTHERS)}"
)
_PROVIDERS: Mapping[str, Callable[[str], SearchProvider]] = {
    DuckDuckGo.name: lambda _: DuckDuckGo(),
    SearXNG.name: SearXNG,
    Brave.name: Brave,
    Tavily.name: Tavily,
}
"""Factories by provider, each called with the setting it needs."""


def open_search(settings: WebSettings) -> SearchProvider:
    """Create the provider. Raises NotConfigured if none is chosen or a setting is missing."""
    engine = engine_of(settings.search)
    if engine is None:
        raise NotConfigured(NONE)
    return _PROVIDERS[settings.search](_needed(engine, settings))


def _needed(engine: SearchEngine, settings: WebSettings) -> str:
    if engine.needs == "searxng_url" and not settings.searxng_url:
        raise NotConfigured("web.searxng_url is missing; the owner can: hob config set web.searxng_url ADDRESS")
    if engine.needs != "search_key":
        return settings.searxng_url
    if settings.search_key is None:
        missing = f"the key of {settings.search} is missing"
        raise NotConfigured(f"{missing}; the owner can: hob secrets set web.search_key")
    return settings.search_key.reveal()
