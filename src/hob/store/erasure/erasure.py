"""Forgetting: the content goes, the facts and a tombstone stay, and no copy is left in this file or its log.

A tombstone also goes into a text file beside the database, so that a restore honours it even if the database that held
it is lost. Backups made earlier still hold the content until they are deleted; restoring one erases it again.
"""

import asyncio
import json
import os
import re
import shutil
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType

import apsw

from hob.core.clock import Clock
from hob.core.errors import InvalidRequest, StoreError
from hob.core.ids import SessionKey, TraceId, TurnId
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.blobs import blob_path
from hob.store.codec import load_inbound
from hob.store.database.disk import sync
from hob.store.database.faults import translate
from hob.store.database.rows import Row, all_rows, find_row
from hob.store.database.writer import Writer
from hob.store.erasure.copies import Copies, erase_in
from hob.store.memory.items import drop_items
from hob.store.memory.stones import stone_of, stone_of_item
from hob.store.requests import drop_requests
from hob.store.titles import title_of

TOMBSTONES = "tombstones.jsonl"
FORGOTTEN = "tools/forgotten.jsonl"
"""What earlier releases erased of memories and notes: read for ever, written no more."""
OLD_FILES = "tools/imported"
"""The files of earlier releases whose lines are rows now: unneeded, and still readable."""
_DOOMED = "IN doomed"
_NOTHING: Mapping[str, object] = MappingProxyType({})

