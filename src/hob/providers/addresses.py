"""Base URLs as people write them."""

from urllib.parse import urlsplit


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
