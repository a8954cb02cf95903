"""Working notes: one short text per session, passed from turn to turn."""

import logging

import apsw

from hob.core.errors import StoreError
from hob.core.ids import SessionKey
from hob.core.memory import WorkingNote, is_private
from hob.core.trust.labels import Label, Origin, Trust
from hob.store.database.part import StorePart, transaction
from hob.store.database.rows import all_rows, find_row
from hob.store.erasure.content import ContentWriter
from hob.store.memory.tombstones import tombstone_of, unused_timestamp

log = logging.getLogger(__name__)

_NOTE = (
    "SELECT c.text, origin, trust, n.at, turn FROM working_notes n JOIN content c ON c.id = n.text"
    " WHERE session = ? AND c.text IS NOT NULL"
)
_ALL = (
    "SELECT session, c.text FROM working_notes n JOIN content c ON c.id = n.text"
    " WHERE c.text IS NOT NULL ORDER BY n.at DESC"
)
_ERASE = "UPDATE content SET text = NULL, salt = NULL, erased = ? WHERE id = ?"
_DROP_NOTE = "DELETE FROM working_notes WHERE session = ? RETURNING text"
_PUT_NOTE = "INSERT INTO working_notes (session, turn, at, stone, origin, trust, text) VALUES (?, ?, ?, ?, ?, ?, ?)"


class StoredWorkingNotes(StorePart):
    """Implements `WorkingNotes`."""

    async def load(self, *sessions: SessionKey) -> WorkingNote | None:
        """Return the note of the first session that has one; None if there is none or it cannot be read."""
        try:
            row = await self._readers.read(
                lambda c: next(filter(None, (find_row(c, _NOTE, (s,)) for s in sessions)), None)
            )
        except StoreError as error:
            log.warning("a working note cannot be read: %s", error)
            return None
        return None if row is None else WorkingNote(row[0], Label(Origin(row[1]), Trust(row[2])), row[3], row[4])

    async def newest(self) -> tuple[int, str]:
        """Return the number of notes, except those of private sessions, and the text of the newest. Raises
        StoreErrors.
        """
        texts = [text for session, text in await self._rows(_ALL) if not is_private(session)]
        return len(texts), texts[0] if texts else ""

    @transaction
    def clear(self, connection: apsw.Connection) -> int:
        """Delete all notes; return how many. Raises StoreErrors."""
        texts = all_rows(connection, "DELETE FROM working_notes RETURNING text")
        connection.executemany(_ERASE, [(self._now(), *text) for text in texts])
        return len(texts)

    async def put(self, session: SessionKey, note: WorkingNote) -> None:
        """Replace the session's note; an empty text deletes it. Raises StoreErrors."""
        at = self._now()
        note = WorkingNote(note.text, note.label, at, note.turn)
        await self._writer.write(lambda c: keep_note(c, session, note))


def keep_note(connection: apsw.Connection, session: SessionKey, note: WorkingNote) -> None:
    """Replace the session's note without leaving a trace of the old one. An empty text deletes it."""
    for old in all_rows(connection, _DROP_NOTE, (session,)):
        connection.execute(_ERASE, (note.at, *old))
    if note.text:
        label = (note.label.origin.value, note.label.trust.value)
        at = unused_timestamp(connection, note.turn, note.at)
        row = (session, note.turn, at, tombstone_of(note.turn, at), *label, ContentWriter(connection)(note.text))
        connection.execute(_PUT_NOTE, row)
