"""Opening the SQLite file: PRAGMAs, migrations, and refusal of a damaged file."""

import os
from datetime import datetime
from functools import partial
from pathlib import Path

import apsw

from hob import __version__
from hob.core.errors import StoreDamaged, StoreError, StoreFull
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.database.disk import SIDES, drop_unfinished, make_private, move_database, stamp
from hob.store.database.faults import DAMAGE, close_quietly, translate
from hob.store.database.migration import backup_hint, migrate
from hob.store.database.rows import Row, all_rows, find_row
from hob.store.erasure.content import WriteConnection
from hob.store.settings import StoreSettings

NAME = "hob.db"
_MAGIC = b"SQLite format 3\0"
OLDEST_SQLITE = (3, 51, 3)
"""Minimum SQLite version. In older ones a checkpoint concurrent with a commit could damage the file
(https://sqlite.org/wal.html#walresetbug).
"""
_ROOTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE type IN ('table', 'index') AND rootpage > 0"
_STATEMENTS = 512
"""apsw forgets a prepared statement once it has run this many others; 512 is its maximum. A turn with a sub-agent runs
300 in the writer.
"""


@dataclass(frozen=True, slots=True)
class OpenedDatabase:
    """The writing connection of an up-to-date file. `unclean` means that the last process did not close it."""

    connection: WriteConnection
    path: Path
    run: int
    unclean: bool


def connect(path: Path, settings: StoreSettings, vfs: str | None, *, writes: bool) -> WriteConnection:
    """Return a connection with all its settings."""
    flags = apsw.SQLITE_OPEN_READWRITE if writes else apsw.SQLITE_OPEN_READONLY
    connection = WriteConnection(str(path), flags=flags, vfs=vfs, statementcachesize=_STATEMENTS)
    connection.set_busy_timeout(int(settings.busy_seconds * 1000))
    # without it SQLite compiles a statement again whenever its values change, which costs ten times as much as a lookup
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute("PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF")
    if writes:
        # FULL: in WAL mode a commit returns only after an fsync. secure_delete: erased data leaves no bytes behind.
        connection.execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
            " PRAGMA secure_delete = ON;"
            " PRAGMA wal_autocheckpoint = 2000; PRAGMA journal_size_limit = 16777216"
        ).fetchall()
    else:
        connection.execute("PRAGMA query_only = ON")
    return connection


def check_note(path: Path) -> Path:
    """Return the path of the file that marks a pending check; it holds the problem if one was found."""
    return path.with_name(path.name + ".check")


def quick_check(connection: apsw.Connection) -> str | None:
    """Return the first problem in the file's structure, or None."""
    return _problem(find_row(connection, "PRAGMA quick_check(1)"))


def _problem(row: Row | None) -> str | None:
    return None if row is None or row[0] == "ok" else str(row[0])


def open_database(home: Path, settings: StoreSettings, now: datetime, vfs: str | None = None) -> OpenedDatabase:
    """Open `hob.db`, creating or upgrading it, and record the new run.

    Raises StoreDamaged (the file was moved aside), StoreTooNew, StoreFull and other StoreErrors.
    """
    path = home / NAME
    _need_sqlite()
    _need_decision(home, path)
    empty = path.exists() and path.stat().st_size == 0
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        drop_unfinished(path)
        make_private(path)
    except OSError as error:
        raise StoreFull(
            translatable("{path} cannot be written: {reason}.", path=path, reason=error.strerror)
        ) from error
    if not _looks_right(path):
        raise _move_aside(home, path, now, translatable("it is not an SQLite database"))
    if empty and was_used(home):
        raise _move_aside(home, path, now, translatable("it is empty, although this home has been used"))
    connection: WriteConnection | None = None
    again = partial(connect, settings=settings, vfs=vfs, writes=True)
    try:
        connection = again(path)
        problem = _owed_check(connection, path)
        if problem is None:
            _look_at_roots(connection)
            connection = migrate(connection, path, now, settings.upgrade_backups, again)
            run, unclean = _begin_run(connection, now)
            connection.execute("PRAGMA shrink_memory")  # the pages read or written until now are rarely needed again
            if unclean:
                check_note(path).touch(mode=0o600)
                for part in (home / "blobs").glob("??/*.part"):  # no erasure would find it
                    part.unlink(missing_ok=True)
            return OpenedDatabase(connection, path, run, unclean)
    except DAMAGE as error:
        problem = str(error)
    except apsw.Error as error:
        _close(connection)
        raise translate(error) from error
    except BaseException:
        _close(connection)
        raise
    _close(connection)
    raise _move_aside(home, path, now, problem)


