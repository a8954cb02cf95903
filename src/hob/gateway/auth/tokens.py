"""Bearer tokens: the owner's, made once and kept in the home, and those that the owner issues.

An issued token is 256 random bits, of which only the SHA-256 is stored: so much entropy needs no slow hash. The file is
read again whenever it changes, so changes apply to a running daemon at once.
"""

import fcntl
import hashlib
import hmac
import json
import logging
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hob.config.whole_file import write_whole
from hob.core.clock import Clock
from hob.core.errors import InvalidRequest, NotAllowed, NotConfigured, NotFound
from hob.core.settings import Secret
from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass
from hob.gateway.auth.browsers import HALF
from hob.gateway.auth.callers import WITH_THE_TOKEN, ApiCaller, TokenScope
from hob.gateway.settings import SHORTEST, TOO_SHORT

log = logging.getLogger(__name__)

OWNER = "owner"
"""The name of the owner's token. The file lists its former secrets under this name while they are valid."""

_PREFIX = "hob_"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")


@dataclass(frozen=True, slots=True)
class StoredToken:
    """One secret: its hash, and when it expires (Unix seconds; None: when it is revoked)."""

    sha256: str
    expires: float | None = None

    def holds(self, now: float) -> bool:
        """Return whether it is still valid."""
        return self.expires is None or now < self.expires


@dataclass(frozen=True, slots=True)
class Token:
    """An issued token: its scopes, and the class of its callers. The newest secret is last."""

    name: str
    scopes: frozenset[TokenScope]
    cls: SenderClass
    created: float
    kept: tuple[StoredToken, ...]
    parent: str = ""
    """For a browser's token, the token that signed it in, which limits its lifetime."""

    def view(self, now: float) -> dict[str, Any]:
        """Return the token's data without secrets."""
        return {
            "name": self.name,
            "scopes": sorted(self.scopes),
            "class": self.cls.value,
            "created": self.created,
            "expires": self.kept[-1].expires if self.kept else None,
            "older": sum(each.holds(now) for each in self.kept[:-1]),
            "holds": any(each.holds(now) for each in self.kept),
        }


def token_file(home: Path) -> Path:
    """Return the path of the owner's token (0600)."""
    return home / "secrets" / "gateway-token"


def load_token(home: Path) -> str | None:
    """Return the token made at the first start, or None if there is none. Raises NotConfigured if it cannot be read."""
    file = token_file(home)
    try:
        return file.read_text("utf-8").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NotConfigured(
            translatable(
                "{file}: {error}; remove the file and start Hob again to make a new token", file=file, error=str(error)
            )
        ) from error


def checked_token(configured: Secret) -> str:
    """Return the configured token. Raises NotConfigured if it cannot be read or is easy to guess."""
    chosen = configured.reveal()
    if len(chosen) < SHORTEST:
        raise NotConfigured(translatable("gateway.auth_token {problem}", problem=TOO_SHORT))
    return chosen


def ensure_token(home: Path, configured: Secret | None) -> str:
    """Return the configured token, else the home's, making one if needed. Raises NotConfigured if it is unusable."""
    if configured is not None:
        return checked_token(configured)
    kept = load_token(home)
    if kept:
        return kept
    token = secrets.token_urlsafe(32)
    write_whole(token_file(home), f"{token}\n".encode())
    return token


