"""How a package declares its settings: a frozen dataclass whose fields are made by `setting`.

A section class needs nothing but this module, so that it loads without the package's extras. `hob.config` fills it.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, TypeVar, cast

from hob.core.values import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SettingRules:
    """What a setting's value must satisfy, and what people are told about it."""

    doc: str
    at_least: float | None = None
    at_most: float | None = None
    one_of: tuple[str, ...] = ()
    problem: Callable[[str], str] | None = None
    """What is wrong with a text of it; empty where nothing is."""
    stored: bool = False
    """Whether the value may also be changed at run time and kept in the database."""
    formerly: str = ""
    """Its name in earlier releases, which is still read, with a warning."""


class Secret:
    """A secret value. It is shown by nothing but `reveal`, which reads the reference when first asked."""

    __slots__ = ("_read", "_tell", "_value", "reference")

    def __init__(self, read: Callable[[], str], reference: str = "") -> None:
        self._read = read
        self._tell: Callable[[str], None] | None = None
        self._value: str | None = None
        self.reference = reference

    @classmethod
    def of(cls, value: str) -> "Secret":
        """A secret that is already at hand."""
        return cls(lambda: value)

    def reveal(self) -> str:
        """The secret. Raises NotConfigured when the reference leads nowhere."""
        if self._value is None:
            self._value = self._read()
            if self._tell is not None:
                self._tell(self._value)
        return self._value

    def on_read(self, whom: Callable[[str], None]) -> None:
        """Tell it each value that is read from now on: what is a secret has to be known to be masked."""
        self._tell = whom

    def forget(self) -> None:
        """Read the reference again next time (it may have been rotated)."""
        self._value = None

    def replace_with(self, other: "Secret") -> None:
        """Anyone who holds this one reads what the other refers to from now on: the settings were read again."""
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
    """A field of a section class: its default, its one-sentence manual and its bounds."""
    rules = SettingRules(doc, at_least, at_most, tuple(one_of), problem, stored, formerly)
    metadata = {"rules": rules}
    if isinstance(default, (dict, list)):
        made: Any = field(default_factory=default.copy, metadata=metadata)
    else:
        made = field(default=default, metadata=metadata)
    return cast(T, made)
