"""The secrets known so far. The set grows while Hob runs, because references are resolved on first use."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from hob.core.errors import NotConfigured
from hob.core.settings import Secret
from hob.guard.screening.masking.mask import Mask, MaskStream

AT_HAND = ("", "env", "file")
"""References that are cheap to resolve. Keyrings and commands may prompt the owner."""
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "PAT")
_NO_SECRETS = ("KEYRING", "KEYBOARD", "KEYMAP", "PUBLIC", "FILE", "PATH", "DIR", "ID", "NAME", "URL", "SOCK", "TYPE")


class KnownSecrets:
    """The mask of all secrets known so far. Share one object, so that new secrets apply everywhere."""

    __slots__ = ("_mask", "_values")

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})
        self._mask = Mask(self._values)

    def __call__(self, text: str) -> str:
        """Mask each known secret in the text."""
        return self._mask(text)

    @property
    def learned(self) -> int:
        """Number of known values. A text masked when this was lower may contain a secret that is known now."""
        return len(self._values)

    def stream(self) -> MaskStream:
        """Return a masker for text that arrives in pieces, with the secrets known now."""
        return self._mask.stream()

    def learn(self, values: Mapping[str, str]) -> None:
        """Add secrets by name. A name's previous values stay masked: they may still be valid or occur in old texts."""
        new = {name: value for name, value in values.items() if value and value not in self._values.values()}
        if new:
            for name, value in new.items():
                self._values[self._free(name)] = value
            self._mask = Mask(self._values)

    def watch(self, secrets: Iterable[tuple[str, Secret]]) -> None:
        """Learn each secret's value as soon as it is read."""
        for name, secret in secrets:
            secret.on_read(lambda value, name=name: self.learn({name: value}))  # type: ignore[misc]

    def _free(self, name: str) -> str:
        number, free = 1, name
        while free in self._values:
            number += 1
            free = f"{name} ({number})"
        return free


def readable_values(secrets: Iterable[tuple[str, Secret]], *, ask: bool = False) -> dict[str, str]:
    """Return the values of these secrets, without unresolvable references.

    References that may prompt the owner are resolved only with `ask`.
    """
    found: dict[str, str] = {}
    for name, secret in secrets:
        if ask or secret.reference.partition(":")[0] in AT_HAND:
            with suppress(NotConfigured):
                found[name] = secret.reveal()
    return found


def values_in(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables with names that suggest a secret: `ANTHROPIC_API_KEY`, `GITHUB_TOKEN`."""
    return {name: value for name, value in environ.items() if value and is_secret_name(name)}


def is_secret_name(name: str) -> bool:
    """Return whether a variable of this name holds a secret, rather than a secret's location or name."""
    words = name.upper().split("_")
    return words[-1] not in _NO_SECRETS and "PUBLIC" not in words and any(word in _SECRET_WORDS for word in words)
