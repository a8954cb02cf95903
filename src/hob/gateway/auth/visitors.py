"""Who calls: found out when a route wants to know, since some are for everybody and read no token."""

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
    """Somebody who came over TCP from this address, with or without an Authorization header."""

    keyring: Keyring
    lockout: Lockout
    refused: Callable[[str], None]
    """Told where a call with a wrong token, or without one, came from."""
    address: str
    authorization: str | None
    unsigned: Lockout
    """Who signs wrong, counted apart: that is no guess at a token."""
    session: str = ""
    """A signed-in browser's half of its token, from a cookie that its scripts cannot read."""
    csrf: str = ""
    """The other half, from a header that pages of others cannot send."""

    def caller(self) -> ApiCaller:
        """Who that is by the header. Raises Refusal, which is counted."""
        token = bearer_of(self.authorization) if self.authorization is not None else None
        if token is not None:
            return self.show(token)
        if self.session and self.authorization is None and not self.csrf:
            raise HttpRefusal("missing_csrf", "send the half of the login that the page keeps as `X-CSRF-Token`")
        if self.session and self.authorization is None:
            return self.show(self.whole(self.csrf))
        self.refused(self.address)
        raise _unknown()

    def whole(self, token: str) -> str:
        """A signed-in browser's token, of which its page has shown its half; any other token as it is."""
        return f"{self.session}{token}" if self.session and token.startswith(HALF) else token

    def show(self, token: str) -> ApiCaller:
        """Who that is by a token that came another way, such as in the first message of a WebSocket.

        Raises Refusal, which is counted: after too many of them no one new is heard from this address for a while.
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
        raise _unknown()

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Within the block a signature is looked at; it raises for what is wrong, which is counted.

        Raises Refusal instead after too many of them. What is right comes in even then: no one guesses such a secret,
        and behind a proxy, where all senders are one place, anybody could else keep out the deliveries of all.
        """
        try:
            yield
        except Exception as error:
            self.refused(self.address)
            if wait := self.unsigned.wait(self.address):
                raise HttpRefusal("too_many_attempts", _TOO_MANY_UNSIGNED, max(1, round(wait))) from error
            self.unsigned.failed(self.address)
            raise


@dataclass(frozen=True, slots=True)
class SocketOwner:
    """Somebody who reached the Unix socket, which is the owner's alone."""

    who: ApiCaller = field(default=AT_THE_SOCKET)

    def caller(self) -> ApiCaller:
        """The owner."""
        return self.who

    def whole(self, token: str) -> str:
        """The token as it is."""
        return token

    def show(self, token: str) -> ApiCaller:
        """The owner, whatever is shown."""
        del token
        return self.who

    @contextmanager
    def trying(self) -> Iterator[None]:
        """No one is counted here."""
        yield


_TOO_MANY = "too many wrong tokens came from here"
_TOO_MANY_UNSIGNED = "too many deliveries that are signed wrong came from here"


def _unknown() -> HttpRefusal:
    return HttpRefusal("unauthorized", "send the token as `Authorization: Bearer ...`; `hob token show` prints it")
