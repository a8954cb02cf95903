"""Remembering."""

from dataclasses import dataclass
from typing import Protocol

from hob.core.ids import SessionKey
from hob.core.labels import Label


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered piece, with where it came from."""

    text: str
    source: str
    label: Label
    at: float = 0.0
    relevance: float = 1.0


class Recall(Protocol):
    """The port through which a turn remembers."""

    async def recall(self, query: str, session: SessionKey, limit: int) -> tuple[Memory, ...]:
        """What is known that helps with the query, best first. Never raises; nothing known is empty."""
        ...


class Remember(Protocol):
    """The port through which durable facts are kept."""

    async def remember(self, text: str, session: SessionKey, label: Label, source: str) -> None:
        """Keep it; durable when this returns. Raises StoreErrors."""
        ...
