"""What a check is and what it finds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from hob.guard.audit.security.facts import PlaceFacts, SecurityFacts


class Severity(StrEnum):
    """How much it matters, from the least to the most."""

    INFO = "info"
    WARN = "warn"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Tightening:
    """Permission bits to take away; nothing is ever given."""

    path: str
    remove: int


Found = str | Tightening
"""What a check has found: a name or value, or a file with the bits that are too many."""


@dataclass(frozen=True, slots=True)
class SecurityCheck:
    """One question. `find` gives what is wrong, `title` says what that means, `advice` what to do."""

    id: str
    severity: Severity
    title: str
    advice: str
    find: Callable[[SecurityFacts], Iterable[Found]]


def when(wrong: bool, what: str = "") -> tuple[str, ...]:
    """A finding if something is wrong."""
    return (what,) if wrong else ()


def open_places(facts: SecurityFacts, name: str, bits: int = 0o077) -> list[Tightening]:
    """The places of this name whose permissions have these bits. A link has none of its own."""
    return [
        Tightening(place.path, place.mode & bits)
        for place in places_of(facts, name)
        if place.mode & bits and not place.link
    ]


def places_of(facts: SecurityFacts, name: str) -> list[PlaceFacts]:
    """The places of this name, one or several."""
    return [place for key, place in facts.files.places.items() if key.partition(".")[0] == name]
