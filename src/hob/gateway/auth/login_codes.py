"""One-time codes of login links; each signs one browser in."""

import hashlib
import secrets
from collections.abc import Callable

from hob.gateway.auth.callers import ApiCaller

LASTS_SECONDS = 300.0
_MAX = 32


class LoginCodes:
    """The valid codes. Only their hashes are kept, and only in memory."""

    def __init__(self) -> None:
        self._codes: dict[bytes, tuple[float, ApiCaller, str]] = {}

    def issue(self, caller: ApiCaller, monotonic: Callable[[], float], owner: str = "") -> str:
        """Issue a code for a browser of this caller. It ends with the `owner`'s token, which is given as its hash."""
        now = monotonic()
        self._codes = {code: row for code, row in self._codes.items() if row[0] > now}
        while len(self._codes) >= _MAX:
            self._codes.pop(next(iter(self._codes)))
        code = secrets.token_urlsafe(32)
        self._codes[_hash(code)] = (now + LASTS_SECONDS, caller, owner)
        return code

    def redeem(self, code: str, monotonic: Callable[[], float], owner: str = "") -> ApiCaller | None:
        """Return the caller a code was issued for, and invalidate it. Return None if it is wrong, used or expired."""
        ends, caller, issued_under = self._codes.pop(_hash(code), (0.0, None, ""))
        return caller if ends > monotonic() and issued_under == owner else None


def _hash(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "surrogateescape")).digest()
