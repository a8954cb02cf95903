"""Memories that Hob was asked to keep (`remember`)."""

import logging

import apsw

from hob.core.ids import SessionKey
from hob.core.memory import Layer, Memory, MemoryItem, Scope
from hob.core.trust.labels import Label
from hob.store.database.part import StorePart
from hob.store.database.rows import find_row
from hob.store.erasure.content import masked
from hob.store.memory.items import add_items
from hob.store.memory.tombstones import tombstone_of, unused_timestamp

log = logging.getLogger(__name__)

SOURCE = f"{Layer.FACT}:remember"

_KNOWN = (
    "SELECT i.id FROM memory_items i JOIN content c ON c.id = i.text"
    " WHERE i.scope = ? AND i.layer = ? AND c.text = ? AND i.origin = ? AND i.trust = ?"
)


class StoredMemories(StorePart):
    """Implements `Remember`, per session."""

    async def remember(self, text: str, session: SessionKey, label: Label, source: str) -> str:
        """Store the text once and return its id. `source` is `SESSION, TURN`. Raises StoreErrors."""
        memory = Memory(text, source, label, self._now())
        return await self._writer.write(lambda c: keep_memory(c, session, memory))


def keep_memory(connection: apsw.Connection, session: SessionKey, memory: Memory) -> str:
    """Store the memory unless the session already has it; return its id."""
    label = (memory.label.origin.value, memory.label.trust.value)
    known = find_row(connection, _KNOWN, (session, Layer.FACT, masked(connection, memory.text), *label))
    if known is not None:
        return str(known[0])
    place, _, turn = memory.source.rpartition(", ")
    at = unused_timestamp(connection, turn, memory.at)
    item = MemoryItem(
        scope=Scope(session), layer=Layer.FACT, source=SOURCE, text=masked(connection, memory.text), label=memory.label,
        at=at, session=place, turn=turn, role="assistant", kind="note",
    )  # fmt: skip
    add_items(connection, [item], tombstone_of(turn, at))
    return item.id