class TokenFile:
    """The file of issued tokens in the home. Commands change it, whether or not a daemon runs."""

    def __init__(self, home: Path, clock: Clock) -> None:
        self._home = home
        self._file = home / "secrets" / "gateway-tokens.json"
        self._files = str(self._file), str(token_file(home))
        self._clock = clock

    def tokens(self) -> tuple[Token, ...]:
        """Return all tokens, oldest first, including expired ones. Raises NotConfigured."""
        try:
            found = json.loads(self._file.read_text("utf-8"))
            return tuple(_load(each) for each in found["tokens"])
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NotConfigured(
                translatable(
                    "{file} cannot be read ({error}); remove it, and make new tokens",
                    file=self._file,
                    error=str(error),
                )
            ) from error

    def add(self, name: str, scopes: frozenset[TokenScope], cls: SenderClass, lifetime: float | None) -> str:
        """Issue a token, for `lifetime` seconds or without expiry. Return its secret, which is shown only now.

        Raises InvalidRequest.
        """
        if not _NAME.fullmatch(name) or name == OWNER:
            raise InvalidRequest(
                translatable("invalid token name {name!r}; use letters, digits and dashes, e.g. phone", name=name)
            )
        if cls is not SenderClass.OWNER and not scopes <= {TokenScope.CHAT}:
            raise InvalidRequest(
                translatable(
                    "a token of class {cls} can have the scope chat only: the rest is the owner's", cls=cls.value
                )
            )
        now = self._clock.now().timestamp()
        with self._editing() as tokens:
            if any(each.name == name for each in tokens):
                raise InvalidRequest(
                    translatable(
                        "there is a token {name} already; revoke it, or rotate it with `hob token rotate`", name=name
                    )
                )
            secret = _new_secret()
            tokens.append(Token(name, scopes, cls, now, (_stored(secret, _expiry(now, lifetime)),)))
        return secret

    def rotate(self, name: str, overlap: float, lifetime: float | None = None) -> str:
        """Issue a new secret for a token; the old one stays valid for `overlap` seconds.

        Without `lifetime` the new secret expires when the old one would have. Raises NotFound, InvalidRequest.
        """
        now = self._clock.now().timestamp()
        with self._editing() as tokens:
            place = _index_of(tokens, name)
            old = tokens[place]
            newest = old.kept[-1]
            if lifetime is None and not newest.holds(now):
                raise InvalidRequest(
                    translatable("{name} has expired; set with --expires how long the new one is valid", name=name)
                )
            secret = _new_secret()
            ends = newest.expires if lifetime is None else now + lifetime
            tokens[place] = replace(old, kept=(*_limited(old.kept, now, overlap), _stored(secret, ends)))
            tokens[:] = _limited_browsers(tokens, name, now, overlap)
        return secret

    def rotate_owners(self, overlap: float) -> str:
        """Issue a new token for the owner; the old one stays valid for `overlap` seconds."""
        now = self._clock.now().timestamp()
        fresh = secrets.token_urlsafe(32)
        with self._editing() as tokens:
            held = [each for each in tokens if each.name == OWNER]
            tokens[:] = _limited_browsers([each for each in tokens if each.name != OWNER], OWNER, now, overlap)
            kept = _limited(held[0].kept if held else (), now, overlap)
            if (old := load_token(self._home)) and overlap > 0:
                kept = (*kept, _stored(old, now + overlap))
            if kept:
                tokens.append(Token(OWNER, frozenset({TokenScope.ADMIN}), SenderClass.OWNER, now, kept))
        # the old one is stored first: after a crash in between, both are valid
        write_whole(token_file(self._home), f"{fresh}\n".encode())
        return fresh

    def revoke(self, name: str) -> None:
        """Revoke a token at once. Raises NotFound."""
        with self._editing() as tokens:
            del tokens[_index_of(tokens, name)]
            tokens[:] = [each for each in tokens if each.parent != name]

    def sign_in(self, caller: ApiCaller, lifetime: float) -> str:
        """Issue a secret for a browser of this caller, with the same scopes, expiring with the caller's secret.

        Raises NotAllowed if the token was revoked, or is a browser's: a stolen one would outlast its sign-out.
        """
        now = self._clock.now().timestamp()
        parent = caller.name or OWNER
        with self._editing() as tokens:
            tokens[:] = [each for each in tokens if not each.parent or any(kept.holds(now) for kept in each.kept)]
            if parent != OWNER and not any(each.name == parent and not each.parent for each in tokens):
                raise NotAllowed("this token signs in no browser; use your own, or a link that `hob dashboard` makes")
            until = now + lifetime if caller.until is None else min(now + lifetime, caller.until)
            secret = f"{_new_secret()}{HALF}{secrets.token_urlsafe(32)}"
            name = f"browser-{secrets.token_hex(4)}"
            tokens.append(Token(name, caller.scopes, caller.cls, now, (_stored(secret, until),), parent))
        return secret

    def sign_out(self, name: str) -> None:
        """Revoke a browser's secret, if it is still valid."""
        with self._editing() as tokens:
            tokens[:] = [each for each in tokens if each.name != name or not each.parent]

    def stamp(self) -> tuple[int, ...]:
        """Return a value that changes whenever a token does."""
        return tuple(each for file in self._files for each in _stamp(file))

    @contextmanager
    def _editing(self) -> Iterator[list[Token]]:
        """Yield the tokens for changes in place, and store them unless an error occurs."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            tokens = list(self.tokens())
            yield tokens
            text = json.dumps({"tokens": [_dump(each) for each in tokens]}, indent=1)
            write_whole(self._file, f"{text}\n".encode())
        finally:
            os.close(descriptor)


class Keyring:
    """Identifies callers by their tokens."""

    def __init__(
        self, owners: Callable[[], str], file: TokenFile | None, clock: Clock, *, chosen: bool = False
    ) -> None:
        """`owners` returns the owner's current token; `chosen` says that a person made it up."""
        self._chosen = chosen
        self._owners = owners
        self._file = file
        self._clock = clock
        self._stamp: tuple[int, ...] | None = None
        self._known: tuple[tuple[bytes, float | None, ApiCaller], ...] = ()
        self._unread: NotConfigured | None = None

    def find(self, token: str) -> ApiCaller | None:
        """Return the caller with this token. Compares in constant time.

        If the token file cannot be read, only the owner's token is known, and NotConfigured is raised for others.
        """
        stamp = self._file.stamp() if self._file is not None else ()
        if stamp != self._stamp:
            self._known, self._stamp = self._load(), stamp
        given = hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest().encode()
        found: ApiCaller | None = None
        for sha256, expires, caller in self._known:
            same = hmac.compare_digest(sha256, given)
            if same and (expires is None or self._clock.now().timestamp() < expires):
                found = caller
        if found is None and self._unread is not None:
            raise self._unread
        return found

    def owners_hash(self) -> str:
        """Return the hash of the owner's current token."""
        return _stored(self._owners(), None).sha256

    def may_be_guessed(self, caller: ApiCaller) -> bool:
        """Return whether this caller's token was made up by a person; others are 256 random bits."""
        return self._chosen and caller.name == WITH_THE_TOKEN.name

    def others(self) -> tuple[Token, ...]:
        """Return the valid tokens other than the owner's."""
        now = self._clock.now().timestamp()
        given = (each for each in self._issued() if each.cls is not SenderClass.OWNER)
        return tuple(each for each in given if any(kept.holds(now) for kept in each.kept))

    def sign_in(self, caller: ApiCaller, lifetime: float) -> str:
        """Issue a secret for a browser of this caller. Raises NotConfigured if there is no token file."""
        if self._file is None:
            raise NotConfigured("tokens are kept nowhere here")
        return self._file.sign_in(caller, lifetime)

    def sign_out(self, caller: ApiCaller) -> None:
        """Sign out the caller's browser; does nothing for callers with a token of their own."""
        if self._file is not None:
            self._file.sign_out(caller.name)

    def forget(self) -> None:
        """Discard everything read so far, since settings have changed."""
        self._stamp = None

    def _load(self) -> tuple[tuple[bytes, float | None, ApiCaller], ...]:
        known: list[tuple[bytes, float | None, ApiCaller]] = []
        for token in self._issued():
            caller = WITH_THE_TOKEN if token.name == OWNER else ApiCaller(token.name, token.scopes, token.cls)
            known += [(each.sha256.encode(), each.expires, replace(caller, until=each.expires)) for each in token.kept]
        return ((self.owners_hash().encode(), None, WITH_THE_TOKEN), *known)

    def _issued(self) -> tuple[Token, ...]:
        self._unread = None
        try:
            return self._file.tokens() if self._file is not None else ()
        except NotConfigured as error:
            self._unread = error
            log.error("no token but the owner's is known: %s", error)
            return ()


