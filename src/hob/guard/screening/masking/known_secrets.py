"""Known secrets: grow while Hob runs, since references are read when they are first needed."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from hob.core.errors import NotConfigured
from hob.core.settings import Secret
from hob.guard.screening.masking.mask import Mask, MaskStream

AT_HAND = ("", "env", "file")
"""References that cost nothing to read; keyrings and commands may ask the owner something."""
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "PAT")
_NO_SECRETS = ("KEYRING", "KEYBOARD", "KEYMAP", "PUBLIC", "FILE", "PATH", "DIR", "ID", "NAME", "URL", "SOCK", "TYPE")


class KnownSecrets:
    """The mask of all secrets known so far. Give out the object itself: what it learns counts everywhere at once."""

    __slots__ = ("_mask", "_values")

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})
        self._mask = Mask(self._values)

    def __call__(self, text: str) -> str:
        """The text with each known secret masked."""
        return self._mask(text)

    @property
    def learned(self) -> int:
        """How many values are known: a text that was masked when there were fewer may hold one that is known now."""
        return len(self._values)

    def stream(self) -> MaskStream:
        """For a text that comes in pieces; knows what is known now."""
        return self._mask.stream()

    @property
    def skipped(self) -> tuple[str, ...]:
        """Names of secrets that are too short or too plain to be masked."""
        return self._mask.skipped

    def learn(self, values: Mapping[str, str]) -> None:
        """More secrets, by name. A former value of a name stays masked: it may still be good, or be in old texts."""
        new = {name: value for name, value in values.items() if value and value not in self._values.values()}
        if new:
            for name, value in new.items():
                self._values[self._free(name)] = value
            self._mask = Mask(self._values)

    def watch(self, secrets: Iterable[tuple[str, Secret]]) -> None:
        """Learn each value of these, by name, as soon as it is read."""
        for name, secret in secrets:
            secret.on_read(lambda value, name=name: self.learn({name: value}))  # type: ignore[misc]

    def _free(self, name: str) -> str:
        number, free = 1, name
        while free in self._values:
            number += 1
            free = f"{name} ({number})"
        return free


def readable_values(secrets: Iterable[tuple[str, Secret]], *, ask: bool = False) -> dict[str, str]:
    """What these secrets are; references that lead nowhere are left out, those that may ask only read with `ask`."""
    found: dict[str, str] = {}
    for name, secret in secrets:
        if ask or secret.reference.partition(":")[0] in AT_HAND:
            with suppress(NotConfigured):
                found[name] = secret.reveal()
    return found


def values_in(environ: Mapping[str, str]) -> dict[str, str]:
    """What variables hold whose names say that it is secret: `ANTHROPIC_API_KEY`, `GITHUB_TOKEN`."""
    return {name: value for name, value in environ.items() if value and is_secret_name(name)}


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds a secret, and no place or name of one."""
    words = name.upper().split("_")
    return words[-1] not in _NO_SECRETS and "PUBLIC" not in words and any(word in _SECRET_WORDS for word in words)
