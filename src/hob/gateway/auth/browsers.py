"""Browsers that are signed in: for how long, by which cookie, and how pages of others are kept out of the API.

A browser that is signed in has a token in two halves: a cookie that no script can read, and a word that the page keeps
and sends in a header. Pages of others can make a browser send the cookie and not the word; anyone who steals one has
nothing.
"""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

_LOCAL = frozenset({"localhost"})
SIGNED_IN_SECONDS = 30 * 86_400.0
HALF = "."
"""What the page's half of a token begins with."""


def session_cookie(port: int) -> str:
    """The cookie's name; browsers tell those of one machine's ports apart by nothing else."""
    return f"hob_session_{port}"


def session_of(cookies: str, port: int) -> str:
    """The cookie's half of the token, from a Cookie header; empty where there is none."""
    name = session_cookie(port)
    for pair in cookies.split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            return value
    return ""


def split_token(secret: str) -> tuple[str, str]:
    """A token as the cookie and the page keep it."""
    cookie, _, page = secret.partition(HALF)
    return cookie, f"{HALF}{page}"


@lru_cache(64)
def host_of(header: str) -> str:
    """The name or address of a Host header, without its port, in lower case; empty if it is none."""
    try:
        return urlsplit(f"//{header.strip()}").hostname or ""
    except ValueError:
        return ""


def is_our_host(header: str, named: Iterable[str]) -> bool:
    """Whether a request means us: by an address, as localhost, or by a name that the owner has given.

    A page elsewhere can give its own name our address (DNS rebinding), and then its scripts may read what we answer.
    It cannot make the browser ask for an address or for another name than its own.
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
    """Whether a page of this origin may call: one that we served ourselves, or one that the owner has allowed."""
    return origin in allowed or origin.lower() == f"{scheme}://{host}".lower()
