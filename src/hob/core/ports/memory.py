"""Ports of memory: recall, remembering, working notes."""

from typing import Protocol

from hob.core.ids import SessionKey
from hob.core.memory import Memory, WorkingNote
from hob.core.trust.labels import Label


class Recall(Protocol):
    """Recalls memories for a turn."""

    async def recall(self, query: str, session: SessionKey, limit: int) -> tuple[Memory, ...]:
        """Return memories that help with the query, best first; empty if there are none. Never raises."""


class Remember(Protocol):
    """Stores durable facts."""

    async def remember(self, text: str, session: SessionKey, label: Label, source: str) -> object:
        """Store a text; durable on return. Raises StoreErrors."""


class WorkingNotes(Protocol):
    """Working notes, one per session."""

    async def load(self, *sessions: SessionKey) -> WorkingNote | None:
        """Return the note of the first of these sessions that has one, or None. Never raises."""

    async def put(self, session: SessionKey, note: WorkingNote) -> None:
        """Replace the session's note; an empty text deletes it. Durable on return. Raises StoreErrors."""
