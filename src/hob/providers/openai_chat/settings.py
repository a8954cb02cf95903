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


def endpoint(base_url: str, path: str) -> str:
    """The address of `path`, for a base URL written with or without scheme, `/v1` and trailing slash."""
    base = base_url.strip()
    if "://" not in base:
        base = f"http://{base}" if is_loopback(f"http://{base}") else f"https://{base}"
    base = base.rstrip("/").removesuffix("/chat/completions")
    if urlsplit(base).path in ("", "/"):
        base += "/v1"
    return base + path


def is_loopback(base_url: str) -> bool:
    """Whether the server is this machine."""
    try:
        host = urlsplit(base_url if "://" in base_url else f"http://{base_url}").hostname or ""
    except ValueError:
        return False
    return host in ("localhost", "::1") or host.startswith("127.")


def is_official(base_url: str) -> bool:
    """Whether the server is OpenAI's own."""
    try:
        return urlsplit(base_url if "://" in base_url else f"https://{base_url}").hostname == "api.openai.com"
    except ValueError:
        return False
