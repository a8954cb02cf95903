"""The passphrase that admits a sender for a limited time."""

import hashlib
import hmac
import os
from enum import Enum, auto

from hob.core.clock import Clock
from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.core.trust.people import SenderAddress
from hob.guard.admission.actions import SlidingWindows

COMMAND = "/pass"
SHORTEST = 8
_HOUR = 3600.0
_MAX_TRIES = 5  # per sender and hour
_MAX_TRIES_HERE = 20  # per account and hour, for all senders together, so that many senders guess no faster than a few


class PassphraseAttempt(Enum):
    """The result of an attempt."""

    RIGHT = auto()
    WRONG = auto()
    TOO_OFTEN = auto()


class Passphrase:
    """The senders admitted by passphrase. Stores only a hash and compares in constant time."""

    def __init__(self, passphrase: str, hours: float, clock: Clock) -> None:
        if len(passphrase) < SHORTEST:
            raise NotConfigured(
                translatable(
                    "admission.passphrase is shorter than {shortest} characters; choose a longer one", shortest=SHORTEST
                )
            )
        self._salt = os.urandom(16)
        self._hash = self._hashed(passphrase)
        self._seconds = hours * _HOUR
        self._clock = clock
        self._tries = SlidingWindows(_HOUR)
        self._until: dict[SenderAddress, float] = {}

    def is_attempt(self, text: str) -> bool:
        """Return whether the message is an attempt, right or wrong. Attempts are never stored."""
        return text.strip().partition(" ")[0].lower() == COMMAND

    def attempt(self, address: SenderAddress, text: str) -> PassphraseAttempt:
        """Admit the sender if the text contains the passphrase."""
        now = self._clock.monotonic()
        here = (address.channel, address.account)
        if self._tries.wait(address, _MAX_TRIES, now) or self._tries.wait(here, _MAX_TRIES_HERE, now):
            return PassphraseAttempt.TOO_OFTEN
        self._tries.count(address, now)
        self._tries.count(here, now)
        if not hmac.compare_digest(self._hashed(text.strip()[len(COMMAND) :].strip()), self._hash):
            return PassphraseAttempt.WRONG
        self._until = {each: until for each, until in self._until.items() if until > now}
        self._until[address] = now + self._seconds
        return PassphraseAttempt.RIGHT

    def admits(self, address: SenderAddress) -> bool:
        """Return whether the sender's admission is still valid."""
        return self._until.get(address, 0.0) > self._clock.monotonic()

    def _hashed(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._salt).digest()
