"""Declaration of settings: a frozen dataclass whose fields are made by `setting`.

A section class depends on this module only, so it loads without the package's extras. `hob.config` fills it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, TypeVar, cast

from hob.core.values import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SettingRules:
    """Constraints on a setting's value, and its documentation."""

    doc: str
    at_least: float | None = None
    at_most: float | None = None
    one_of: tuple[str, ...] = ()
    problem: Callable[[str], str] | None = None
    """Return what is wrong with a text value; empty if it is valid."""
    stored: bool = False
    """Whether the value may be changed at run time and stored in the database."""
    formerly: str = ""
    """Name in earlier releases, which is still accepted with a warning."""


_SECRET_NAME = re.compile(r"TOKEN|KEY|SECRET|PASS|AUTH|CREDENTIAL", re.IGNORECASE)


def suggests_secret(name: str) -> bool:
    """Return whether an environment variable of this name probably holds a secret."""
    return _SECRET_NAME.search(name) is not None


class Secret:
    """A secret value. Only `reveal` shows it, reading the reference on first use."""

    __slots__ = ("_on_read", "_read", "_value", "reference")

    def __init__(self, read: Callable[[], str], reference: str = "") -> None:
        self._read = read
        self._on_read: Callable[[str], None] | None = None
        self._value: str | None = None
        self.reference = reference

    @classmethod
    def of(cls, value: str) -> "Secret":
        """Return a secret with a known value."""
        return cls(lambda: value)

    def reveal(self) -> str:
        """Return the secret. Raises NotConfigured if the reference cannot be resolved."""
        if self._value is None:
            self._value = self._read()
            if self._on_read is not None:
                self._on_read(self._value)
        return self._value

    def on_read(self, whom: Callable[[str], None]) -> None:
        """Call `whom` with every value read from now on, so that it can be masked."""
        self._on_read = whom

    def forget(self) -> None:
        """Read the reference again next time, in case the secret was rotated."""
        self._value = None

    def replace_with(self, other: "Secret") -> None:
        """Use the other secret's reference, after the settings were reloaded."""
        self._read, self.reference, self._value = other._read, other.reference, None  # noqa: SLF001 - its own kind

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __bool__(self) -> bool:
        return True


def setting(
    default: T,
    doc: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    one_of: Sequence[str] = (),
    problem: Callable[[str], str] | None = None,
    stored: bool = False,
    formerly: str = "",
) -> T:
    """Declare a field of a section class: its default, its one-sentence documentation and its bounds."""
    rules = SettingRules(doc, at_least, at_most, tuple(one_of), problem, stored, formerly)
    metadata = {"rules": rules}
    if isinstance(default, (dict, list)):
        made: Any = field(default_factory=default.copy, metadata=metadata)
    else:
        made = field(default=default, metadata=metadata)
    return cast(T, made)
