"""Asking to be let in: a code for the stranger to pass on, for the owner to approve."""

import secrets
from collections.abc import Iterable

from hob.core.clock import Clock
from hob.core.people import PairingRequest, SenderAddress

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without 0 and O, 1 and I, which are read one for the other."""
CODE_LENGTH = 8
LIFETIME = 3600.0
MOST_PENDING = 3
"""Of one account. A fourth person gets no code, so nobody can flush the codes of others."""


class Pairing:
    """The open requests. Lifetimes are measured, not read off the wall clock, while this process runs."""

    def __init__(self, clock: Clock, requests: Iterable[PairingRequest] = ()) -> None:
        self._clock = clock
        self._open: dict[str, tuple[PairingRequest, float]] = {}
        self._denied: set[SenderAddress] = set()
        self._untold: set[str] = set()
        self.renew(requests)

    def renew(self, requests: Iterable[PairingRequest]) -> None:
        """Add requests of an earlier process, those that were denied among them."""
        wall, now = self._clock.now().timestamp(), self._clock.monotonic()
        for request in requests:
            if request.denied:
                self._denied.add(request.address)
            else:
                left = min(LIFETIME, request.expires - wall)
                self._open[request.code] = (request, now + left)
                self._untold.add(request.code)

    def ask(self, address: SenderAddress, name: str) -> PairingRequest | None:
        """A new request; None where one is open already, was denied, or the account has no room for more.

        One of an earlier process is given again, once: whether they heard its code then is not known.
        """
        pending = self.pending()
        untold = next((each for each in pending if each.address == address and each.code in self._untold), None)
        if untold is not None:
            self._untold.discard(untold.code)
            return untold
        here = [each for each in pending if _account(each.address) == _account(address)]
        if address in self._denied or len(here) >= MOST_PENDING or any(each.address == address for each in here):
            return None
        at = self._clock.now().timestamp()
        request = PairingRequest(_new_code(), address, name, at, at + LIFETIME)
        self._open[request.code] = (request, self._clock.monotonic() + LIFETIME)
        return request

    def pending(self) -> tuple[PairingRequest, ...]:
        """What waits for the owner, oldest first."""
        now = self._clock.monotonic()
        self._open = {code: (request, until) for code, (request, until) in self._open.items() if until > now}
        return tuple(request for request, _ in self._open.values())

    def find(self, code: str) -> PairingRequest | None:
        """The open request with this code, in any case and with any spaces or dashes between."""
        wanted = "".join(sign for sign in code.upper() if sign.isalnum())
        return next((request for request in self.pending() if request.code == wanted), None)

    def settle(self, address: SenderAddress, *, denied: bool) -> None:
        """The owner has answered, by code or by linking the address."""
        self._open = {code: each for code, each in self._open.items() if each[0].address != address}
        (self._denied.add if denied else self._denied.discard)(address)


def _account(address: SenderAddress) -> tuple[str, str]:
    return address.channel, address.account


def _new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
