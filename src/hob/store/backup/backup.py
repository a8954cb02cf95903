"""Backups: one SQLite file with the database, the blobs, and the files that features include.

A backup is made by VACUUM INTO from a snapshot, so that Hob continues meanwhile, and gets its name only when it is
complete and on disk. Blobs and files are stored in tables that exist only in backups.
"""

import logging
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw

from hob.core.clock import Clock, SystemClock
from hob.core.errors import InvalidRequest, NotFound, StoreDamaged, StoreError, StoreFull, StoreTooNew
from hob.core.ids import digest
from hob.core.translation.language import translatable
from hob.store.backup.line_files import import_carried_files
from hob.store.blobs import blob_path, write_blob
from hob.store.database.database import NAME, check_note, connect
from hob.store.database.disk import (
    SIDES,
    drop_database,
    drop_unfinished,
    free_bytes,
    free_name,
    move_database,
    stamp,
    sync,
)
from hob.store.database.faults import translate
from hob.store.database.migration import APPLICATION_ID, apply_migrations, migrations, version_of
from hob.store.database.rows import Row, all_rows, find_row
from hob.store.erasure.tombstones import add_tombstones, apply_tombstones, erase_unused, read_tombstones
from hob.store.settings import StoreSettings
from hob.store.turns.turns import cancel_erased

_log = logging.getLogger(__name__)
_RESERVE_BYTES = 1_000_000  # bytes kept free for messages accepted meanwhile
_FILES = "CREATE TABLE carried_files (name TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT"
_TRAVELLING = "SELECT 1 FROM sqlite_schema WHERE name = ?"
_BLOBS = "CREATE TABLE backup_blobs (id TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT"


