"""Base URLs as people write them."""

from urllib.parse import urlsplit


def endpoint(base_url: str, path: str) -> str:
    """The address of `path`, for a base URL written with or without scheme, `/v1` and trailing slash."""
    base = with_scheme(base_url).rstrip("/").removesuffix("/chat/completions")
    if urlsplit(base).path in ("", "/"):
        base += "/v1"
    return base + path


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