def _begin_run(connection: apsw.Connection, now: datetime) -> tuple[int, bool]:
    connection.execute("BEGIN IMMEDIATE")
    last = find_row(connection, "SELECT ended FROM runs ORDER BY id DESC LIMIT 1")
    connection.execute(
        "INSERT INTO runs (pid, version, began) VALUES (?, ?, ?)", (os.getpid(), __version__, now.timestamp())
    )
    run = connection.last_insert_rowid()
    connection.execute("COMMIT")
    return run, last is not None and last[0] is None


def _need_sqlite() -> None:
    version = apsw.sqlite_lib_version()
    if tuple(map(int, version.split("."))) < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        raise StoreError(
            translatable(
                "SQLite {version} can damage a database that several connections write to: Hob needs {oldest} "
                "or newer. Install a newer apsw, which brings it along: pip install --upgrade apsw.",
                version=version,
                oldest=oldest,
            )
        )


def _need_decision(home: Path, path: Path) -> None:
    # A supervisor restarts Hob after it refused a damaged file: starting with an empty database would look like data
    # loss.
    if path.exists():
        return
    damaged, used = damaged_files(home), traces(home)
    if damaged:
        problem = translatable("The database was damaged and is now {file}.", file=str(damaged[-1]))
    elif used:
        problem = translatable("There is no {path}, although this home has been used.", path=str(path))
    else:
        return
    kept = " and ".join(str(file) for file in (*damaged, *used))
    hint = backup_hint(home, damaged=bool(damaged))
    raise StoreDamaged(
        translatable(
            "{problem} {hint} To begin with an empty one instead, move {kept} elsewhere.",
            problem=problem,
            hint=hint,
            kept=kept,
        )
    )


def damaged_files(home: Path) -> list[Path]:
    """Return the damaged databases that were moved aside, oldest first."""
    return sorted(file for file in home.glob(f"{NAME}.damaged-*") if not file.name.endswith(SIDES))


def traces(home: Path) -> tuple[Path, ...]:
    """Return evidence that Hob had a database here although it is gone."""
    folders = (home / "backups", home / "blobs")
    found = [folder for folder in folders if folder.is_dir() and any(folder.iterdir())]
    token = home / "secrets" / "gateway-token"
    if token.exists() and (home / "hob.lock").exists():  # the token alone may exist before the first start
        found.append(token)
    return tuple(found)


def _looks_right(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(len(_MAGIC))
    return head in (b"", _MAGIC)


def was_used(home: Path) -> bool:
    """Whether there ever was a database: an empty file is left by a crash during the very first start."""
    token = home / "secrets" / "gateway-token"  # other secrets may exist before the first start
    return token.exists() or any(
        (home / folder).is_dir() and any((home / folder).iterdir()) for folder in ("backups", "blobs")
    )


def _owed_check(connection: apsw.Connection, path: Path) -> str | None:
    # A check that found a problem in an earlier run is repeated before any work.
    note = check_note(path)
    if not note.exists() or not note.read_text("utf-8"):
        return None
    problem = _problem(find_row(connection, "PRAGMA integrity_check(1)"))  # a quick check does not compare indexes
    if problem is None:
        note.unlink()
    return problem


def _look_at_roots(connection: apsw.Connection) -> None:
    """Read the first page of every table and index. Raises CorruptError if one has other contents."""
    for kind, name, table, sql in all_rows(connection, _ROOTS):
        if kind == "table":
            look = f'SELECT 1 FROM "{name}" NOT INDEXED LIMIT 1'  # noqa: S608 - names of the schema
        else:
            _, partial, where = (sql or "").partition(" WHERE ")
            look = f'SELECT 1 FROM "{table}" INDEXED BY "{name}"{partial}{where} LIMIT 1'  # noqa: S608
        connection.execute(look, can_cache=False).fetchall()


def _move_aside(home: Path, path: Path, now: datetime, problem: str) -> StoreDamaged:
    aside = move_database(path, path.with_name(f"{path.name}.damaged-{stamp(now)}"))
    check_note(path).unlink(missing_ok=True)
    return StoreDamaged(
        translatable(
            "The database is damaged ({problem}) and was moved to {aside}. {home}",
            problem=problem,
            aside=aside,
            home=backup_hint(home, damaged=True),
        )
    )


def _close(connection: apsw.Connection | None) -> None:
    if connection is not None:
        close_quietly(connection)
