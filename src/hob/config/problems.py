"""Reported problems with settings, with file, line and nearest known key; and the origin of a value."""

from collections.abc import Iterable
from enum import StrEnum

from hob.core.errors import NotConfigured
from hob.core.translation.language import join_texts, translatable
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Position of a value: a file, perhaps with line and column (both from 1), or the name of a variable."""

    name: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.name}:{self.line}:{self.column}" if self.line else self.name


class ConfigLayer(StrEnum):
    """The layers of settings, lowest first; a higher one wins."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    STORED = "stored"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of an effective value."""

    layer: ConfigLayer
    place: FilePlace | None = None

    def __str__(self) -> str:
        return f"{self.layer} {self.place}" if self.place else str(self.layer)


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One problem: where, at which key, why, and the nearest known key or word."""

    reason: str
    key: str = ""
    place: FilePlace | None = None
    hint: str = ""

    def __str__(self) -> str:
        told = join_texts(": ", (str(part) for part in (self.place, self.key, self.reason) if part))
        return translatable("{problem}; did you mean {hint}?", problem=told, hint=self.hint) if self.hint else told


class ConfigInvalid(NotConfigured):
    """The settings are wrong; nothing was started. `problems` holds all that was found, one per line of the text."""

    def __init__(self, problems: Iterable[ConfigProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__(join_texts("\n", map(str, self.problems)))


class UnknownKey(ConfigInvalid):
    """There is no such key."""


def find_nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that was probably meant, or an empty string."""
    from difflib import get_close_matches  # costs milliseconds and is needed only for errors

    folded = {each.casefold(): each for each in known}
    return next((folded[match] for match in get_close_matches(word.casefold(), list(folded), n=1, cutoff=0.6)), "")
