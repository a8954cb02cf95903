"""Base URLs of model servers, as people write them, in one form."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}
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
    host = host_of(base_url)
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def is_private(base_url: str) -> bool:
    """Whether the address belongs to this machine or to the network at home."""
    host = host_of(base_url)
    address = _address(host)
    if address is not None:
        return address.is_private or address.is_loopback
    named = host == "localhost" or host.endswith((".local", ".lan", ".home.arpa", ".internal"))
    # a number that is no address is read as one by resolvers: 134744072 is 8.8.8.8
    return named or ("." not in host and any(sign.isalpha() for sign in host) and not host.startswith("0x"))


def is_same_place(one: str, other: str) -> bool:
    """Whether both lead to the same scheme, host and port."""
    return _place(one) is not None and _place(one) == _place(other)


def host_of(base_url: str) -> str:
    """The host alone, in lower case; empty where there is none."""
    try:
        return urlsplit(base_url if "://" in base_url else f"http://{base_url}").hostname or ""
    except ValueError:
        return ""


def password_of(base_url: str) -> str:
    """The password that may stand in the address."""
    try:
        return urlsplit(with_scheme(base_url)).password or ""
    except ValueError:
        return ""


def shown(base_url: str) -> str:
    """The address for people: without the user and password that may stand in it."""
    head, mark, rest = base_url.partition("://")
    place, slash, path = (rest if mark else head).partition("/")
    return f"{head}{mark}" * bool(mark) + place.rpartition("@")[2] + slash + path


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _place(base_url: str) -> tuple[str, str, int | None] | None:
    try:
        parts = urlsplit(with_scheme(base_url))
        port = parts.port
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port or _PORTS.get(parts.scheme)) if parts.hostname else None


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
