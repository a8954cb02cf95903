"""How to reach one server that speaks chat completions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from hob.core.settings import Secret

OFFICIAL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class OpenAIChatSettings:
    """One server. `model` is used where a request names none; empty asks the server for its first model."""

    base_url: str = OFFICIAL
    api_key: Secret | None = None
    model: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    connect_seconds: float = 5.0
    read_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between servers of this wire. The defaults are understood by all that we know."""

    max_tokens: str = "max_tokens"
    cache_key: bool = False


def dialect_of(base_url: str) -> Dialect:
    """OpenAI's own reasoning models refuse `max_tokens`; others do not know its successor."""
    if is_official(base_url):
        return Dialect(max_tokens="max_completion_tokens", cache_key=True)
    return Dialect()


def is_official(base_url: str) -> bool:
    """Whether the server is OpenAI's own."""
    try:
        return urlsplit(base_url if "://" in base_url else f"https://{base_url}").hostname == "api.openai.com"
    except ValueError:
        return False
