"""Sessions: title, model, permission mode, autonomy, paused, archived."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import apsw

from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import ONE_TURN_PREFIX, SessionKey, TraceId, new_event_id, new_span_id, new_trace_id
from hob.core.memory import is_private
from hob.core.messages import Inbound
from hob.core.models import Thinking
from hob.core.turns import QueueMode, Session, SessionChange
from hob.store.audit.audit import AuditedPart, AuditEntry, AuditLog
from hob.store.database.part import DatabaseAccess, transaction
from hob.store.database.rows import all_rows, find_row
from hob.store.erasure.content import ContentWriter
from hob.store.timeline import write_events
from hob.store.titles import title_of
from hob.store.tools.open_groups import CLOSE_GROUPS, StoredOpenGroups

_COMMAND = re.compile(r"/[A-Za-z]+(?:\s|$)")
_INSERT = "INSERT INTO sessions (key, chat, title, created, updated) VALUES (?, ?, ?, ?, ?)"
_SELECT = (
    "SELECT key, c.text, model, mode, thinking, permission, autonomy, paused, archived, entries, since, updated"
    " FROM sessions s LEFT JOIN content c ON c.id = s.title"
)
_CHANGE = (
    "UPDATE sessions SET title = ?, model = ?, mode = ?, thinking = ?, permission = ?, autonomy = ?, paused = ?,"
    " archived = ? WHERE key = ?"
)


def chosen_session(connection: apsw.Connection, inbound: Inbound, otherwise: SessionKey) -> SessionKey:
    """Return the session the message names, otherwise the one its chat was switched to, otherwise the default."""
    if inbound.session is not None:
        return inbound.session
    row = find_row(connection, "SELECT session FROM chats WHERE chat = ?", (inbound.origin.key(),))
    return otherwise if row is None else SessionKey(row[0])


def touch_session(
    connection: apsw.Connection,
    content_writer: ContentWriter,
    key: SessionKey,
    chat: str,
    text: str,
    at: float,
    trace: TraceId,
) -> None:
    """Mark the session as used; an untitled one gets its title from the text, which arrived with this trace.

    A message restores an archived session. A slash command neither restores nor titles it; no message titles a private
    session.
    """
    command = _COMMAND.match(text) is not None
    title = "" if command or is_private(key) else title_of(text)
    sql = "UPDATE sessions SET updated = ? WHERE key = ? RETURNING title IS NULL, archived"
    found = all_rows(connection, sql, (at, key))
    if not found:
        _create(connection, content_writer, key, chat, at, title, trace)
        return
    untitled, archived = found[0]
    if untitled and title:
        _set_title(connection, content_writer, key, title, at, trace)
    if archived and not command:
        connection.execute("UPDATE sessions SET archived = 0 WHERE key = ?", (key,))
        write_events(connection, content_writer, (_event(key, "archived", at, _yes_no(False), trace=trace),))


def name_by_speech(
    connection: apsw.Connection, content_writer: ContentWriter, key: SessionKey, text: str, at: float, trace: TraceId
) -> None:
    """Give an untitled session a title from its first voice message."""
    untitled = find_row(connection, "SELECT key FROM sessions WHERE key = ? AND title IS NULL", (key,))
    title = "" if is_private(key) else title_of(text)
    if untitled and title:
        _set_title(connection, content_writer, key, title, at, trace)


def next_entries(
    connection: apsw.Connection, content_writer: ContentWriter, key: SessionKey, count: int, at: float
) -> int:
    """Reserve this many entry numbers in the session's transcript; return the first."""
    sql = "UPDATE sessions SET entries = entries + ?, updated = ? WHERE key = ? RETURNING entries"
    rows = all_rows(connection, sql, (count, at, key))
    if not rows:
        _create(connection, content_writer, key, "", at)
        rows = all_rows(connection, sql, (count, at, key))
    last: int = rows[0][0]
    return last - count + 1


def _set_title(
    connection: apsw.Connection,
    content_writer: ContentWriter,
    key: SessionKey,
    title: str,
    at: float,
    trace: TraceId,
) -> None:
    connection.execute("UPDATE sessions SET title = ? WHERE key = ?", (content_writer(title), key))
    write_events(connection, content_writer, (_event(key, "title", at, text=title, trace=trace),))


def _create(
    connection: apsw.Connection,
    content_writer: ContentWriter,
    key: SessionKey,
    chat: str,
    at: float,
    title: str = "",
    trace: TraceId | None = None,
) -> None:
    connection.execute(_INSERT, (key, chat, content_writer.maybe(title), at, at))
    write_events(connection, content_writer, (_event(key, "created", at, chat, text=title, trace=trace),))


def load_session(connection: apsw.Connection, key: SessionKey) -> Session:
    """Return the session; a new one has defaults."""
    row = find_row(connection, f"{_SELECT} WHERE s.key = ?", (key,))
    return Session(key) if row is None else _load(row)


def change_session(
    connection: apsw.Connection, key: SessionKey, at: float, chosen: SessionChange
) -> tuple[Session, Session]:
    """Store these choices, creating the session if necessary; return the old and the new session."""
    content_writer = ContentWriter(connection)
    row = find_row(connection, f"{_SELECT} WHERE s.key = ?", (key,))
    old = Session(key) if row is None else _load(row)
    new = replace(old, **chosen)
    if new == old:
        return old, new
    if row is None:
        _create(connection, content_writer, key, "", at, new.title)
        old = replace(old, title=new.title)
    # an unchanged title is not stored again, where erasure would not find it
    sql = "SELECT title FROM sessions WHERE key = ?"
    title = all_rows(connection, sql, (key,))[0][0] if old.title == new.title else content_writer.maybe(new.title)
    mode = None if new.mode is None else new.mode.value
    thinking = None if new.thinking is None else new.thinking.value
    words = (new.model or None, mode, thinking, new.permission or None, new.autonomy or None)
    connection.execute(_CHANGE, (title, *words, new.paused, new.archived, key))
    write_events(connection, content_writer, _changes(old, new, at))
    return old, new


