"""Conversations and their rules."""

from collections.abc import Sequence
from typing import Any

import apsw

from hob.core.clock import Clock
from hob.core.ids import SessionKey, new_event_id, new_span_id, new_trace_id
from hob.core.messages import Inbound
from hob.core.timeline import EventKind, TimelineEvent
from hob.core.turns import QueueMode, Session
from hob.store.codec import title_of
from hob.store.content import Keep
from hob.store.readers import Readers
from hob.store.rows import all_rows, find_row
from hob.store.timeline import write_events
from hob.store.writer import Writer

_INSERT = "INSERT INTO sessions (key, chat, title, created, updated) VALUES (?, ?, ?, ?, ?)"
_SELECT = (
    "SELECT key, c.text, model, mode, paused, archived, entries, since, updated"
    " FROM sessions s LEFT JOIN content c ON c.id = s.title"
)
_PUT = (
    "INSERT INTO sessions (key, chat, title, model, mode, paused, archived, created, updated)"
    " VALUES (?, '', ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET title = excluded.title, model = excluded.model,"
    " mode = excluded.mode, paused = excluded.paused, archived = excluded.archived"
)


def chosen_session(connection: apsw.Connection, inbound: Inbound, otherwise: SessionKey) -> SessionKey:
    """The session the message names, else the one its chat was switched to, else this one."""
    if inbound.session is not None:
        return inbound.session
    row = find_row(connection, "SELECT session FROM chats WHERE chat = ?", (inbound.origin.key(),))
    return otherwise if row is None else SessionKey(row[0])


def touch_session(connection: apsw.Connection, keep: Keep, key: SessionKey, chat: str, text: str, at: float) -> None:
    """The session is in use; one without a title gets it from the text."""
    found = all_rows(connection, "UPDATE sessions SET updated = ? WHERE key = ? RETURNING title IS NULL", (at, key))
    if not found:
        connection.execute(_INSERT, (key, chat, keep.maybe(title_of(text)), at, at))
    elif found[0][0] and text:
        connection.execute("UPDATE sessions SET title = ? WHERE key = ?", (keep.maybe(title_of(text)), key))


def next_entries(connection: apsw.Connection, key: SessionKey, count: int, at: float) -> int:
    """Reserve this many places in the session's transcript; the first of them."""
    sql = "UPDATE sessions SET entries = entries + ?, updated = ? WHERE key = ? RETURNING entries"
    rows = all_rows(connection, sql, (count, at, key))
    if not rows:
        connection.execute(_INSERT, (key, "", None, at, at))
        rows = all_rows(connection, sql, (count, at, key))
    last: int = rows[0][0]
    return last - count + 1


def _load(row: Sequence[Any]) -> Session:
    key, title, model, mode, paused, archived, entries, since, updated = row
    return Session(
        SessionKey(key),
        title or "",
        model,
        None if mode is None else QueueMode(mode),
        bool(paused),
        bool(archived),
        entries,
        since,
        updated,
    )


class StoredSessions:
    """Implements the port `Sessions`."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock

    def _now(self) -> float:
        return self._clock.now().timestamp()

    async def get(self, key: SessionKey) -> Session:
        """The session; a new one has defaults."""
        row = await self._readers.read(lambda c: find_row(c, f"{_SELECT} WHERE s.key = ?", (key,)))
        return Session(key) if row is None else _load(row)

    async def put(self, session: Session) -> None:
        """Store title, model, mode, paused and archived."""
        at = self._now()

        def job(connection: apsw.Connection) -> None:
            title = Keep(connection).maybe(session.title)
            connection.execute(
                _PUT,
                (session.key, title, session.model, None if session.mode is None else session.mode.value,
                 session.paused, session.archived, at, at),
            )  # fmt: skip

        await self._writer.write(job)

    async def reset(self, key: SessionKey, reason: str) -> None:
        """Begin afresh: what was said so far is kept and no longer shown to the model."""
        at = self._now()
        event = TimelineEvent(
            new_event_id(), new_trace_id(), new_span_id(), None, at, EventKind.SESSION, "reset", reason, session=key
        )

        def job(connection: apsw.Connection) -> None:
            connection.execute("UPDATE sessions SET since = entries, updated = ? WHERE key = ?", (at, key))
            if not connection.changes():
                connection.execute(_INSERT, (key, "", None, at, at))
            write_events(connection, Keep(connection), (event,))

        await self._writer.write(job)

    async def switch(self, chat: str, key: SessionKey) -> None:
        """From now on messages of this chat (an address key) go to that session."""
        at = self._now()

        def job(connection: apsw.Connection) -> None:
            connection.execute(
                "INSERT INTO chats (chat, session) VALUES (?, ?) ON CONFLICT DO UPDATE SET session = excluded.session",
                (chat, key),
            )
            connection.execute("UPDATE sessions SET chat = ? WHERE key = ? AND chat = ''", (chat, key))
            if find_row(connection, "SELECT 1 FROM sessions WHERE key = ?", (key,)) is None:
                connection.execute(_INSERT, (key, chat, None, at, at))

        await self._writer.write(job)

    async def switched(self, chat: str) -> SessionKey | None:
        """The session this chat was switched to, if it ever was."""
        sql = "SELECT session FROM chats WHERE chat = ?"
        row = await self._readers.read(lambda c: find_row(c, sql, (chat,)))
        return None if row is None else SessionKey(row[0])

    async def find(self, chat: str | None = None, archived: bool = False) -> tuple[Session, ...]:
        """The sessions, of one chat if given, newest first. `archived` shows the archived ones instead."""
        where, values = ("", (archived,)) if chat is None else ("AND s.chat = ?", (archived, chat))
        sql = f"{_SELECT} WHERE s.archived = ? {where} ORDER BY s.updated DESC"
        return tuple(_load(row) for row in await self._readers.read(lambda c: all_rows(c, sql, values)))
