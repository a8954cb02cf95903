"""Tombstones: records of what was erased, in the database and in a text file, and their repeated application."""

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import apsw

from hob.store.database.disk import sync
from hob.store.database.rows import Row, all_rows
from hob.store.erasure.selection import named_blobs
from hob.store.memory.items import drop_items
from hob.store.memory.tombstones import tombstone_of
from hob.store.turns.requests import drop_requests

TOMBSTONES = "tombstones.jsonl"
FORGOTTEN = "tools/forgotten.jsonl"
"""File of memories and notes erased by earlier releases; still read, no longer written."""
OLD_FILES = "tools/imported"
"""Files of earlier releases whose lines are rows now; still readable."""
_STONED = (
    "SELECT b.id, t.at FROM tombstones t JOIN blobs b ON b.id = lower(hex(t.hash))"
    " WHERE t.content = 0 AND b.erased IS NULL AND b.at <= t.at"
)
_COPIES = (
    "UPDATE content SET text = NULL, salt = NULL, erased = t.at FROM tombstones t JOIN {table} m ON m.stone = t.hash"
    " WHERE t.content = -1 AND content.id = m.text AND content.text IS NOT NULL AND (t.at = 0 OR m.at <= t.at)"
)
_UNSENT = (
    "UPDATE outbox SET state = 'skipped', reason = 'erased', ended = ? WHERE state IN {states}"
    " AND text IN (SELECT id FROM content WHERE text IS NULL)"
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


def add_tombstones(connection: apsw.Connection, tombstones: Iterable[Row]) -> None:
    """Record erasures: (content id or 0, hash, time, reason). Of two tombstones of one text the newer counts."""
    sql = (
        "INSERT INTO tombstones (content, hash, at, reason) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET at = excluded.at, reason = excluded.reason WHERE excluded.at > at"
    )
    connection.executemany(sql, list(tombstones))


def apply_tombstones(connection: apsw.Connection, at: float) -> list[str]:
    """Erase everything with a tombstone, however it came back; return its blobs.

    A blob stays if it was stored again after its tombstone, or as long as unerased content refers to it. Model requests
    may repeat any of it, and are deleted entirely.
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
    for states in ("('ready', 'sending')", "('dead', 'parked')"):  # each has an index
        connection.execute(_UNSENT.format(states=states), (at,))
    erase_copies(connection)
    if connection.total_changes() != before:
        drop_requests(connection)
    doomed = {row[0]: row[1] for row in all_rows(connection, _STONED)}
    blobs = sorted(doomed.keys() - named_blobs(connection)) if doomed else []
    for blob in blobs:
        connection.execute("UPDATE blobs SET erased = ? WHERE id = ?", (doomed[blob], blob))
    return blobs


def erase_unused(connection: apsw.Connection, at: float) -> None:
    """Erase texts that no row uses any more, such as answered questions: nothing says whose they are."""
    uses = [
        f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL"  # noqa: S608 - names of the schema
        for (table,) in all_rows(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'")
        for _, _, goal, column, *_ in all_rows(connection, f"PRAGMA foreign_key_list({table})")
        if goal == "content"
    ]
    connection.execute(
        "UPDATE content SET text = NULL, salt = NULL, erased = ? WHERE text IS NOT NULL"  # noqa: S608
        f" AND id NOT IN ({' UNION ALL '.join(uses)})",
        (at,),
    )


def erase_copies(connection: apsw.Connection) -> None:
    """Erase memories and notes with a tombstone, and rows whose content is gone."""
    for table in ("memory_items", "working_notes"):
        connection.execute(_COPIES.format(table=table))
    drop_items(connection, [row[0] for row in all_rows(connection, _GONE_ITEMS)])
    for table, column in _ROWS_OF_CONTENT:
        connection.execute(_GONE.format(table=table, column=column))


def write_tombstones(home: Path, tombstones: Iterable[Row], at: float, reason: str) -> None:
    """Append to the text file, durably. A tombstone without its erasure is harmless: the erasure was requested."""
    handle = os.open(home / TOMBSTONES, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(handle, "ab+") as file:
        size = file.tell()
        if size and os.pread(handle, 1, size - 1) != b"\n":  # a crash cut the last line
            file.write(b"\n")
        for content, sealed in tombstones:
            file.write(json.dumps([content, sealed.hex(), at, reason]).encode() + b"\n")
        file.flush()
        os.fsync(handle)
    if not size:
        sync(home)


def read_tombstones(home: Path) -> list[Row]:
    """Return the rows of the text files, without a line cut short by a crash."""
    rows: list[Row] = []
    for line in _lines(home / TOMBSTONES):
        with suppress(ValueError):
            content, sealed, at, reason = json.loads(line)
            rows.append((content, bytes.fromhex(sealed), at, reason))
    for line in _lines(home / FORGOTTEN):
        with suppress(ValueError, KeyError, TypeError):
            value = json.loads(line)
            rows.append((-1, tombstone_of(str(value["turn"]), float(value["at"])), 0.0, "erased"))
    return rows


def _lines(path: Path) -> Sequence[bytes]:
    return path.read_bytes().splitlines() if path.exists() else ()
