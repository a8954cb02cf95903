"""What Hob was asked to remember, found again by its words."""

import logging
import math
import re
from collections.abc import Sequence

import apsw

from hob.core.clock import Clock
from hob.core.errors import StoreError
from hob.core.ids import SessionKey
from hob.core.labels import Label
from hob.core.memory import Layer, Memory, MemoryItem, Scope
from hob.store.database.readers import Readers
from hob.store.database.rows import find_row
from hob.store.database.writer import Writer
from hob.store.erasure.content import masked
from hob.store.memory.items import ScopedItems, add_items
from hob.store.memory.stones import stone_of, unused_moment

log = logging.getLogger(__name__)

SOURCE = f"{Layer.FACT}:remember"

_WORD = re.compile(r"\w{2,}")
_STEM = 5  # letters by which longer words are taken for the same: plurals and cases end differently
_KNOWN = (
    "SELECT 1 FROM memory_items i JOIN content c ON c.id = i.text"
    " WHERE i.scope = ? AND i.layer = ? AND c.text = ? AND i.origin = ? AND i.trust = ?"
)


class StoredMemories:
    """Implements `Remember` and `Recall`: each session remembers its own, and nothing of another's."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock

    async def remember(self, text: str, session: SessionKey, label: Label, source: str) -> None:
        """Keep it, once. Raises StoreErrors."""
        memory = Memory(text, source, label, self._clock.now().timestamp())
        await self._writer.write(lambda c: keep_memory(c, session, memory))

    async def recall(self, query: str, session: SessionKey, limit: int) -> tuple[Memory, ...]:
        """Those that share words with the query, rare words counting more; of equals the newest first."""
        try:
            items = await ScopedItems(self._readers, Scope(session)).select("i.layer = ?", (Layer.FACT,))
        except StoreError as error:
            log.warning("memories cannot be read: %s", error)
            return ()
        kept = [Memory(each.text, _place(each), each.label, each.at) for each in reversed(items)]
        return _best(kept, _words(query), limit)


def keep_memory(connection: apsw.Connection, session: SessionKey, memory: Memory) -> None:
    """Keep it where the session does not have it yet."""
    label = (memory.label.origin.value, memory.label.trust.value)
    if find_row(connection, _KNOWN, (session, Layer.FACT, masked(connection, memory.text), *label)) is None:
        place, _, turn = memory.source.rpartition(", ")
        at = unused_moment(connection, turn, memory.at)
        item = MemoryItem(
            scope=Scope(session), layer=Layer.FACT, source=SOURCE, text=memory.text, label=memory.label, at=at,
            session=place, turn=turn, role="assistant", kind="note",
        )  # fmt: skip
        add_items(connection, [item], stone_of(turn, at))


def _place(item: MemoryItem) -> str:
    return f"{item.session}, {item.turn}" if item.session else item.turn


def _words(text: str) -> frozenset[str]:
    """The words of a text as they are compared: without case, and without the ends of long ones."""
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()))


def _best(kept: Sequence[Memory], wanted: frozenset[str], limit: int) -> tuple[Memory, ...]:
    words = [_words(memory.text) for memory in kept]
    weights = {word: math.log(1 + len(kept) / (1 + sum(word in each for each in words))) for word in wanted}
    whole = sum(weights.values()) or 1.0
    found = [(sum(weights[word] for word in wanted & each) / whole, kept[n]) for n, each in enumerate(words)]
    ranked = sorted((pair for pair in found if pair[0] > 0), key=lambda pair: (pair[0], pair[1].at), reverse=True)
    return tuple(Memory(each.text, each.source, each.label, each.at, relevance) for relevance, each in ranked[:limit])
