"""Secrets that commands use without holding them: who may use them, and how they are inserted into requests.

A command sees a placeholder, random for each run and as long as the secret. Only the proxy knows its meaning, and
inserts the secret into one header of requests to one host. Echoes of the secret are turned back into the placeholder.
"""

import base64
import binascii
import re
import secrets
from collections.abc import Callable, Mapping, Sequence

from hob.core.clock import Clock
from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.guard.admission.actions import SlidingWindows
from hob.tools.sandbox.network.hosts import HostRules, host_name
from hob.tools.sandbox.settings import CredentialSettings

SHORTEST = 12
"""Minimum characters of a secret. A shorter one could occur by chance in a host's answer."""
_VALUE = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class JobCredential:
    """A secret as available to one command. `may` counts a use and returns whether it is within the limit."""

    name: str
    host: str
    header: str
    variable: str
    placeholder: str
    value: str
    may: Callable[[], bool]

    def __repr__(self) -> str:
        return f"JobCredential({self.name!r})"


def check_credential(name: str, settings: CredentialSettings) -> str:
    """Return the secret. Raises NotConfigured if it cannot be read or used."""
    value = settings.value.reveal() if settings.value is not None else ""
    if len(value) < SHORTEST or not _VALUE.fullmatch(value):
        raise NotConfigured(
            translatable(
                "sandbox.credentials.{name}.value needs {minimum} printable ASCII characters at least, no spaces",
                name=name,
                minimum=SHORTEST,
            )
        )
    return value


class CredentialStore:
    """The secrets from the settings, given to those who may use them."""

    def __init__(self, settings: Mapping[str, CredentialSettings], clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._uses = SlidingWindows()

    def of(self, agent: str, hosts: Sequence[str]) -> tuple[JobCredential, ...]:
        """Return the secrets that this agent may use at hosts it may reach. May take a moment. Raises NotConfigured."""
        rules = HostRules(hosts)
        return tuple(
            self._given(name, each)
            for name, each in self._settings.items()
            if agent in each.agents and rules.allow(host_name(each.host))
        )

    def _given(self, name: str, settings: CredentialSettings) -> JobCredential:
        value = check_credential(name, settings)
        variable = settings.variable or f"{re.sub(r'[^A-Z0-9]', '_', name.upper())}_TOKEN"
        placeholder = f"hob-{secrets.token_hex(len(value))}"[: len(value)]
        return JobCredential(
            name, host_name(settings.host), settings.header.lower(), variable, placeholder, value,
            lambda: not self._uses.take(name, settings.per_minute, self._clock.monotonic()),
        )  # fmt: skip


def written(credential: JobCredential, value: str) -> tuple[str, tuple[bytes, bytes]] | None:
    """Return the header value with the secret inserted, and the pair of secret and placeholder text.

    None if it does not contain the placeholder. `Basic` (RFC 7617) credentials are decoded first.
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
    """Replaces secrets in a response by their placeholders, which have the same length. Holds back some bytes."""

    def __init__(self, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        self._pairs = pairs
        self._maximum = max((len(real) for real, _ in pairs), default=1) - 1
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """Add a piece, or b"" at the end; return the bytes that can be released."""
        held = self._held + piece
        for real, shown in self._pairs:
            held = held.replace(real, shown)
        cut = len(held) - self._maximum if piece else len(held)
        cut = max(cut, 0)
        self._held = held[cut:]
        return held[:cut]
