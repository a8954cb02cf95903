"""What is kept to be remembered, found again by its words, and what each session is at."""

import hashlib
import logging
import math
import re
from collections.abc import Sequence

import apsw

from hob.core.clock import Clock
from hob.core.errors import StoreError
from hob.core.ids import SessionKey, TurnId
from hob.core.labels import Label, Origin, Trust
from hob.core.memory import Memory, WorkingNote
from hob.store.database.readers import Readers
from hob.store.database.rows import all_rows, find_row
from hob.store.database.writer import Writer
from hob.store.erasure.content import ContentWriter, masked

log = logging.getLogger(__name__)

_WORD = re.compile(r"\w{2,}")
_STEM = 5  # letters by which longer words are taken for the same: plurals and cases end differently
_MEMORIES = (
    "SELECT place, turn, m.at, origin, trust, c.text FROM memories m JOIN content c ON c.id = m.text"
    " WHERE session = ? AND c.text IS NOT NULL ORDER BY seq"
)
_KNOWN = (
    "SELECT 1 FROM memories m JOIN content c ON c.id = m.text"
    " WHERE session = ? AND c.text = ? AND origin = ? AND trust = ?"
)
_REMEMBER = (
    "INSERT INTO memories (session, place, turn, at, stone, origin, trust, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_NOTE = (
    "SELECT c.text, origin, trust, n.at, turn FROM working_notes n JOIN content c ON c.id = n.text"
    " WHERE session = ? AND c.text IS NOT NULL"
)
_TAKEN = "SELECT 1 FROM memories WHERE stone = ?1 UNION ALL SELECT 1 FROM working_notes WHERE stone = ?1"
_DROP_NOTE = "DELETE FROM working_notes WHERE session = ? RETURNING text"
_PUT_NOTE = "INSERT INTO working_notes (session, turn, at, stone, origin, trust, text) VALUES (?, ?, ?, ?, ?, ?, ?)"


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
            rows = await self._readers.read(lambda c: all_rows(c, _MEMORIES, (session,)))
        except StoreError as error:
            log.warning("memories cannot be read: %s", error)
            return ()
        kept = [
            Memory(text, f"{place}, {turn}" if place else turn, Label(Origin(origin), Trust(trust)), at)
            for place, turn, at, origin, trust, text in rows
        ]
        return _best(kept, _words(query), limit)


class StoredWorkingNotes:
    """Implements `WorkingNotes`."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock

    async def load(self, session: SessionKey) -> WorkingNote | None:
        """The session's note; None where it has none, or none that can be read."""
        try:
            row = await self._readers.read(lambda c: find_row(c, _NOTE, (session,)))
        except StoreError as error:
            log.warning("a working note cannot be read: %s", error)
            return None
        return None if row is None else WorkingNote(row[0], Label(Origin(row[1]), Trust(row[2])), row[3], row[4])

    async def put(self, session: SessionKey, note: WorkingNote) -> None:
        """Keep this one in place of the old; an empty text keeps none. Raises StoreErrors."""
        at = self._clock.now().timestamp()
        note = WorkingNote(note.text, note.label, at, note.turn)
        await self._writer.write(lambda c: keep_note(c, session, note))


def keep_memory(connection: apsw.Connection, session: SessionKey, memory: Memory) -> None:
    """Keep it where the session does not have it yet."""
    label = (memory.label.origin.value, memory.label.trust.value)
    if find_row(connection, _KNOWN, (session, masked(connection, memory.text), *label)) is None:
        place, _, turn = memory.source.rpartition(", ")
        at, stone = _moment(connection, turn, memory.at)
        connection.execute(_REMEMBER, (session, place, turn, at, stone, *label, ContentWriter(connection)(memory.text)))


def keep_note(connection: apsw.Connection, session: SessionKey, note: WorkingNote) -> None:
    """Keep this one in place of the old, of which nothing is left; an empty text keeps none."""
    for old in all_rows(connection, _DROP_NOTE, (session,)):
        connection.execute("UPDATE content SET text = NULL, salt = NULL, erased = ? WHERE id = ?", (note.at, *old))
    if note.text:
        label = (note.label.origin.value, note.label.trust.value)
        moment = _moment(connection, note.turn, note.at)
        connection.execute(_PUT_NOTE, (session, note.turn, *moment, *label, ContentWriter(connection)(note.text)))


def stone_of(turn: TurnId | str, at: float) -> bytes:
    """By which a memory or a note is known again: the turn that wrote it, and when (to the microsecond)."""
    return hashlib.sha256(f"{turn} {float(at)!r}".encode("utf-8", "replace")).digest()


def _moment(connection: apsw.Connection, turn: str, at: float) -> tuple[float, bytes]:
    """The time, or the next at which the turn wrote nothing else, and the stone of it."""
    while find_row(connection, _TAKEN, (stone := stone_of(turn, at),)) is not None:
        at += 1e-6
    return at, stone


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