_SCOPE = """
    CREATE TEMP TABLE IF NOT EXISTS doomed_turns (id TEXT PRIMARY KEY) STRICT;
    CREATE TEMP TABLE IF NOT EXISTS doomed_traces (id TEXT PRIMARY KEY) STRICT;
    CREATE TEMP TABLE IF NOT EXISTS doomed (id INTEGER PRIMARY KEY) STRICT;
    DELETE FROM doomed_turns; DELETE FROM doomed_traces; DELETE FROM doomed;
"""
# A message that was merged into a turn cannot be told apart from it any more: the whole turn goes.
_TURNS_OF_TRACE = """
    INSERT OR IGNORE INTO doomed_turns SELECT id FROM turns WHERE trace_id = :key
        UNION SELECT turn FROM inbox WHERE trace_id = :key AND turn IS NOT NULL
"""
# The messages of a retried turn belong to its successor; it said things of its own.
_RETRIED = """
    INSERT OR IGNORE INTO doomed_turns WITH RECURSIVE found(id) AS (SELECT id FROM doomed_turns UNION
        SELECT old.id FROM found JOIN turns new USING (id)
        JOIN turns old ON old.session = new.session AND old.retried_by = new.id) SELECT id FROM found
"""
_TURNS_OF_SESSION = "INSERT OR IGNORE INTO doomed_turns SELECT id FROM turns WHERE session = :key"
# An undoing is noted as the change of a turn of its own, and can itself be undone.
_UNDOING = "INSERT OR IGNORE INTO doomed_turns SELECT 'undo:' || id FROM doomed_turns"
_TRACES = """
    INSERT OR IGNORE INTO doomed_traces SELECT trace_id FROM turns WHERE id IN doomed_turns
        UNION SELECT trace_id FROM inbox WHERE turn IN doomed_turns
"""
_TRACES_OF_SESSION = "INSERT OR IGNORE INTO doomed_traces SELECT trace_id FROM inbox WHERE session = :key"
_SCOPE_OF_SESSION = (_TURNS_OF_SESSION, _TRACES, _TRACES_OF_SESSION)
_CONTENT = (
    "SELECT text FROM inbox WHERE trace_id IN doomed_traces",
    "SELECT body FROM inbox WHERE trace_id IN doomed_traces",
    "SELECT content FROM timeline WHERE trace_id IN doomed_traces",
    "SELECT body FROM steps WHERE turn IN doomed_turns",
    "SELECT reply FROM turns WHERE id IN doomed_turns",
    "SELECT line FROM turns WHERE id IN doomed_turns",
    "SELECT question FROM turns WHERE id IN doomed_turns",
    "SELECT text FROM outbox WHERE turn IN doomed_turns OR trace_id IN doomed_traces",
    "SELECT extra FROM outbox WHERE turn IN doomed_turns OR trace_id IN doomed_traces",
    "SELECT text FROM transcript WHERE turn IN doomed_turns",
    "SELECT extra FROM transcript WHERE turn IN doomed_turns",
    "SELECT shown FROM approvals WHERE turn IN doomed_turns",
    "SELECT question FROM approvals WHERE turn IN doomed_turns",
    "SELECT bound FROM approvals WHERE turn IN doomed_turns",
    "SELECT g.bound FROM grants g JOIN approvals a USING (id) WHERE a.turn IN doomed_turns",
    "SELECT detail FROM audit WHERE turn IN doomed_turns OR trace_id IN doomed_traces",
    "SELECT planned FROM undo_log WHERE turn IN doomed_turns",
    "SELECT outcome FROM undo_log WHERE turn IN doomed_turns",
    "SELECT body FROM self_messages WHERE turn IN doomed_turns",
    "SELECT body FROM late_results WHERE turn IN doomed_turns",
    "SELECT label FROM subagents WHERE turn IN doomed_turns",
    "SELECT body FROM file_changes WHERE turn IN doomed_turns",
    "SELECT body FROM command_changes WHERE turn IN doomed_turns",
    "SELECT text FROM commands WHERE turn IN doomed_turns",
    "SELECT text FROM memory_items WHERE turn IN doomed_turns",
    "SELECT text FROM working_notes WHERE turn IN doomed_turns",
    "SELECT value FROM plugin_records WHERE turn IN doomed_turns",
)
_CONTENT_OF_SESSION = (
    "SELECT content FROM timeline WHERE session = :key",
    "SELECT text FROM transcript WHERE session = :key",
    "SELECT extra FROM transcript WHERE session = :key",
    "SELECT text FROM summaries WHERE session = :key",
    "SELECT title FROM sessions WHERE key = :key",
    "SELECT text FROM memory_items WHERE scope = :key",
    "SELECT text FROM memory_items WHERE session = :key",
    "SELECT text FROM working_notes WHERE session = :key",
    "SELECT value FROM plugin_records WHERE session = :key",
)
_CONTENT_OF_ITEMS = ("SELECT text FROM memory_items WHERE id IN (SELECT value FROM json_each(:key))",)
# What was made of doomed memories, and of that again.
_DERIVED = (
    "INSERT OR IGNORE INTO doomed WITH RECURSIVE gone(id) AS (SELECT id FROM memory_items WHERE text IN doomed"
    " UNION SELECT m.id FROM gone JOIN memory_evidence e ON e.source = gone.id JOIN memory_items m ON m.seq = e.seq)"
    " SELECT text FROM memory_items WHERE id IN (SELECT id FROM gone)"
)
# A summary that stands for an erased entry may repeat it.
_SUMMARIES_OF_TURNS = (
    "SELECT m.text FROM summaries m WHERE EXISTS (SELECT 1 FROM transcript t WHERE t.session = m.session"
    " AND t.n <= m.upto AND t.turn IN doomed_turns)"
)
# Where it was told what was remembered, with the command that takes it back; a turn that is at work keeps its steps.
_FACTS = "SELECT id FROM memory_items WHERE text IN doomed AND layer = 'fact'"
_TOLD = (
    "SELECT c.id, c.text FROM content c WHERE instr(c.text, '/memory undo ') AND c.id NOT IN (SELECT s.body"
    " FROM steps s JOIN turns t ON t.id = s.turn"
    " WHERE t.state IN ('ready', 'running', 'parked') AND s.body IS NOT NULL)"
)
_OPEN = (
    "SELECT 1 FROM inbox WHERE trace_id IN doomed_traces AND state = 'waiting' UNION ALL SELECT 1 FROM turns"
    " WHERE id IN doomed_turns AND state IN ('ready', 'running', 'parked') UNION ALL SELECT 1 FROM outbox"
    " WHERE (turn IN doomed_turns OR trace_id IN doomed_traces) AND state IN ('ready', 'sending')"
)
_INBOUNDS = (
    "SELECT i.version, c.text, b.text FROM inbox i JOIN content c ON c.id = i.text JOIN content b ON b.id = i.body"
    " WHERE i.trace_id IN doomed_traces AND b.text IS NOT NULL"
)
# The blobs that content names, `among` all or the doomed content.
_ATTACHED = (
    "SELECT i.version, c.text FROM inbox i JOIN content c ON c.id = i.body"
    " WHERE instr(c.text, '\"attachments\"') AND c.id {among}"
)
_RESTS = (
    "SELECT c.text ->> '$.result.rest' FROM steps s JOIN content c ON c.id = s.body"
    " WHERE s.kind = 'tool_received' AND c.text IS NOT NULL AND c.id {among}"
)
_IMAGES = (
    "SELECT image.value ->> 0 FROM transcript t JOIN content c ON c.id = t.extra, json_each(c.text, '$.images') image"
    " WHERE c.text IS NOT NULL AND c.id {among}"
)
_SHOWN = (
    "SELECT image.value ->> '$.blob' FROM steps s JOIN content c ON c.id = s.body,"
    " json_each(c.text, '$.result.images') image"
    " WHERE s.kind = 'tool_received' AND c.text IS NOT NULL AND c.id {among}"
)
_SENT = (
    "SELECT file.value ->> 2 FROM outbox o JOIN content c ON c.id = o.extra, json_each(c.text, '$.attachments') file"
    " WHERE c.text IS NOT NULL AND c.id {among}"
)
_REPLACED = "SELECT blob FROM file_changes WHERE blob IS NOT NULL AND body {among}"
_MEDIA = "SELECT media FROM timeline WHERE trace_id IN doomed_traces AND media IS NOT NULL"
# Of a person: `:key` is JSON of `senders` (as the inbox spells them) and of `addresses`, `target` their id.
_SENDERS = "(SELECT value FROM json_each(:key, '$.senders'))"
_ADDRESSES = "(SELECT value FROM json_each(:key, '$.addresses'))"
_TRACES_OF_PERSON = f"INSERT OR IGNORE INTO doomed_traces SELECT trace_id FROM inbox WHERE sender IN {_SENDERS}"  # noqa: S608
_TURNS_OF_PERSON = (
    f"INSERT OR IGNORE INTO doomed_turns SELECT turn FROM inbox WHERE sender IN {_SENDERS} AND turn IS NOT NULL"  # noqa: S608
    " UNION SELECT id FROM turns WHERE trace_id IN doomed_traces"
)
_CONTENT_OF_PERSON = (
    f"SELECT content FROM timeline WHERE kind = 'system' AND sender_id IN {_ADDRESSES}",  # noqa: S608
    f"SELECT text FROM outbox WHERE channel || ':' || account || ':' || chat IN {_SENDERS}"  # noqa: S608
    " AND state NOT IN ('ready', 'sending')",
    f"SELECT extra FROM outbox WHERE channel || ':' || account || ':' || chat IN {_SENDERS}"  # noqa: S608
    " AND state NOT IN ('ready', 'sending')",
    f"SELECT value FROM plugin_records WHERE person IN {_SENDERS} OR person IN {_ADDRESSES}"  # noqa: S608
    " OR person = :key ->> '$.target'",
    "SELECT a.detail FROM audit a JOIN content c ON c.id = a.detail WHERE c.text IS NOT NULL AND ("  # noqa: S608
    "CASE WHEN json_valid(c.text) THEN c.text ->> '$.target' = :key ->> '$.target' ELSE 0 END"
    f" OR EXISTS (SELECT 1 FROM {_ADDRESSES} w WHERE instr(c.text, w.value)))",
)
_STONED = (
    "SELECT b.id, t.at FROM tombstones t JOIN blobs b ON b.id = lower(hex(t.hash))"
    " WHERE t.content = 0 AND b.erased IS NULL AND b.at <= t.at"
)
_TITLES = (
    "SELECT DISTINCT s.title, c.text FROM inbox i JOIN sessions s ON s.key = i.session JOIN content c ON c.id = s.title"
    " WHERE i.trace_id IN doomed_traces"
)


