"""Numbered migrations. A file's `user_version` is the number of the last one applied."""

import os
from collections.abc import Callable
from contextlib import closing, nullcontext
from datetime import datetime
from functools import cache
from pathlib import Path

import apsw

from hob.core.errors import StoreError, StoreFull, StoreTooNew
from hob.core.translation.language import translatable
from hob.store.database.disk import SIDES, drop_database, free_bytes, free_name, stamp, sync
from hob.store.database.faults import translate
from hob.store.database.rows import find_row
from hob.store.erasure.content import WriteConnection

APPLICATION_ID = 0x486F6221  # "Hob!"
_FOLDER = Path(__file__).parent / "migrations"


@cache
def migrations() -> tuple[Path, ...]:
    """Return the migration files; the first is number 1."""
    files = tuple(sorted(_FOLDER.glob("[0-9][0-9][0-9][0-9]_*.sql")))
    for number, file in enumerate(files, 1):
        if int(file.name[:4]) != number:
            raise AssertionError(f"migration {file.name} should be number {number}")
    return files


def version_of(connection: apsw.Connection) -> int:
    """Return the number of the last migration applied to the file; 0 for a new file."""
    version: int = connection.execute("PRAGMA user_version").get
    return version


def newest_backup(home: Path) -> Path | None:
    """Return the newest backup in the home, or None."""
    found = [(file.stat().st_mtime_ns, file.name, file) for file in (home / "backups").glob("*.db")]
    return max(found)[2] if found else None


def backup_hint(home: Path, *, damaged: bool = False) -> str:
    """Return a hint on how to restore the newest backup, or an empty string."""
    newest = newest_backup(home)
    if newest is None:
        told = translatable("No backup was found in its `backups` folder; `hob restore FILE` takes one from elsewhere.")
        if not damaged:
            return told
        return translatable("{told} `hob doctor --fix` makes one of what can still be read.", told=told)
    return translatable("The newest backup is {newest}; `hob restore {newest}` brings it back.", newest=newest)


def migrate(
    connection: WriteConnection,
    path: Path,
    now: datetime,
    keep_backups: int,
    connect: Callable[[Path], WriteConnection],
) -> WriteConnection:
    """Upgrade the file; return the connection to continue with.

    A copy is upgraded, read back, and put in place of the existing file, which becomes a backup in `backups/`; the last
    few of these are kept.

    Raises StoreTooNew if the file has unknown migrations, StoreFull if there is no room for the copy and the work
    (twice the file's size), StoreError if the copy is not intact; then nothing was changed.
    """
    home = path.parent
    files = migrations()
    version = version_of(connection)
    if version > len(files):
        raise StoreTooNew(
            translatable(
                "The database is of version {version} and this Hob knows only {files}: upgrade Hob. {home}",
                version=version,
                files=len(files),
                home=backup_hint(home),
            )
        )
    if version == len(files):
        return connection
    if version == 0:
        apply_migrations(connection)
        return connection
    copy = path.with_name(f"{path.name}.upgrading")
    _need_room(connection, home)
    try:
        drop_database(copy)
        connection.execute("VACUUM INTO ?", (str(copy),))
        copy.chmod(0o600)
        _upgrade(copy, connect)
        sync(copy)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()
        if any(path.with_name(path.name + side).exists() for side in SIDES):
            raise StoreError(
                translatable("{path} is in use by another program; end that and start Hob again.", path=path)
            )
        goal = _backup_name(home, f"upgrade-{version}", now)
        os.link(path, goal)
        copy.replace(path)
        os.utime(goal)
        sync(home)
        _keep_last(goal, keep_backups)
    finally:
        drop_database(copy)
    return connect(path)


def _upgrade(copy: Path, connect: Callable[[Path], WriteConnection]) -> None:
    """Apply the missing migrations, and read everything back as the next start will. Raises StoreErrors."""
    try:
        with closing(connect(copy)) as connection:
            apply_migrations(connection)
        with closing(connect(copy)) as connection:
            problem = find_row(connection, "PRAGMA integrity_check(1)")
            orphan = find_row(connection, "PRAGMA foreign_key_check")
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()  # everything in one file
    except apsw.FullError as error:
        raise translate(error) from error
    except apsw.Error as error:  # even damage is the copy's
        raise StoreError(
            translatable("The database could not be upgraded ({error}); nothing was changed.", error=str(error))
        ) from error
    if problem is None or problem[0] != "ok" or orphan is not None:
        told = f"a row of {orphan[0]} without its {orphan[2]}" if orphan else problem
        raise StoreError(
            translatable("The upgraded copy of the database is not whole ({told}); nothing was changed.", told=told)
        )


def apply_migrations(connection: apsw.Connection, upto: int | None = None) -> None:
    """Apply the missing migrations, up to `upto` if given, each in its own transaction.

    For a new file all are one transaction, which waits for the disk once.
    """
    version = version_of(connection)
    with nullcontext() if version else connection:
        for number, file in enumerate(migrations()[version:upto], version + 1):
            with connection:
                connection.execute(file.read_text("utf-8"), can_cache=False)
                connection.execute(f"PRAGMA user_version = {number}; PRAGMA application_id = {APPLICATION_ID}")


def back_up_aside(connection: apsw.Connection, home: Path, occasion: str, now: datetime, keep: int) -> Path:
    """Copy the database into `backups/` before a large change; the last few of each occasion are kept.

    Raises StoreFull if there is no room for the copy and the work (twice the file's size).
    """
    _need_room(connection, home)
    goal = _backup_name(home, occasion, now)
    part = goal.with_name(goal.name + ".part")
    part.unlink(missing_ok=True)
    connection.execute("VACUUM INTO ?", (str(part),))
    part.chmod(0o600)
    sync(part)
    part.rename(goal)
    _keep_last(goal, keep)
    return goal


def _need_room(connection: apsw.Connection, home: Path) -> None:
    size = connection.execute("PRAGMA page_count").get * connection.execute("PRAGMA page_size").get
    if free_bytes(home) < 2 * size:
        raise StoreFull(
            translatable(
                "This needs {value:,} free bytes in {home} for a copy and the work; nothing was changed.",
                value=2 * size,
                home=home,
            )
        )


def _backup_name(home: Path, occasion: str, now: datetime) -> Path:
    folder = home / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    return free_name(folder / f"before-{occasion}-{stamp(now)}.db")


def _keep_last(goal: Path, keep: int) -> None:
    """Delete all but the last few backups of this occasion."""
    sync(goal.parent)
    occasion = goal.name.split("-")[1]
    made = sorted(goal.parent.glob(f"before-{occasion}-*.db"), key=lambda file: (file.stat().st_mtime_ns, file.name))
    for old in made[:-keep]:
        old.unlink()
