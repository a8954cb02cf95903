"""What differs between servers that speak chat completions."""

from dataclasses import dataclass
from urllib.parse import urlsplit

OFFICIAL = "https://api.openai.com/v1"


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