_BEGIN_ELSEWHERE = "INSERT OR IGNORE INTO unfinished_erasures (turn) VALUES (?)"
_END_ELSEWHERE = "DELETE FROM unfinished_erasures WHERE turn = ?"

_SHOWN_ID = 12
"""Characters of an item's id that people are shown."""
DERIVED = "layer IN ('fact', 'observation')"
"""Items that were made of what was said; the others repeat what stands in a conversation or in a file."""
_REMEMBERED = (
    "SELECT c.id, c.text FROM content c WHERE c.text IS NOT NULL"  # noqa: S608
    f" AND c.id IN (SELECT text FROM memory_items m WHERE m.{DERIVED} UNION SELECT text FROM working_notes)"
)
_STONES = (
    "SELECT -1, stone FROM memory_items WHERE text IN doomed"
    " UNION SELECT -1, stone FROM working_notes WHERE text IN doomed"
)
_COPIES = (
    "UPDATE content SET text = NULL, salt = NULL, erased = t.at FROM tombstones t JOIN {table} m ON m.stone = t.hash"
    " WHERE t.content = -1 AND content.id = m.text AND content.text IS NOT NULL AND (t.at = 0 OR m.at <= t.at)"
)
_GONE = "DELETE FROM {table} WHERE (SELECT c.text FROM content c WHERE c.id = {table}.{column}) IS NULL"
_GONE_ITEMS = "SELECT m.seq FROM memory_items m JOIN content c ON c.id = m.text WHERE c.text IS NULL"
_ROWS_OF_CONTENT = (
    ("working_notes", "text"),
    ("undo_log", "planned"),
    ("commands", "text"),
    ("self_messages", "body"),
    ("late_results", "body"),
    ("file_changes", "body"),
    ("command_changes", "body"),
    ("plugin_records", "value"),
)


