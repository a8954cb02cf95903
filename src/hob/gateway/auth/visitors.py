"""The caller of a request, identified only when a route asks, since public routes read no token."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field

from hob.core.errors import NotConfigured
from hob.core.values import dataclass
from hob.gateway.auth.browsers import HALF
from hob.gateway.auth.callers import AT_THE_SOCKET, ApiCaller
from hob.gateway.auth.lockout import Lockout
from hob.gateway.auth.tokens import Keyring, bearer_of
from hob.gateway.http.failures import HttpRefusal, failure_of


@dataclass(slots=True)
class Visitor:
    """A caller over TCP, with or without an Authorization header."""

    keyring: Keyring
    lockout: Lockout
    refused: Callable[[str], None]
    """Called with the address of each call with a wrong token or none."""
    address: str
    authorization: str | None
    unsigned: Lockout
    """Wrong signatures, counted separately: they are not guesses at a token."""
    session: str = ""
    """A signed-in browser's half of its token, from a cookie hidden from scripts."""
    csrf: str = ""
    """The other half, from a header that other pages cannot send."""

    def caller(self) -> ApiCaller:
        """Identify the caller by header. Raises HttpRefusal, which is counted."""
        token = bearer_of(self.authorization) if self.authorization is not None else None
        if token is not None:
            return self.show(token)
        if self.session and self.authorization is None and not self.csrf:
            raise HttpRefusal("missing_csrf", "send the half of the login that the page keeps as `X-CSRF-Token`")
        if self.session and self.authorization is None:
            return self.show(self.whole(self.csrf))
        self.refused(self.address)
        raise _unauthorized()

    def whole(self, token: str) -> str:
        """Return a signed-in browser's full token, given its page's half; any other token unchanged."""
        return f"{self.session}{token}" if self.session and token.startswith(HALF) else token

    def show(self, token: str) -> ApiCaller:
        """Identify the caller by a token from elsewhere, e.g. from a WebSocket's first message.

        Raises HttpRefusal, which is counted: after too many, newcomers from this address are refused for a while.
        """
        try:
            caller = self.keyring.find(token)
        except NotConfigured as error:
            raise HttpRefusal.of(failure_of(error)) from error
        wait = self.lockout.wait(self.address)
        if caller is not None and (
            not wait or not self.keyring.may_be_guessed(caller) or self.lockout.knows(self.address, caller.name)
        ):
            self.lockout.passed(self.address, caller.name)
            return caller
        self.refused(self.address)
        if wait:
            raise HttpRefusal("too_many_attempts", _TOO_MANY, max(1, round(wait)))
        self.lockout.failed(self.address, token)
        raise _unauthorized()

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Count a failure inside the block, where a signature is verified.

        After too many failures HttpRefusal is raised instead. Valid signatures pass even then: such a secret cannot be
        guessed, and behind a proxy, where all senders share a place, anyone could otherwise lock out everyone.
        """
        try:
            yield
        except Exception as error:  # counted, whatever the sender's bytes broke, and raised again
            self.refused(self.address)
            if wait := self.unsigned.wait(self.address):
                raise HttpRefusal("too_many_attempts", _TOO_MANY_UNSIGNED, max(1, round(wait))) from error
            self.unsigned.failed(self.address)
            raise


@dataclass(frozen=True, slots=True)
class SocketOwner:
    """A caller at the Unix socket, which only the owner can reach."""

    who: ApiCaller = field(default=AT_THE_SOCKET)

    def caller(self) -> ApiCaller:
        """Return the owner."""
        return self.who

    def whole(self, token: str) -> str:
        """Return the token unchanged."""
        return token

    def show(self, token: str) -> ApiCaller:
        """Return the owner, whatever the token."""
        del token
        return self.who

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Count nothing."""
        yield


_TOO_MANY = "too many wrong tokens came from here"
_TOO_MANY_UNSIGNED = "too many deliveries that are signed wrong came from here"


def _unauthorized() -> HttpRefusal:
    return HttpRefusal("unauthorized", "send the token as `Authorization: Bearer ...`; `hob token show` prints it")
