"""Which model thinks for Hob, where it is, and what it costs. Loads without any HTTP library."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hob.core.models import Price
from hob.core.settings import Secret, setting
from hob.providers.openai_chat.settings import OFFICIAL, is_official

DEFAULT_MODEL = "gpt-5-mini"
"""What is asked at api.openai.com where no model is named; other servers are asked what they have."""


@dataclass(frozen=True, slots=True)
class PriceSetting:
    """Dollars per million tokens. Cached tokens cost as much as others where nothing else is said.

    A price of which input or output is missing is no price: what is not given is unknown, never free.
    """

    input: float | None = setting(None, "Dollars per million tokens of input.", at_least=0)
    output: float | None = setting(None, "Dollars per million tokens of output.", at_least=0)
    cache_read: float | None = setting(None, "Dollars per million tokens read from the cache.", at_least=0)
    cache_write: float | None = setting(None, "Dollars per million tokens written to the cache.", at_least=0)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The language model: any server that speaks OpenAI chat completions."""

    name: str = setting("", "The model; empty takes the server's first one.", stored=True)
    base_url: str = setting("", "Address of the server, e.g. http://127.0.0.1:11434/v1; empty is OpenAI's own.")
    api_key: Secret | None = setting(None, "Key of the server; local ones need none.")
    max_attempts: int = setting(4, "Requests that one answer may take.", at_least=1, at_most=4)
    connect_seconds: float = setting(5.0, "Seconds to reach the server.", at_least=0.1, at_most=60)
    read_seconds: float = setting(600.0, "Seconds the connection may be silent at the very most.", at_least=1)
    headers: dict[str, str] = setting({}, "Further headers for each request.")
    prices: dict[str, PriceSetting] = setting({}, "Prices by model name; a name may end in *.")


def settings_from_environ(settings: ModelSettings, environ: Mapping[str, str]) -> ModelSettings:
    """The settings with what is not configured taken from OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL.

    The key of the environment belongs to the environment's address: it is never sent to a server that only the
    configuration names.
    """
    their_url = environ.get("OPENAI_BASE_URL", "").strip()
    their_key = environ.get("OPENAI_API_KEY", "").strip()
    base_url = settings.base_url or their_url
    api_key = settings.api_key
    if api_key is None and their_key and base_url.rstrip("/") in (their_url.rstrip("/"), OFFICIAL, ""):
        api_key = Secret.of(their_key)
    name = settings.name or environ.get("OPENAI_MODEL", "").strip()
    return replace(settings, name=name, base_url=base_url, api_key=api_key)


def is_connected(settings: ModelSettings) -> bool:
    """Whether there is a server to ask: an address, or a key for OpenAI's own."""
    return bool(settings.base_url) or settings.api_key is not None


def model_name(settings: ModelSettings) -> str:
    """The model that is asked where nobody names one; empty if the server will have to say."""
    if settings.name or not is_connected(settings):
        return settings.name
    return DEFAULT_MODEL if is_official(settings.base_url or OFFICIAL) else ""


def describe(settings: ModelSettings) -> str:
    """Which model is asked, for people."""
    if not is_connected(settings):
        return "none"
    return model_name(settings) or f"the first of {settings.base_url}"


_DATE = re.compile(r"[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$")


class SettingsPrices:
    """Implements `Prices` from the configuration."""

    def __init__(self, prices: Mapping[str, PriceSetting]) -> None:
        self._prices = {name: _price(price) for name, price in prices.items()}
        self._found: dict[str, Price | None] = {}

    def find_price(self, model: str) -> Price | None:
        """The price of the exact name, else of the name without provider or date, else of the longest `prefix*`."""
        if model not in self._found:
            if len(self._found) > 1000:  # names come from outside
                self._found.clear()
            self._found[model] = self._look_up(model)
        return self._found[model]

    def _look_up(self, model: str) -> Price | None:
        bare = model.rpartition("/")[2]
        names = dict.fromkeys((model, _DATE.sub("", model), bare, _DATE.sub("", bare)))
        for name in names:
            if name and name in self._prices:
                return self._prices[name]
        patterns = sorted((name for name in self._prices if name.endswith("*")), key=len, reverse=True)
        fitting = (self._prices[p] for p in patterns if any(name and name.startswith(p[:-1]) for name in names))
        return next(fitting, None)


def _price(price: PriceSetting) -> Price | None:
    if price.input is None or price.output is None:
        return None

    def micro(dollars: float) -> int:
        return round(dollars * 1_000_000)

    return Price(
        input=micro(price.input),
        output=micro(price.output),
        cache_read=micro(price.input if price.cache_read is None else price.cache_read),
        cache_write=micro(price.input if price.cache_write is None else price.cache_write),
    )
