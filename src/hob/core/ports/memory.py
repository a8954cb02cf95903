"""The ports of memory: recall, search, remembering, working notes."""

from collections.abc import Collection, Sequence
from typing import Protocol

from hob.core.ids import SessionKey
from hob.core.memory import Memory, MemoryItem, Recalled, Scope, WorkingNote
from hob.core.trust.labels import Label


class Recall(Protocol):
    """The port through which a turn remembers."""

    async def recall(self, query: str, session: SessionKey, limit: int) -> tuple[Memory, ...]:
        """What is known that helps with the query, best first. Never raises; nothing known is empty."""


class MemorySearch(Recall, Protocol):
    """The port through which tools look into all of a person's memory."""

    async def search(self, query: str, scope: Scope, limit: int, layers: Collection[str] = ()) -> Sequence[Recalled]:
        """What of this scope, and of these layers or of all, helps with the query, best first. Raises StoreErrors."""

    async def around(self, id: str, scope: Scope) -> Sequence[MemoryItem]:
        """The one item whose id begins so, with what was said beside it, in order. Raises StoreErrors."""

    async def sections(self, name: str, scope: Scope) -> Sequence[MemoryItem]:
        """The sections of a document, in order. Raises StoreErrors."""


class Remember(Protocol):
    """The port through which durable facts are kept."""

    async def remember(self, text: str, session: SessionKey, label: Label, source: str) -> object:
        """Keep it; durable when this returns. Raises StoreErrors."""


class WorkingNotes(Protocol):
    """Keeps one note for each session."""

    async def load(self, *sessions: SessionKey) -> WorkingNote | None:
        """The note of the first of these sessions that has one; None where none has. Never raises."""

    async def put(self, session: SessionKey, note: WorkingNote) -> None:
        """Keep this one in place of the old; an empty text keeps none. Durable when it returns. Raises StoreErrors."""