def bearer_of(header: str) -> str | None:
    """Return the token of an Authorization header, or None."""
    scheme, _, given = header.strip().partition(" ")
    return given.strip() or None if scheme.lower() == "bearer" else None


def _new_secret() -> str:
    return _PREFIX + secrets.token_urlsafe(32)


def _stored(secret: str, expires: float | None) -> StoredToken:
    return StoredToken(hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest(), expires)


def _expiry(now: float, lifetime: float | None) -> float | None:
    return None if lifetime is None else now + lifetime


def _limited(kept: tuple[StoredToken, ...], now: float, overlap: float) -> tuple[StoredToken, ...]:
    """Limit valid secrets to at most `overlap` more seconds."""
    ends = now + overlap
    held = [each for each in kept if each.holds(now)] if overlap > 0 else []
    return tuple(replace(each, expires=ends if each.expires is None else min(ends, each.expires)) for each in held)


def _limited_browsers(tokens: list[Token], parent: str, now: float, overlap: float) -> list[Token]:
    """Limit the browsers that this token has signed in to at most `overlap` more seconds."""
    return [replace(each, kept=_limited(each.kept, now, overlap)) if each.parent == parent else each for each in tokens]


def _index_of(tokens: list[Token], name: str) -> int:
    for place, token in enumerate(tokens):
        if token.name == name:
            return place
    raise NotFound(translatable("no token is called {name}; `hob token list` shows them", name=name))


def _stamp(file: str) -> tuple[int, ...]:
    try:
        seen = os.stat(file)  # noqa: PTH116 - on every call: a `Path` costs more than the stat
    except OSError:
        return (0, 0, 0)
    return (seen.st_mtime_ns, seen.st_ino, seen.st_size)


def _dump(token: Token) -> dict[str, Any]:
    return {
        "name": token.name,
        "scopes": sorted(token.scopes),
        "class": token.cls.value,
        "created": token.created,
        "kept": [{"sha256": each.sha256, "expires": each.expires} for each in token.kept],
        **({"parent": token.parent} if token.parent else {}),
    }


def _load(row: dict[str, Any]) -> Token:
    kept = tuple(StoredToken(str(each["sha256"]), each["expires"]) for each in row["kept"])
    scopes = frozenset(TokenScope(each) for each in row["scopes"])
    cls, parent = SenderClass(row["class"]), str(row.get("parent", ""))
    return Token(str(row["name"]), scopes, cls, float(row["created"]), kept, parent)
