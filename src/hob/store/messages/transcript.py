"""Transcripts: the entries of each session, summaries, and entries hidden by undo."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import apsw

from hob.core.events.timeline import TimelineEvent
from hob.core.ids import SessionKey
from hob.core.models import TranscriptEntry
from hob.core.turns import Summary, TranscriptView
from hob.store.codec import ENTRY_COLUMNS, ENTRY_TABLES, ENTRY_VERSION, dump_extra, load_entry, load_label
from hob.store.database.part import StorePart, snapshot, transaction
from hob.store.database.rows import all_rows, changed, find_row
from hob.store.erasure.content import ContentWriter
from hob.store.sessions import next_entries
from hob.store.timeline import write_events

_INSERT = (
    "INSERT INTO transcript (session, n, version, role, turn, at, origin, trust, text, extra, hidden)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SUMMARY = (
    "SELECT upto, c.text, origin, trust, model FROM summaries m JOIN content c ON c.id = m.text"
    " WHERE session = ? AND undone IS NULL AND upto > ? AND c.text IS NOT NULL ORDER BY m.id DESC LIMIT 1"
)
_ENTRIES = (
    f"SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE t.session = ? AND t.n > ? AND t.hidden = 0"  # noqa: S608
    " ORDER BY t.n DESC LIMIT ?"
)
_ROUND = (
    f"SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE t.session = ? AND t.n >= ? AND t.hidden = 0"  # noqa: S608
    " AND t.n > (SELECT since FROM sessions WHERE key = t.session) AND c.text IS NOT NULL ORDER BY t.n LIMIT ?"
)
_FORKED = (
    f"SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE t.session = ? AND t.n < ? AND t.hidden = 0"  # noqa: S608
    " AND t.n > (SELECT since FROM sessions WHERE key = t.session) AND c.text IS NOT NULL ORDER BY t.n"
)
_MAX_RESULTS = 100
_HIDDEN = "SELECT count(*) FROM transcript WHERE session = ? AND n > ? AND hidden = 1"
# The index is named because SQLite prefers the one over all turns of the session and reads all of them.
_PARKED = (
    "SELECT c.text FROM turns t INDEXED BY turns_open JOIN content c ON c.id = t.line WHERE session = ?"
    " AND state IN ('ready', 'running', 'parked') AND state = 'parked' ORDER BY t.seq"
)
_UNDO_SUMMARY = (
    "UPDATE summaries SET undone = ? WHERE id = (SELECT max(id) FROM summaries WHERE session = ? AND undone IS NULL)"
)


def write_entries(
    connection: apsw.Connection,
    content_writer: ContentWriter,
    session: SessionKey,
    entries: Sequence[TranscriptEntry],
    at: float,
    *,
    hidden: bool = False,
) -> None:
    """Append entries to the session and number them.

    With `hidden`, all but the last are stored without being shown to the model; the last explains their absence.
    """
    if not entries:
        return
    for n, entry in enumerate(entries, next_entries(connection, content_writer, session, len(entries), at)):
        insert_entry(
            connection, content_writer, session, n, entry.turn, entry, hidden=hidden and entry is not entries[-1]
        )


def insert_entry(
    connection: apsw.Connection,
    content_writer: ContentWriter,
    session: SessionKey,
    n: int,
    turn: str,
    entry: TranscriptEntry,
    *,
    hidden: bool = False,
) -> None:
    """Insert the entry with this number, as part of this turn."""
    connection.execute(
        _INSERT,
        (
            session, n, ENTRY_VERSION, entry.role, turn, entry.at, entry.label.origin.value,
            entry.label.trust.value, content_writer(entry.text), content_writer.maybe(dump_extra(entry)), hidden,
        ),
    )  # fmt: skip


def _load_summary(row: Sequence[Any] | None) -> Summary | None:
    if row is None:
        return None
    upto, text, origin, trust, model = row
    return Summary(upto, text, load_label(origin, trust), model)


class StoredTranscript(StorePart):
    """Implements the port `Transcript`. The cost depends on what is shown, not on the length of the history."""

    @snapshot
    def load_view(self, connection: apsw.Connection, session: SessionKey, at_most: int) -> TranscriptView:
        """Return the newest summary and the last entries after it (and after the last reset)."""
        row = find_row(connection, "SELECT entries, since FROM sessions WHERE key = ?", (session,))
        if row is None:
            return TranscriptView()
        last, floor = row
        summary = _load_summary(find_row(connection, _SUMMARY, (session, floor)))
        if summary is not None:
            floor = summary.upto
        rows = all_rows(connection, _ENTRIES, (session, floor, at_most))
        hidden = find_row(connection, _HIDDEN, (session, floor))
        return TranscriptView(
            entries=tuple(load_entry(row) for row in reversed(rows)),
            summary=summary,
            total=max(0, last - floor) - (hidden[0] if hidden else 0),
            parked=tuple(row[0] for row in all_rows(connection, _PARKED, (session,)) if row[0]),
        )

    @transaction
    def summarise(
        self, connection: apsw.Connection, session: SessionKey, summary: Summary, event: TimelineEvent
    ) -> None:
        """Replace the entries up to `summary.upto` by the summary; they stay stored."""
        at = self._now()
        content_writer = ContentWriter(connection)
        label = summary.label
        connection.execute(
            "INSERT INTO summaries (session, upto, origin, trust, model, at, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                session,
                summary.upto,
                label.origin.value,
                label.trust.value,
                summary.model,
                at,
                content_writer(summary.text),
            ),
        )
        write_events(connection, content_writer, (event,), session)

    async def undo_summary(self, session: SessionKey) -> bool:
        """Remove the newest summary, so that its entries are shown again; return False if there is none."""
        at = self._now()
        return bool(await self._writer.write(lambda c: changed(c, _UNDO_SUMMARY, (at, session))))

    @transaction
    def hide_last_turn(self, connection: apsw.Connection, session: SessionKey) -> tuple[TranscriptEntry, ...]:
        """Hide what the last visible turn added (`/undo`); it stays stored. Return what it was."""
        row = find_row(connection, "SELECT since FROM sessions WHERE key = ?", (session,))
        if row is None:
            return ()
        summary = _load_summary(find_row(connection, _SUMMARY, (session, row[0])))
        floor = row[0] if summary is None else summary.upto
        sql = "SELECT turn FROM transcript WHERE session = ? AND n > ? AND hidden = 0 ORDER BY n DESC LIMIT 1"
        last = find_row(connection, sql, (session, floor))
        if last is None:
            return ()
        sql = (
            f"SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE t.turn = ? AND t.session = ? AND t.n > ?"  # noqa: S608
            " AND t.hidden = 0 ORDER BY t.n"
        )
        rows = all_rows(connection, sql, (last[0], session, floor))
        sql = "UPDATE transcript SET hidden = 1 WHERE turn = ? AND session = ? AND n > ?"
        connection.execute(sql, (last[0], session, floor))
        return tuple(load_entry(row) for row in rows)

    @transaction
    def fork(self, connection: apsw.Connection, session: SessionKey, before: int | None, into: SessionKey) -> int:
        """Copy a session's entries since its last reset, up to that number (None: all), into a new session.

        Returns the number of entries. They keep their turns, so that erasure and explanations find both copies. Raises
        StoreErrors.
        """
        at = self._now()
        content_writer = ContentWriter(connection)
        values = (session, 2**62 if before is None else before)
        entries = [load_entry(row) for row in all_rows(connection, _FORKED, values)]
        write_entries(connection, content_writer, into, entries, at)
        return len(entries)

    async def load_round(self, session: SessionKey, n: int) -> tuple[TranscriptEntry, ...]:
        """Return the entry with this number and the results of its calls.

        Nothing is returned if it does not exist, was undone or erased, or precedes the last reset.
        """
        values = (session, n, 1 + _MAX_RESULTS)
        entries = [load_entry(row) for row in await self._rows(_ROUND, values)]
        if not entries or entries[0].n != n:
            return ()
        rest = takewhile(lambda entry: entry.role != "assistant", entries[1:] if entries[0].calls else ())
        return (entries[0], *(entry for entry in rest if entry.role == "tool"))

    async def before(self, session: SessionKey, place: int | None, limit: int) -> tuple[TranscriptEntry, ...]:
        """Return the last entries before a number (None: the end), oldest first, without erased and undone ones."""
        sql = (
            f"SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE t.session = ? AND t.n < ? AND t.hidden = 0"  # noqa: S608
            " AND c.text IS NOT NULL ORDER BY t.n DESC LIMIT ?"
        )
        values = (session, 2**62 if place is None else place, limit)
        rows = await self._rows(sql, values)
        return tuple(load_entry(row) for row in reversed(rows))

    async def after(self, session: SessionKey, place: int, limit: int) -> tuple[TranscriptEntry, ...]:
        """Return the first entries after a number, oldest first, without erased and undone ones."""
        sql = (
            f"SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE t.session = ? AND t.n > ? AND t.hidden = 0"  # noqa: S608
            " AND c.text IS NOT NULL ORDER BY t.n LIMIT ?"
        )
        return tuple(load_entry(row) for row in await self._rows(sql, (session, place, limit)))

    async def history(self, session: SessionKey, after: int = 0, limit: int = 200) -> tuple[TranscriptEntry, ...]:
        """Return all entries after a number that were not erased."""
        sql = (
            f"SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE t.session = ? AND t.n > ? AND c.text IS NOT NULL"  # noqa: S608
            " ORDER BY t.n LIMIT ?"
        )
        rows = await self._rows(sql, (session, after, limit))
        return tuple(load_entry(row) for row in rows)
