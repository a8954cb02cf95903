"""Secrets that commands use and never hold: whose they are, and how they are written into a request in flight.

A command sees a placeholder, made anew for each run and as long as the secret. Only the proxy knows what it stands for,
and writes that into one header of requests to one host. What the host repeats of it is turned back.
"""

import base64
import binascii
import re
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from hob.core.clock import Clock
from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.tools.sandbox.network.hosts import HostRules, host_name
from hob.tools.sandbox.settings import CredentialSettings

SHORTEST = 12
"""Characters of a secret: a shorter one would be found by chance in what a host says."""
_VALUE = re.compile(r"[!-~]+")
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class JobCredential:
    """One secret as one command has it. `may` counts a use and tells whether there may be one more now."""

    name: str
    host: str
    header: str
    variable: str
    placeholder: str
    value: str
    may: Callable[[], bool]

    def __repr__(self) -> str:
        return f"JobCredential({self.name!r})"


class CredentialStore:
    """The secrets of the settings, given out to those who may use them."""

    def __init__(self, settings: Mapping[str, CredentialSettings], clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._uses: dict[str, deque[float]] = {name: deque() for name in settings}

    def of(self, agent: str, hosts: Sequence[str]) -> tuple[JobCredential, ...]:
        """Those that this agent may use at hosts it may reach. It may take a moment. Raises NotConfigured."""
        rules = HostRules(hosts)
        return tuple(
            self._given(name, each)
            for name, each in self._settings.items()
            if agent in each.agents and rules.allow(host_name(each.host))
        )

    def _given(self, name: str, settings: CredentialSettings) -> JobCredential:
        value = settings.value.reveal() if settings.value is not None else ""
        if len(value) < SHORTEST or not _VALUE.fullmatch(value):
            raise NotConfigured(
                translatable(
                    "sandbox.credentials.{name}.value needs {minimum} printable ASCII characters at least, no spaces",
                    name=name,
                    minimum=SHORTEST,
                )
            )
        variable = settings.variable or f"{re.sub(r'[^A-Z0-9]', '_', name.upper())}_TOKEN"
        placeholder = f"hob-{secrets.token_hex(len(value))}"[: len(value)]
        return JobCredential(
            name, host_name(settings.host), settings.header.lower(), variable, placeholder, value,
            lambda: self._may(name, settings.per_minute),
        )  # fmt: skip

    def _may(self, name: str, maximum: int) -> bool:
        now, uses = self._clock.monotonic(), self._uses[name]
        while uses and now - uses[0] >= _MINUTE:
            uses.popleft()
        if len(uses) >= maximum:
            return False
        uses.append(now)
        return True


def written(credential: JobCredential, value: str) -> tuple[str, tuple[bytes, bytes]] | None:
    """The value of a header with the secret in it, and what of it is secret beside what stands for that.

    None where the placeholder is not in it. Of `Basic` (RFC 7617) what is encoded is looked at.
    """
    if credential.placeholder in value:
        return value.replace(credential.placeholder, credential.value), _pair(credential)
    scheme, _, coded = value.strip().partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        plain = base64.b64decode(coded.strip(), validate=True).decode("latin-1")
    except binascii.Error:
        return None
    if credential.placeholder not in plain:
        return None
    real = base64.b64encode(plain.replace(credential.placeholder, credential.value).encode("latin-1"))
    return f"{scheme} {real.decode()}", (real, base64.b64encode(plain.encode("latin-1")))


def _pair(credential: JobCredential) -> tuple[bytes, bytes]:
    return credential.value.encode(), credential.placeholder.encode()


class ResponseMask:
    """Turns secrets in what comes back into what stands for them, which is as long; some bytes are held back."""

    def __init__(self, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        self._pairs = pairs
        self._maximum = max((len(real) for real, _ in pairs), default=1) - 1
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """The next piece; empty: the end."""
        held = self._held + piece
        for real, shown in self._pairs:
            held = held.replace(real, shown)
        cut = len(held) - self._maximum if piece else len(held)
        cut = max(cut, 0)
        self._held = held[cut:]
        return held[:cut]
