"""Base URLs as people write them."""

import re
from urllib.parse import urlsplit

_VERSION = re.compile(r"v\d+(?:alpha|beta)?\d*")


def endpoint(base_url: str, path: str) -> str:
    """The address of `path`, for a base URL written with or without scheme, `/v1` and trailing slash."""
    base = with_scheme(base_url).rstrip("/").removesuffix("/chat/completions")
    if urlsplit(base).path in ("", "/"):
        base += "/v1"
    return base + path


def versioned(base_url: str, version: str, *endings: str) -> str:
    """The base with its API version (`/v1`), for one written with or without scheme, version, ending and slash.

    Raises ValueError for what is no address.
    """
    base = with_scheme(base_url).rstrip("/")
    for ending in endings:
        base = base.removesuffix(ending)
    last = urlsplit(base).path.rpartition("/")[2]
    return base if _VERSION.fullmatch(last) else base + version


def with_scheme(base_url: str) -> str:
    """The address with its scheme: where none was written https, or http for this machine."""
    base = base_url.strip()
    if "://" in base:
        return base
    return f"http://{base}" if is_loopback(f"http://{base}") else f"https://{base}"


def is_loopback(base_url: str) -> bool:
    """Whether the server is this machine."""
    try:
        host = urlsplit(base_url if "://" in base_url else f"http://{base_url}").hostname or ""
    except ValueError:
        return False
    return host in ("localhost", "::1") or host.startswith("127.")


def ollama_address(value: str) -> str:
    """What OLLAMA_HOST says, as an address to call: scheme and port may be missing, and it may mean "any address"."""
    address = value if "://" in value else f"http://{value}"
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 11434)
    except ValueError:
        return value
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", None: "127.0.0.1"}.get(parts.hostname, parts.hostname)  # noqa: S104
    return f"{parts.scheme}://{f'[{host}]' if host and ':' in host else host}:{port}{parts.path.rstrip('/')}"
