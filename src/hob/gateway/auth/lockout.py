"""Lockout: after how many wrong tokens an address is refused, and for how long."""

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
"""After so many wrong tokens from one place within so long, the next ones are not looked at."""

_MAX_PLACES = 1_000


@dataclass(slots=True)
class _Place:
    tries: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=MAX_TRIES))
    """When, and what: a program that goes on with an old token guesses nothing."""
    known: set[str] = field(default_factory=set)


class Lockout:
    """Counts wrong tokens by place: an IPv4 address, or an IPv6 network of 64 bits, which is one line's.

    Behind a proxy, or in a house, good and bad callers share a place. So those who have called from there before are
    let in all the same, and so is a right token that Hob made: of 256 random bits none is found by guessing.
    """

    def __init__(self, clock: Clock, wrong: str = "wrong tokens", then: str = "no more are tried") -> None:
        """`wrong` is what is counted and `then` what becomes of the next ones, in the log's words."""
        self._clock = clock
        self._told = f"%d {wrong} came from %s: {then} for a minute"
        self._places: OrderedDict[str, _Place] = OrderedDict()

    def wait(self, address: str) -> float:
        """The seconds for which no one new is heard from there; 0 when all are."""
        place = self._places.get(place_of(address))
        if place is None or len(place.tries) < MAX_TRIES:
            return 0.0
        return max(0.0, place.tries[0][0] + WINDOW_SECONDS - self._clock.monotonic())

    def knows(self, address: str, name: str) -> bool:
        """Whether this token has come from there before."""
        place = self._places.get(place_of(address))
        return place is not None and name in place.known

    def failed(self, address: str, guess: str = "") -> None:
        """A wrong token came from there; the same one again is no further guess."""
        place, mark = self._place(address), hash(guess)
        if guess and any(mark == earlier for _, earlier in place.tries):
            return
        place.tries.append((self._clock.monotonic(), mark))
        if self.wait(address):
            log.warning(self._told, MAX_TRIES, place_of(address))

    def passed(self, address: str, name: str) -> None:
        """A right one did."""
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
    """Who shares a fate with this address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(IPv6Address(int(found) >> 64 << 64))
    return str(found.ipv4_mapped or found) if isinstance(found, IPv6Address) else str(found)
