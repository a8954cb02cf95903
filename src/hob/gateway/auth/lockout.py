"""Lockout: refuses an address after too many wrong tokens."""

import logging
from collections import OrderedDict, deque
from dataclasses import field
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from hob.core.clock import Clock
from hob.core.values import dataclass

log = logging.getLogger(__name__)

MAX_TRIES = 10
WINDOW_SECONDS = 60.0
"""Time window: after `MAX_TRIES` wrong tokens from one place within it, further ones are refused unchecked."""

_MAX_PLACES = 1_000


@dataclass(slots=True)
class _Place:
    tries: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=MAX_TRIES))
    """Times and hashes of wrong tokens: a program that repeats its expired token is not guessing."""
    known: set[str] = field(default_factory=set)


class Lockout:
    """Counts wrong tokens by place: an IPv4 address, or an IPv6 /64 network, which is usually one household.

    Behind a proxy, good and bad callers share a place. Tokens already used from there are still accepted, and so is any
    valid token that Hob made, since 256 random bits cannot be guessed.
    """

    def __init__(self, clock: Clock, wrong: str = "wrong tokens", then: str = "no more are tried") -> None:
        """`wrong` names what is counted and `then` the consequence, as written to the log."""
        self._clock = clock
        self._told = f"%d {wrong} came from %s: {then} for a minute"
        self._places: OrderedDict[str, _Place] = OrderedDict()

    def wait(self, address: str) -> float:
        """Return for how many seconds unknown callers from this address are refused; 0 if they are not."""
        place = self._places.get(place_of(address))
        if place is None or len(place.tries) < MAX_TRIES:
            return 0.0
        return max(0.0, place.tries[0][0] + WINDOW_SECONDS - self._clock.monotonic())

    def knows(self, address: str, name: str) -> bool:
        """Return whether this token was used from there before."""
        place = self._places.get(place_of(address))
        return place is not None and name in place.known

    def failed(self, address: str, guess: str = "") -> None:
        """Count a wrong token from this address, unless it is a repetition."""
        place, mark = self._place(address), hash(guess)
        if guess and any(mark == earlier for _, earlier in place.tries):
            return
        place.tries.append((self._clock.monotonic(), mark))
        if self.wait(address):
            log.warning(self._told, MAX_TRIES, place_of(address))

    def passed(self, address: str, name: str) -> None:
        """Record a valid token from this address."""
        if not self.knows(address, name):
            self._place(address).known.add(name)

    def _place(self, address: str) -> _Place:
        key = place_of(address)
        place = self._places.setdefault(key, _Place())
        self._places.move_to_end(key)
        if len(self._places) > _MAX_PLACES:
            self._places.popitem(last=False)
        return place


@lru_cache(64)
def place_of(address: str) -> str:
    """Return the place that this address belongs to."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(IPv6Address(int(found) >> 64 << 64))
    return str(found.ipv4_mapped or found) if isinstance(found, IPv6Address) else str(found)
