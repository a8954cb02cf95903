"""Imported transcripts of other assistants, stored as past messages.

They can be read and exported. They create no inbox, turn, task or outbox row, so nothing is answered, run or sent. The
import of each message is remembered even after its erasure, so that it is not imported again.
"""

import hashlib
import json
from collections.abc import Sequence

import apsw

from hob.core.errors import InvalidRequest
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, TurnId, new_event_id, new_span_id, new_trace_id, new_turn_id
from hob.core.models import TranscriptEntry
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.database.part import StorePart, transaction
from hob.store.database.rows import all_rows, changed, find_row
from hob.store.erasure.content import ContentWriter
from hob.store.messages.transcript import insert_entry
from hob.store.timeline import write_events
from hob.store.titles import title_of

IMPORTED = "imported"
"""The event of an imported conversation; its classification holds the first and last time."""


@dataclass(frozen=True, slots=True)
class PastEntry:
    """One message and its key, the name at its source, unique in the session. `n` and `turn` are assigned later."""

    key: str
    entry: TranscriptEntry


class Imports(StorePart):
    """Imports past messages. Importing a message twice stores it once; later ones are appended."""

    @transaction
    def add(
        self,
        connection: apsw.Connection,
        session: SessionKey,
        title: str,
        past: Sequence[PastEntry],
        *,
        preview: bool = False,
    ) -> int:
        """Append the new messages in this order, with their own times; return their number. Atomic.

        With `preview` nothing is written. Raises InvalidRequest for a session that did not begin with an import.
        """
        now = self._now()
        _refuse_own(connection, session)
        if preview:
            return len(_only_new(connection, session, past))
        new = [each for each in _only_new(connection, session, past) if _remember(connection, session, each)]
        if new:
            _append(connection, session, title, [each.entry for each in new], now)
        return len(new)


def _refuse_own(connection: apsw.Connection, session: SessionKey) -> None:
    own = "SELECT 1 FROM sessions WHERE key = ? AND NOT EXISTS (SELECT 1 FROM imports WHERE session = ?)"
    if find_row(connection, own, (session, session)) is not None:
        raise InvalidRequest(
            translatable("{session} is a conversation of Hob's own; nothing is put into it", session=session)
        )


def _only_new(connection: apsw.Connection, session: SessionKey, past: Sequence[PastEntry]) -> list[PastEntry]:
    hashes: dict[bytes, PastEntry] = {}
    for each in past:
        hashes.setdefault(_hash(each), each)  # the first of repeated keys counts
    sql = "SELECT key FROM imports WHERE session = ? AND key IN (SELECT unhex(value) FROM json_each(?))"
    known = {row[0] for row in all_rows(connection, sql, (session, json.dumps([each.hex() for each in hashes])))}
    return [each for hash_, each in hashes.items() if hash_ not in known]


def _remember(connection: apsw.Connection, session: SessionKey, past: PastEntry) -> bool:
    sql = "INSERT INTO imports (session, key) VALUES (?, ?) ON CONFLICT DO NOTHING"
    return changed(connection, sql, (session, _hash(past))) > 0


def _hash(past: PastEntry) -> bytes:
    return hashlib.sha256(past.key.encode("utf-8", "replace")).digest()[:16]


def _append(
    connection: apsw.Connection, session: SessionKey, title: str, entries: Sequence[TranscriptEntry], now: float
) -> None:
    content_writer = ContentWriter(connection)
    times = [min(entry.at, now) for entry in entries]  # a conversation cannot have been used in the future
    begun, last = min(times), max(times)
    row = find_row(connection, "SELECT entries FROM sessions WHERE key = ?", (session,))
    shown = "" if row is not None else title_of(title)
    event = TimelineEvent(
        new_event_id(), new_trace_id(), new_span_id(), None, now, EventKind.SESSION, IMPORTED,
        session=session, classification=f"{begun!r} {last!r}", text=shown,
    )  # fmt: skip
    if row is None:
        sql = "INSERT INTO sessions (key, chat, title, entries, created, updated) VALUES (?, '', ?, ?, ?, ?)"
        connection.execute(sql, (session, content_writer.maybe(shown), len(entries), begun, last))
    else:
        sql = "UPDATE sessions SET entries = entries + ?, updated = max(updated, ?) WHERE key = ?"
        connection.execute(sql, (len(entries), last, session))
    write_events(connection, content_writer, (event,))
    turn = _last_turn(connection, session)
    for n, entry in enumerate(entries, 1 + (0 if row is None else row[0])):
        if entry.role == "user" or turn is None:
            turn = new_turn_id()
        insert_entry(connection, content_writer, session, n, turn, entry)


def _last_turn(connection: apsw.Connection, session: SessionKey) -> TurnId | None:
    """Return the turn that an answer at the start of a further part belongs to."""
    last = "SELECT turn FROM transcript WHERE session = ? ORDER BY n DESC LIMIT 1"
    row = find_row(connection, f"SELECT turn FROM ({last}) WHERE turn NOT IN (SELECT id FROM turns)", (session,))  # noqa: S608
    return None if row is None else TurnId(row[0])