def _event(
    key: SessionKey,
    name: str,
    at: float,
    value: str = "",
    *,
    status: str = "ok",
    text: str = "",
    trace: TraceId | None = None,
) -> TimelineEvent:
    """Return the event of a change, with the new value, from which a rebuild restores it. A title can be erased."""
    return TimelineEvent(
        new_event_id(), trace or new_trace_id(), new_span_id(), None, at, EventKind.SESSION, name, status,
        session=key, classification=value, text=text,
    )  # fmt: skip


def _changes(old: Session, new: Session, at: float) -> tuple[TimelineEvent, ...]:
    values = {
        "model": (old.model or "", new.model or ""),
        "mode": (old.mode or "", new.mode or ""),
        "thinking": (old.thinking or "", new.thinking or ""),
        "permission": (old.permission or "", new.permission or ""),
        "autonomy": (old.autonomy or "", new.autonomy or ""),
        "paused": (_yes_no(old.paused), _yes_no(new.paused)),
        "archived": (_yes_no(old.archived), _yes_no(new.archived)),
    }
    events = [_event(new.key, name, at, after) for name, (before, after) in values.items() if before != after]
    if old.title != new.title:
        events.append(_event(new.key, "title", at, text=new.title))
    return tuple(events)


def _permission_entries(old: Session, new: Session) -> Iterable[AuditEntry]:
    """Return the audit entries; only the owner changes what a session permits."""
    detail = json.dumps({"target": new.key})
    if new.permission != old.permission:
        yield AuditEntry("action", "permission", new.permission or "default", sender="owner", detail=detail)
    if new.autonomy != old.autonomy:
        yield AuditEntry("action", "autonomy", new.autonomy or "default", sender="owner", detail=detail)


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"


def _load(row: Sequence[Any]) -> Session:
    key, title, model, mode, thinking, permission, autonomy, paused, archived, entries, since, updated = row
    return Session(
        SessionKey(key),
        title or "",
        model,
        None if mode is None else QueueMode(mode),
        None if thinking is None else Thinking(thinking),
        permission,
        autonomy,
        paused=bool(paused),
        archived=bool(archived),
        entries=entries,
        since=since,
        updated=updated,
    )


class StoredSessions(AuditedPart):
    """Implements the port `Sessions`."""

    def __init__(self, access: DatabaseAccess, audit: AuditLog, open_groups: StoredOpenGroups) -> None:
        super().__init__(access, audit)
        self._open_groups = open_groups

    async def get(self, key: SessionKey) -> Session:
        """Return the session; a new one has defaults."""
        return await self._readers.read(lambda connection: load_session(connection, key))

    async def change(self, key: SessionKey, **chosen: Unpack[SessionChange]) -> None:
        """Store these choices; all others stay, even if they are changed concurrently."""
        at = self._now()

        def job(connection: apsw.Connection) -> None:
            told.extend(_permission_entries(*change_session(connection, key, at, chosen)))

        told: list[AuditEntry] = []
        await self._audit.write(job, lambda _: told)

    async def reset(self, key: SessionKey, reason: str) -> None:
        """Start over: earlier messages are kept but no longer shown to the model; opened tool groups are closed."""
        await self._reset(key, reason)
        self._open_groups.close(key)

    @transaction
    def _reset(self, connection: apsw.Connection, key: SessionKey, reason: str) -> None:
        at = self._now()
        connection.execute(CLOSE_GROUPS, (key,))
        content_writer = ContentWriter(connection)
        sql = "UPDATE sessions SET since = entries, updated = ? WHERE key = ? RETURNING since"
        rows = all_rows(connection, sql, (at, key))
        if not rows:
            _create(connection, content_writer, key, "", at)
        since = rows[0][0] if rows else 0
        write_events(connection, content_writer, (_event(key, "reset", at, str(since), status=reason),))

    @transaction
    def switch(self, connection: apsw.Connection, chat: str, key: SessionKey) -> None:
        """Direct messages of this chat (an address key) to that session from now on."""
        at = self._now()
        connection.execute(
            "INSERT INTO chats (chat, session) VALUES (?, ?) ON CONFLICT DO UPDATE SET session = excluded.session",
            (chat, key),
        )
        content_writer = ContentWriter(connection)
        connection.execute("UPDATE sessions SET chat = ? WHERE key = ? AND chat = ''", (chat, key))
        if find_row(connection, "SELECT 1 FROM sessions WHERE key = ?", (key,)) is None:
            _create(connection, content_writer, key, chat, at)
        write_events(connection, content_writer, (_event(key, "switched", at, chat),))

    async def switched(self, chat: str) -> SessionKey | None:
        """Return the session this chat was switched to, or None."""
        sql = "SELECT session FROM chats WHERE chat = ?"
        return await self._find(lambda row: SessionKey(row[0]), sql, (chat,))

    async def find(self, chat: str | None = None, archived: bool = False) -> tuple[Session, ...]:
        """Return the sessions, of one chat if given, newest first, without one-turn sessions; `archived` selects
        archived ones.
        """
        where, values = ("", (archived,)) if chat is None else ("AND s.chat = ?", (archived, chat))
        sql = f"{_SELECT} WHERE s.archived = ? {where} AND s.key NOT GLOB '{ONE_TURN_PREFIX}*' ORDER BY s.updated DESC"
        return tuple(_load(row) for row in await self._rows(sql, values))
