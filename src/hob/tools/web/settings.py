"""How the web is searched. Loads nothing but the standard library and the vocabulary."""

from urllib.parse import urlsplit

from hob.core.settings import Secret, setting
from hob.core.values import dataclass

PROVIDERS = ("", "searxng", "brave", "tavily", "duckduckgo")


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
    """Who is asked when Hob searches the web."""

    search: str = setting("", "The service that searches the web; not set: Hob cannot search.", one_of=PROVIDERS)
    search_key: Secret | None = setting(None, "Your API key for brave or tavily.")
    searxng_url: str = setting(
        "", "Address of your SearXNG, as http://localhost:8888; not set: none.", problem=_address_problem
    )
