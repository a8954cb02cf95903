"""Salvage of a damaged database into a backup that can be restored."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw

from hob.core.errors import StoreDamaged
from hob.core.translation.language import translatable
from hob.store.database.database import connect
from hob.store.database.disk import drop_database, sync
from hob.store.database.migration import apply_migrations, migrations, version_of
from hob.store.database.reading import opened
from hob.store.database.rows import Row, all_rows, find_row
from hob.store.erasure.content import WriteConnection
from hob.store.settings import StoreSettings

_TABLES = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
# The numbers of lost events are used again; followers must not skip the new ones.
_FOLLOW_NEXT = "UPDATE followers SET place = min(place, (SELECT coalesce(max(seq), 0) FROM timeline))"
_MAX_PROBES = 200_000
"""Maximum attempts to continue reading a table after a damaged place."""
_UNKNOWN_END = 1 << 24
"""The last row number of a table, assumed if it cannot be read."""
_Unreadable = (apsw.Error, UnicodeDecodeError)


def salvage(damaged: Path, goal: Path, at: float) -> int:
    """Write all readable rows to `goal`, a backup; return their number. Lost texts count as erased: restoring it
    cancels work that needs them.

    The damaged file is not changed. Blocks for a long time. Raises StoreDamaged if nothing can be read, StoreErrors.
    """
    part = goal.with_name(goal.name + ".part")
    drop_database(part)
    os.close(os.open(part, os.O_CREAT | os.O_WRONLY, 0o600))
    try:
        with (
            opened(damaged, owned=False) as source,
            closing(connect(part, StoreSettings(), None, writes=True)) as fresh,
        ):
            version = version_of(source)
            if not 0 < version <= len(migrations()):
                raise StoreDamaged(translatable("Nothing can be read of {damaged}.", damaged=damaged))
            fresh.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF")
            apply_migrations(fresh, version)
            saved = sum(_copy(source, fresh, name, sql) for name, sql in all_rows(fresh, _TABLES))
            _mark_lost_texts(fresh, at)
            fresh.execute(_FOLLOW_NEXT)
            problem = find_row(fresh, "PRAGMA integrity_check(1)")
            fresh.execute("PRAGMA journal_mode = DELETE").fetchall()
        if not saved or problem is None or problem[0] != "ok":
            raise StoreDamaged(translatable("Nothing can be read of {damaged}.", damaged=damaged))
        sync(part)
        part.rename(goal)
        sync(goal.parent)
    finally:
        drop_database(part)
    return saved


def _copy(source: apsw.Connection, fresh: WriteConnection, table: str, sql: str) -> int:
    columns = [row[1] for row in all_rows(fresh, f"PRAGMA table_info({table})")]
    names = ", ".join(columns)
    insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608
    before = fresh.total_changes()
    fresh.execute("BEGIN")
    for row in _both_ways(source, table, names) if "WITHOUT ROWID" in sql else _by_number(source, table, names):
        try:
            fresh.execute(insert, row)
        except apsw.Error:  # the damaged row does not fit its table
            continue
    fresh.execute("COMMIT")
    return fresh.total_changes() - before


def _by_number(source: apsw.Connection, table: str, names: str) -> Iterator[Sequence[object]]:
    """Yield the rows, with decreasing steps around unreadable places."""
    try:
        last = (find_row(source, f"SELECT max(rowid) FROM {table}") or (0,))[0] or 0  # noqa: S608
    except _Unreadable:
        last = _UNKNOWN_END
    sql = f"SELECT rowid, {names} FROM {table} WHERE rowid BETWEEN ? AND ? ORDER BY rowid"  # noqa: S608
    ranges, probes = [(1, int(last))], 0
    while ranges and probes < _MAX_PROBES:
        low, high = ranges.pop()
        probes += 1
        try:
            for row in source.execute(sql, (low, high)):
                yield row[1:]
                low = row[0] + 1
        except _Unreadable:
            if low < high:
                middle = (low + high) // 2
                ranges += [(middle + 1, high), (low, middle)]


def _both_ways(source: apsw.Connection, table: str, names: str) -> Iterator[Row]:
    """Yield the rows from both ends, as far as each can be read."""
    keys = [row for row in all_rows(source, f"PRAGMA table_info({table})") if row[5]]
    for way in ("ASC", "DESC"):
        order = ", ".join(f"{row[1]} {way}" for row in sorted(keys, key=lambda row: row[5]))
        try:
            yield from source.execute(f"SELECT {names} FROM {table} ORDER BY {order}")  # noqa: S608
        except _Unreadable:
            continue
        return


def _mark_lost_texts(fresh: WriteConnection, at: float) -> None:
    for name, _ in all_rows(fresh, _TABLES):
        for link in all_rows(fresh, f"PRAGMA foreign_key_list({name})"):
            column = link[3]
            if link[2] != "content":
                fresh.execute(f"DELETE FROM {name} WHERE {column} NOT IN (SELECT {link[4]} FROM {link[2]})")  # noqa: S608
                continue
            fresh.execute(
                "INSERT OR IGNORE INTO content (id, text, salt, hash, erased)"  # noqa: S608 - names of the schema
                f" SELECT DISTINCT {column}, NULL, NULL, x'', ? FROM {name} WHERE {column} IS NOT NULL"
                f" AND {column} NOT IN (SELECT id FROM content)",
                (at,),
            )
