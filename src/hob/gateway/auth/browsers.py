"""Signed-in browsers: session lifetime, the cookie, and protection against other pages (CSRF, DNS rebinding).

A signed-in browser's token has two halves: a cookie that no script can read, and a word that the page keeps and sends
in a header. Other pages can make a browser send the cookie, but not the word; neither half works alone.
"""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

_LOCAL = frozenset({"localhost"})
SIGNED_IN_SECONDS = 30 * 86_400.0
HALF = "."
"""The first character of the page's half of a token."""


def session_cookie(port: int) -> str:
    """Return the cookie's name. It contains the port, since browsers share cookies between a machine's ports."""
    return f"hob_session_{port}"


def session_of(cookies: str, port: int) -> str:
    """Return the cookie's half of the token from a Cookie header, or an empty text."""
    name = session_cookie(port)
    for pair in cookies.split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            return value
    return ""


def split_token(secret: str) -> tuple[str, str]:
    """Split a token into the cookie's half and the page's half."""
    cookie, _, page = secret.partition(HALF)
    return cookie, f"{HALF}{page}"


@lru_cache(64)
def host_of(header: str) -> str:
    """Return the name or address in a Host header, lower-case and without its port; empty if invalid."""
    try:
        return urlsplit(f"//{header.strip()}").hostname or ""
    except ValueError:
        return ""


def is_our_host(header: str, named: Iterable[str]) -> bool:
    """Return whether a request is meant for Hob: by address, as localhost, or by one of the owner's names.

    A foreign page can point its own name at our address (DNS rebinding), so that its scripts may read our answers. It
    cannot make the browser send an address or any other name.
    """
    host = host_of(header)
    return host in _LOCAL or _is_address(host) or host in {each.lower() for each in named}


@lru_cache(64)
def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_our_origin(origin: str, scheme: str, host: str, allowed: Iterable[str]) -> bool:
    """Return whether a page of this origin may call: our own, or one that the owner allows."""
    return origin in allowed or origin.lower() == f"{scheme}://{host}".lower()
