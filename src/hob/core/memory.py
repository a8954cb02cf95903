"""What is remembered, as values."""

from dataclasses import dataclass

from hob.core.labels import Label


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered piece, with where it came from."""

    text: str
    source: str
    label: Label
    at: float = 0.0
    relevance: float = 1.0


@dataclass(frozen=True, slots=True)
class WorkingNote:
    """What a session is at, in its own words, and whether it was written in a context that may be trusted."""

    text: str
    label: Label
    at: float = 0.0
    """When it was put, in Unix seconds."""
    turn: str = ""
    """Which turn wrote it."""