def back_up(
    connect_reading: Callable[[], apsw.Connection], home: Path, file: Path, carried: Collection[str], *, force: bool
) -> None:
    """Write a consistent copy to the file, including these files and folders of the home.

    Blocks for a long time; call it in a thread. Raises InvalidRequest if the file exists (unless forced), StoreFull,
    StoreError.
    """
    if file.exists() and not force:
        raise InvalidRequest(translatable("{file} exists already; choose another name.", file=file))
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        _check_room(home, file)
        with closing(connect_reading()) as connection:
            # query_only forbids VACUUM INTO too; the connection is read-only anyway
            connection.execute("PRAGMA query_only = OFF")
            connection.execute("VACUUM INTO ?", (str(part),))
        part.chmod(0o600)
        _add_blobs(part, home / "blobs")
        _add_files(part, home, carried)
        sync(part)
        part.replace(file)
        sync(file.parent)
    except apsw.Error as error:
        raise translate(error) from error
    except OSError as error:
        raise StoreFull(
            translatable("{file} cannot be written: {reason}.", file=file, reason=error.strerror)
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _check_room(home: Path, file: Path) -> None:
    """Raise StoreFull if the copy would fill the disk, which would keep Hob from accepting anything."""
    files = (home / NAME, home / f"{NAME}-wal", *(home / "blobs").rglob("*"))
    needed = sum(each.stat().st_size for each in files if each.is_file()) * 11 // 10 + _RESERVE_BYTES
    free = free_bytes(file.parent)
    if free < needed:
        raise StoreFull(
            translatable(
                "{file} was not begun: it may need {needed:,.1f} MB, and {free:,.1f} MB are free. Make room, or "
                "keep fewer: `hob config set backups.keep N`.",
                file=file,
                needed=needed / 1e6,
                free=free / 1e6,
            )
        )


def _add_blobs(file: Path, folder: Path) -> None:
    with closing(apsw.Connection(str(file))) as connection:
        ids = [row[0] for row in all_rows(connection, "SELECT id FROM blobs WHERE erased IS NULL ORDER BY id")]
        if not ids:
            return
        connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN").fetchall()
        connection.execute(_BLOBS)
        for blob in ids:
            path = blob_path(folder, blob)
            if path.exists():
                connection.execute("INSERT INTO backup_blobs VALUES (?, ?)", (blob, path.read_bytes()))
        connection.execute("COMMIT")


def _add_files(file: Path, home: Path, carried: Collection[str]) -> None:
    paths = sorted({path for name in carried for top in home.glob(name) for path in _files_below(top)})
    if not paths:
        return
    with closing(apsw.Connection(str(file))) as connection:
        connection.execute(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {_FILES}").fetchall()
        for path in paths:
            row = (path.relative_to(home).as_posix(), path.read_bytes())
            connection.execute("INSERT INTO carried_files VALUES (?, ?)", row)
        connection.execute("COMMIT")


def _files_below(path: Path) -> Iterator[Path]:
    """Return the file, or all files in the folder; links are not followed."""
    yield from (each for each in (path, *path.rglob("*")) if each.is_file() and not each.is_symlink())


def restore(home: Path, file: Path, clock: Clock | None = None) -> Path | None:
    """Replace the database by a backup; return where the former database is now, if there was one.

    The backup is checked first and stays unchanged. Everything ever erased in this home is erased in it too. The caller
    owns the home and nothing else uses it. Raises NotFound, StoreDamaged, StoreTooNew, InvalidRequest, and other
    StoreErrors; then the former database is in place, unchanged.
    """
    now = (clock or SystemClock()).now()
    path = home / NAME
    if not file.is_file():
        raise NotFound(translatable("There is no file {file}.", file=file))
    if path.exists() and file.samefile(path):
        raise InvalidRequest(translatable("{file} is the database itself.", file=file))
    fresh = home / f"{NAME}.restoring"
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        drop_unfinished(path)
        _copy_checked(file, fresh)
        tombstones = read_tombstones(home) + _tombstones_of(path)
        _prepare(fresh, home, tombstones, now.timestamp())
        sync(fresh)
        kept = _move_aside(path, free_name(home / f"{NAME}.before-restore-{stamp(now)}"))
        fresh.replace(path)
        check_note(path).unlink(missing_ok=True)
        sync(home)
    except apsw.Error as error:
        raise translate(error) from error
    except OSError as error:
        raise StoreFull(
            translatable("{file} cannot be put in place: {reason}.", file=file, reason=error.strerror)
        ) from error
    finally:
        drop_database(fresh)
    return kept


def _copy_checked(file: Path, goal: Path) -> None:
    try:
        with closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            problem = find_row(connection, "PRAGMA quick_check(1)")
            if problem is None or problem[0] != "ok":
                raise StoreDamaged(
                    translatable(
                        "{file} is damaged ({problem}).", file=file, problem=problem[0] if problem else "unreadable"
                    )
                )
            if connection.execute("PRAGMA application_id").get != APPLICATION_ID:
                raise InvalidRequest(translatable("{file} is not a database of Hob.", file=file))
            if version_of(connection) > len(migrations()):
                raise StoreTooNew(translatable("{file} was written by a newer Hob; upgrade Hob first.", file=file))
            connection.execute("VACUUM INTO ?", (str(goal),))
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StoreDamaged(
            translatable("{file} is damaged, or not a database ({error}).", file=file, error=str(error))
        ) from error
    goal.chmod(0o600)


def _tombstones_of(path: Path) -> list[Row]:
    if not path.exists() or not path.stat().st_size:
        return []
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            return all_rows(connection, "SELECT content, hash, at, reason FROM tombstones")
    except apsw.Error as error:  # damage is a usual reason to restore; the text file has the tombstones too
        _log.warning("the former database could not be asked what was erased: %s", error)
        return []


def _prepare(fresh: Path, home: Path, tombstones: list[Row], at: float) -> None:
    with closing(connect(fresh, StoreSettings(), None, writes=True)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        older = find_row(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'memories'") is None
        apply_migrations(connection)  # tombstones may concern any current table
        connection.execute("BEGIN IMMEDIATE")
        carrying = import_carried_files(connection, home, at, older=older)
        add_tombstones(connection, tombstones)
        apply_tombstones(connection, at)
        cancel_erased(connection, at)
        erase_unused(connection, at)
        travelling = find_row(connection, _TRAVELLING, ("backup_blobs",)) is not None
        if travelling:
            _extract_blobs(connection, home / "blobs")
        if find_row(connection, _TRAVELLING, ("carried_files",)) is not None:
            travelling = True
            _extract_files(connection, home)
        connection.execute("COMMIT")
        if travelling or carrying or tombstones:  # freed pages keep the erased bytes until then
            connection.execute("VACUUM")


def _extract_blobs(connection: apsw.Connection, folder: Path) -> None:
    wanted = "SELECT b.id FROM backup_blobs b JOIN blobs USING (id) WHERE blobs.erased IS NULL"
    for (blob,) in all_rows(connection, wanted):
        if blob_path(folder, blob).exists():
            continue
        data = all_rows(connection, "SELECT data FROM backup_blobs WHERE id = ?", (blob,))[0][0]
        if digest(data) != blob:
            raise StoreDamaged(translatable("The backup's copy of the blob {blob} is damaged.", blob=blob))
        write_blob(folder, blob, data)
    connection.execute("DROP TABLE backup_blobs")


def _extract_files(connection: apsw.Connection, home: Path) -> None:
    """Extract files that do not exist, completely or not at all; none is replaced."""
    for name, data in all_rows(connection, "SELECT name, data FROM carried_files"):
        path = home / name
        if ".." in path.parts or not path.resolve().is_relative_to(home.resolve()):
            raise StoreDamaged(translatable("The backup holds a file outside of the home: {name}.", name=name))
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = path.with_name(".restoring.part")
            with part.open("wb") as out:
                os.fchmod(out.fileno(), 0o600)
                out.write(data)
            sync(part)
            part.rename(path)
    connection.execute("DROP TABLE carried_files")


def _move_aside(path: Path, goal: Path) -> Path | None:
    """Move the former database aside. Its own name stays taken until the new one replaces it."""
    if not path.exists():
        return None
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            row = find_row(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
    except apsw.Error:
        return move_database(path, goal)  # it cannot be opened; its parts only make sense together
    if row is None or row[0] or any(path.with_name(path.name + side).exists() for side in SIDES):
        raise StoreError(translatable("{path} is in use; stop Hob first.", path=path))
    os.link(path, goal)
    return goal
