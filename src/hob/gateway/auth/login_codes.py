"""Codes of login links: how long one is good, how many there may be; each lets one browser in, once."""

import hashlib
import secrets
from collections.abc import Callable

from hob.gateway.auth.callers import ApiCaller

LASTS_SECONDS = 300.0
_MAX = 32


class LoginCodes:
    """The codes that were given out. Only their hashes are kept, and only in memory."""

    def __init__(self) -> None:
        self._codes: dict[bytes, tuple[float, ApiCaller]] = {}

    def issue(self, caller: ApiCaller, monotonic: Callable[[], float]) -> str:
        """A code for a browser of this caller's."""
        now = monotonic()
        self._codes = {code: row for code, row in self._codes.items() if row[0] > now}
        while len(self._codes) >= _MAX:
            self._codes.pop(next(iter(self._codes)))
        code = secrets.token_urlsafe(32)
        self._codes[_hash(code)] = (now + LASTS_SECONDS, caller)
        return code

    def redeem(self, code: str, monotonic: Callable[[], float]) -> ApiCaller | None:
        """Whose it is; it holds no more then. None for one that is wrong, used or too old."""
        ends, caller = self._codes.pop(_hash(code), (0.0, None))
        return caller if ends > monotonic() else None


def _hash(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "surrogateescape")).digest()
