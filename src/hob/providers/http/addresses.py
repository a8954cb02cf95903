"""Base URLs of model servers, normalized from what people write."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}
_VERSION = re.compile(r"v\d+(?:alpha|beta)?\d*")


def endpoint_url(base_url: str, path: str) -> str:
    """Return the URL of `path`; the base URL may lack a scheme and may include `/v1` and a trailing slash."""
    base = with_scheme(base_url).rstrip("/").removesuffix("/chat/completions")
    if urlsplit(base).path in ("", "/"):
        base += "/v1"
    return base + path


def with_version(base_url: str, version: str, *endings: str) -> str:
    """Return the base URL with its API version (`/v1`); scheme, version, ending and slash are optional in the input.

    Raises ValueError for an invalid address.
    """
    base = with_scheme(base_url).rstrip("/")
    for ending in endings:
        base = base.removesuffix(ending)
    last = urlsplit(base).path.rpartition("/")[2]
    return base if _VERSION.fullmatch(last) else base + version


def with_scheme(base_url: str) -> str:
    """Return the URL with a scheme: by default https, or http for this machine."""
    base = base_url.strip()
    if "://" in base:
        return base
    return f"http://{base}" if is_loopback(f"http://{base}") else f"https://{base}"


def is_loopback(base_url: str) -> bool:
    """Whether the server is this machine."""
    host = get_host(base_url)
    address = _parse_ip(host)
    return host == "localhost" if address is None else address.is_loopback


def is_private(base_url: str) -> bool:
    """Whether the address belongs to this machine or a private network."""
    host = get_host(base_url)
    address = _parse_ip(host)
    if address is not None:
        return address.is_private or address.is_loopback
    named = host == "localhost" or host.endswith((".local", ".lan", ".home.arpa", ".internal"))
    # resolvers read a plain number as an address: 134744072 is 8.8.8.8
    return named or ("." not in host and any(sign.isalpha() for sign in host) and not host.startswith("0x"))


def is_same_origin(one: str, other: str) -> bool:
    """Whether both URLs have the same scheme, host and port."""
    return _get_origin(one) is not None and _get_origin(one) == _get_origin(other)


def get_host(base_url: str) -> str:
    """Return the host in lower case; empty if there is none."""
    try:
        return urlsplit(base_url if "://" in base_url else f"http://{base_url}").hostname or ""
    except ValueError:
        return ""


def get_password(base_url: str) -> str:
    """Return the password in the URL, if any."""
    try:
        return urlsplit(with_scheme(base_url)).password or ""
    except ValueError:
        return ""


def without_credentials(base_url: str) -> str:
    """Return the URL for display, without user and password."""
    head, mark, rest = base_url.partition("://")
    place, slash, path = (rest if mark else head).partition("/")
    return f"{head}{mark}" * bool(mark) + place.rpartition("@")[2] + slash + path


def _parse_ip(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _get_origin(base_url: str) -> tuple[str, str, int | None] | None:
    try:
        parts = urlsplit(with_scheme(base_url))
        port = parts.port
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port or _PORTS.get(parts.scheme)) if parts.hostname else None


def parse_ollama_host(value: str) -> str:
    """Convert OLLAMA_HOST to a URL: scheme and port are optional, and it may mean "any address"."""
    address = value if "://" in value else f"http://{value}"
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 11434)
    except ValueError:
        return value
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", None: "127.0.0.1"}.get(parts.hostname, parts.hostname)  # noqa: S104
    return f"{parts.scheme}://{f'[{host}]' if host and ':' in host else host}:{port}{parts.path.rstrip('/')}"