@dataclass(frozen=True, slots=True)
class Whose:
    """A person to the store: `senders` as the inbox spells them, `addresses` as people write them, `id` or nothing."""

    senders: tuple[str, ...]
    addresses: tuple[str, ...]
    id: str = ""

    def key(self) -> str:
        """The same for a statement."""
        return json.dumps({"senders": self.senders, "addresses": self.addresses, "target": self.id or None})


ErasureParticipant = Callable[[Collection[TurnId]], Awaitable[object]]
"""Forgets what it keeps of these turns outside of the database; again does no harm."""


class Erasure:
    """Erases what was said. What is still being worked on or sent cannot be erased yet."""

    def __init__(
        self,
        writer: Writer,
        clock: Clock,
        home: Path,
        connect_writing: Callable[[], apsw.Connection],
        keepers: Sequence[ErasureParticipant] = (),
    ) -> None:
        """`keepers` forget too what is erased here."""
        self._writer = writer
        self._clock = clock
        self._home = home
        self._connect = connect_writing
        self._keepers = keepers

    def with_keepers(self, keepers: Sequence[ErasureParticipant]) -> "Erasure":
        """The same that calls these after each erasure: they forget what is kept elsewhere and has no row any more."""
        return Erasure(self._writer, self._clock, self._home, self._connect, keepers)

    async def erase_trace(self, trace: TraceId, reason: str) -> int:
        """Forget one message with all that came of it; how many pieces those were.

        A turn that also worked on other messages goes with them, and so does every summary of it. Raises
        InvalidRequest while any of it is in progress, StoreError when a copy may be left in the log (do it again).
        """
        scope = (_TURNS_OF_TRACE, _RETRIED, _TRACES, "INSERT OR IGNORE INTO doomed_traces VALUES (:key)")
        return await self._erase(_Asked(trace, scope, _CONTENT), reason)

    async def erase_session(self, session: SessionKey, reason: str) -> int:
        """Forget all that was said in a session, its title too; how many pieces those were. Raises as above."""
        return await self._erase(_Asked(session, _SCOPE_OF_SESSION, (*_CONTENT, *_CONTENT_OF_SESSION)), reason)

    async def erase_person(
        self,
        whose: Whose,
        reason: str,
        session: SessionKey | None,
        copies: Copies,
        names: re.Pattern[str] | None = None,
    ) -> int:
        """Forget all that these senders said and that came of it, and what names them; how many pieces those were.

        A turn that also worked on messages of others goes with theirs. With their `session`, if they have one, with
        memories and notes in which `names` are found, and in the `copies` too. Raises as above.
        """
        scope = (_TRACES_OF_PERSON, _TURNS_OF_PERSON, _RETRIED, _TRACES)
        asked = [_Asked(whose.key(), scope, (*_CONTENT, *_CONTENT_OF_PERSON), names)]
        if session is not None:
            asked.append(_Asked(session, _SCOPE_OF_SESSION, (*_CONTENT, *_CONTENT_OF_SESSION)))
        at = self._clock.now().timestamp()
        elsewhere = partial(erase_in, copies, partial(_erase_in_copy, asked, at, reason))
        pieces = await self._erase(asked[0], reason, elsewhere)
        return pieces + (await self.erase_session(session, reason) if session is not None else 0)

    async def erase_items(self, ids: Sequence[str], reason: str) -> int:
        """Forget these items of memory and what was made of them; how many pieces those were. Raises as above."""
        return await self._erase(_Asked(json.dumps(list(ids)), (), _CONTENT_OF_ITEMS), reason)

    async def _erase(self, asked: "_Asked", reason: str, elsewhere: Callable[[], Sequence[Row]] = tuple) -> int:
        at = self._clock.now().timestamp()

        def look(connection: apsw.Connection) -> frozenset[TurnId]:
            _doom_turns(connection, asked)
            if find_row(connection, _OPEN) is not None:
                raise InvalidRequest(translatable("Some of this is still being worked on or sent; stop it first."))
            return frozenset(TurnId(row[0]) for row in all_rows(connection, "SELECT id FROM doomed_turns"))

        turns = await self._writer.write(look)
        stones_elsewhere = await asyncio.to_thread(elsewhere)

        def job(connection: apsw.Connection) -> int:
            look(connection)
            texts, blobs = _doom_content(connection, asked)
            stones = _stones(connection, texts, blobs)
            stones += [stone for stone in stones_elsewhere if stone not in stones]
            when = max(at, _newest(connection, blobs))
            write_tombstones(self._home, stones, when, reason)
            add_tombstones(connection, ((*stone, when, reason) for stone in stones))
            erased = apply_tombstones(connection, when)
            connection.executemany(_BEGIN_ELSEWHERE, [(turn,) for turn in turns])
            for blob in erased:
                blob_path(self._home / "blobs", blob).unlink(missing_ok=True)
            return len(texts) + len(erased)

        pieces = await self._writer.write(job)
        await self._forget_elsewhere(turns)
        await asyncio.to_thread(shutil.rmtree, self._home / OLD_FILES, ignore_errors=True)
        await asyncio.to_thread(self._fold_log)
        return pieces

    async def finish(self) -> None:
        """Forget elsewhere what an earlier process erased here and had no time for. Raises what the keepers raise."""
        sql = "SELECT turn FROM unfinished_erasures"
        turns = await self._writer.write(lambda c: frozenset(TurnId(row[0]) for row in all_rows(c, sql)))
        if turns:
            await self._forget_elsewhere(turns)

    async def _forget_elsewhere(self, turns: Collection[TurnId]) -> None:
        for forget in self._keepers:
            await forget(turns)
        await self._writer.write(lambda c: c.executemany(_END_ELSEWHERE, [(turn,) for turn in turns]).fetchall())

    def _fold_log(self) -> None:
        try:
            connection = self._connect()
            try:
                row = find_row(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()
        except apsw.Error as error:
            raise translate(error) from error
        if row is None or row[0]:
            raise StoreError(
                translatable("The content is erased, but the log is in use and may still hold a copy; do it again.")
            )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be erased: the statements that find its turns and its content, and by which words of memories."""

    key: str
    scope: Sequence[str]
    content: Sequence[str]
    names: re.Pattern[str] | None = None


def _doom_turns(connection: apsw.Connection, asked: _Asked) -> None:
    connection.execute(_SCOPE)
    for statement in (*asked.scope, _UNDOING, _UNDOING):
        connection.execute(statement, {"key": asked.key})


def _doom_content(connection: apsw.Connection, asked: _Asked) -> tuple[list[Row], set[str]]:
    """What is to be erased, of the turns that are doomed: texts as (id, hash), and blobs."""
    for select in (*asked.content, _SUMMARIES_OF_TURNS):
        connection.execute(f"INSERT OR IGNORE INTO doomed {_present(select)}", {"key": asked.key})
    if asked.names is not None:
        found = [(id,) for id, text in all_rows(connection, _REMEMBERED) if asked.names.search(text)]
        connection.executemany("INSERT OR IGNORE INTO doomed VALUES (?)", found)
    connection.execute(_DERIVED)
    if facts := [row[0][:_SHOWN_ID] for row in all_rows(connection, _FACTS)]:
        told = re.compile("|".join(facts))
        texts = [(id,) for id, text in all_rows(connection, _TOLD) if told.search(text)]
        connection.executemany("INSERT OR IGNORE INTO doomed VALUES (?)", texts)
    said = {title_of(text) for _, text, _ in all_rows(connection, _INBOUNDS)}
    for title, text in all_rows(connection, _TITLES):
        if text in said:
            connection.execute("INSERT OR IGNORE INTO doomed VALUES (?)", (title,))
    named = named_blobs(connection, _DOOMED, _DOOMED, _DOOMED, _DOOMED, _DOOMED)
    blobs = named | {row[0] for row in all_rows(connection, _MEDIA)}
    sql = "SELECT id, hash FROM content WHERE id IN doomed AND text IS NOT NULL ORDER BY id"
    return all_rows(connection, sql), blobs


def _stones(connection: apsw.Connection, texts: Sequence[Row], blobs: set[str]) -> list[Row]:
    """The tombstones (content, hash) of what is doomed."""
    ids = all_rows(connection, "SELECT id FROM memory_items WHERE text IN doomed")
    items = ((-1, stone_of_item(id)) for (id,) in ids)  # as it is known where it was carried out and comes in again
    return [*texts, *all_rows(connection, _STONES), *items, *((0, bytes.fromhex(blob)) for blob in sorted(blobs))]


def _erase_in_copy(asked: Sequence[_Asked], at: float, reason: str, connection: apsw.Connection) -> list[Row]:
    stones: list[Row] = []
    for each in asked:
        _doom_turns(connection, each)
        stones += _stones(connection, *_doom_content(connection, each))
        add_tombstones(connection, ((*stone, at, reason) for stone in stones))
        apply_tombstones(connection, at)
    return stones


def _present(select: str) -> str:
    return f"WITH found(id) AS ({select}) SELECT id FROM found WHERE id IS NOT NULL"  # noqa: S608


def named_blobs(
    connection: apsw.Connection,
    inbounds: str = "NOT NULL",
    steps: str = "NOT NULL",
    entries: str = "NOT NULL",
    changes: str = "NOT NULL",
    sent: str = "NOT NULL",
    values: Mapping[str, object] = _NOTHING,
) -> set[str]:
    """The blobs that content names which is not erased; of each kind only that whose id is so (SQL after `id`)."""
    of_steps = all_rows(connection, _RESTS.format(among=steps), dict(values))
    of_entries = all_rows(connection, _IMAGES.format(among=entries), dict(values))
    shown = all_rows(connection, _SHOWN.format(among=steps), dict(values))
    replaced = all_rows(connection, _REPLACED.format(among=changes))
    of_sent = all_rows(connection, _SENT.format(among=sent), dict(values))
    found = {row[0] for row in (*of_steps, *of_entries, *shown, *replaced, *of_sent)}
    for version, body in all_rows(connection, _ATTACHED.format(among=inbounds), dict(values)):
        found.update(file.blob for file in load_inbound(version, "", body).attachments)
    return found - {None, ""}


def _newest(connection: apsw.Connection, blobs: set[str]) -> float:
    """When the last of them was put. The wall clock may have been set back, and a stone erases nothing newer."""
    sql = "SELECT at FROM blobs WHERE id = ?"
    item: float = all_rows(connection, "SELECT coalesce(max(at), 0.0) FROM memory_items WHERE text IN doomed")[0][0]
    times: list[float] = [item, *(row[0] for blob in blobs for row in all_rows(connection, sql, (blob,)))]
    return max(times)


def add_tombstones(connection: apsw.Connection, stones: Iterable[Row]) -> None:
    """Record what is erased: (content id or 0, hash, time, reason). Of two stones for the same the newer counts."""
    sql = (
        "INSERT INTO tombstones (content, hash, at, reason) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET at = excluded.at, reason = excluded.reason WHERE excluded.at > at"
    )
    connection.executemany(sql, list(stones))


def apply_tombstones(connection: apsw.Connection, at: float) -> list[str]:
    """Erase everything that a tombstone stands for, wherever it came back from; the blobs of it.

    A blob stays if it was put again after its tombstone, or as long as something that is not erased names it. What
    models were given may repeat any of it, and goes as a whole.
    """
    before = connection.total_changes()
    connection.execute(
        "UPDATE content SET text = NULL, salt = NULL, erased = t.at FROM tombstones t"
        " WHERE t.content = content.id AND t.hash = content.hash AND content.text IS NOT NULL"
    )
    erased = "IN (SELECT c.id FROM tombstones t JOIN content c ON c.id = t.content WHERE c.text IS NULL)"
    connection.execute(f"UPDATE transcript SET hidden = 1 WHERE hidden = 0 AND text {erased}")  # noqa: S608
    connection.execute(f"UPDATE summaries SET undone = ? WHERE undone IS NULL AND text {erased}", (at,))  # noqa: S608
    connection.execute(f"UPDATE sessions SET title = NULL WHERE title {erased}")  # noqa: S608
    erase_copies(connection)
    if connection.total_changes() != before:
        drop_requests(connection)
    doomed = {row[0]: row[1] for row in all_rows(connection, _STONED)}
    blobs = sorted(doomed.keys() - named_blobs(connection)) if doomed else []
    for blob in blobs:
        connection.execute("UPDATE blobs SET erased = ? WHERE id = ?", (doomed[blob], blob))
    return blobs


def erase_copies(connection: apsw.Connection) -> None:
    """Erase memories and notes that a tombstone stands for, and the rows of all that has no content any more."""
    for table in ("memory_items", "working_notes"):
        connection.execute(_COPIES.format(table=table))
    drop_items(connection, [row[0] for row in all_rows(connection, _GONE_ITEMS)])
    for table, column in _ROWS_OF_CONTENT:
        connection.execute(_GONE.format(table=table, column=column))


def write_tombstones(home: Path, stones: Iterable[Row], at: float, reason: str) -> None:
    """Append to the text file; durable when it returns. A stone without its erasure does no harm: it was wanted."""
    handle = os.open(home / TOMBSTONES, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(handle, "ab+") as file:
        size = file.tell()
        if size and os.pread(handle, 1, size - 1) != b"\n":  # a crash cut the last line
            file.write(b"\n")
        for content, sealed in stones:
            file.write(json.dumps([content, sealed.hex(), at, reason]).encode() + b"\n")
        file.flush()
        os.fsync(handle)
    if not size:
        sync(home)


def read_tombstones(home: Path) -> list[Row]:
    """The rows of the text files; a line cut short by a crash is left out."""
    rows: list[Row] = []
    for line in _lines(home / TOMBSTONES):
        with suppress(ValueError):
            content, sealed, at, reason = json.loads(line)
            rows.append((content, bytes.fromhex(sealed), at, reason))
    for line in _lines(home / FORGOTTEN):
        with suppress(ValueError, KeyError, TypeError):
            value = json.loads(line)
            rows.append((-1, stone_of(str(value["turn"]), float(value["at"])), 0.0, "erased"))
    return rows


def _lines(path: Path) -> Sequence[bytes]:
    return path.read_bytes().splitlines() if path.exists() else ()
