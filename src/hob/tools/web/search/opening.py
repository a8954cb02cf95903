"""The search provider that the owner has chosen."""

from hob.core.errors import NotConfigured
from hob.tools.web.search.brave import Brave
from hob.tools.web.search.duckduckgo import DuckDuckGo
from hob.tools.web.search.provider import SearchProvider
from hob.tools.web.search.searxng import SearXNG
from hob.tools.web.search.tavily import Tavily
from hob.tools.web.settings import WebSettings

NONE = (
    "no search provider is chosen; the owner can: hob config set web.search duckduckgo (needs no key), "
    "or searxng, brave, tavily"
)


def open_search(settings: WebSettings) -> SearchProvider:
    """The provider. Raises NotConfigured where none is chosen or something of it is missing."""
    match settings.search:
        case "searxng":
            if not settings.searxng_url:
                raise NotConfigured("web.searxng_url is missing; the owner can: hob config set web.searxng_url ADDRESS")
            return SearXNG(settings.searxng_url)
        case "brave":
            return Brave(_key(settings))
        case "tavily":
            return Tavily(_key(settings))
        case "duckduckgo":
            return DuckDuckGo()
    raise NotConfigured(NONE)


def _key(settings: WebSettings) -> str:
    if settings.search_key is None:
        raise NotConfigured(f"the key of {settings.search} is missing; the owner can: hob secrets set web.search_key")
    return settings.search_key.reveal()
