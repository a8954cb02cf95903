"""Numbered migrations. The number of the newest one that a file has seen is its `user_version`."""

from datetime import datetime
from functools import cache
from pathlib import Path

import apsw

from hob.core.errors import StoreFull, StoreNewer
from hob.store.database.disk import free_bytes, free_name, stamp, sync_directory, sync_file

APPLICATION_ID = 0x486F6221  # "Hob!"
_FOLDER = Path(__file__).parent / "migrations"


@cache
def migrations() -> tuple[Path, ...]:
    """The migration files; the first one is number 1."""
    files = tuple(sorted(_FOLDER.glob("[0-9][0-9][0-9][0-9]_*.sql")))
    for number, file in enumerate(files, 1):
        if int(file.name[:4]) != number:
            raise AssertionError(f"migration {file.name} should be number {number}")
    return files


def version_of(connection: apsw.Connection) -> int:
    """The number of the last migration that the file has seen; 0 for a new file."""
    version: int = connection.execute("PRAGMA user_version").get
    return version


def newest_backup(home: Path) -> Path | None:
    """The youngest backup in the home."""
    found = [(file.stat().st_mtime_ns, file.name, file) for file in (home / "backups").glob("*.db")]
    return max(found)[2] if found else None


def backup_hint(home: Path) -> str:
    """What to say about restoring: names the newest backup, if there is one."""
    newest = newest_backup(home)
    if newest is None:
        return "No backup was found in its `backups` folder; `hob restore FILE` takes one from elsewhere."
    return f"The newest backup is {newest}; `hob restore {newest}` brings it back."


def migrate(connection: apsw.Connection, home: Path, now: datetime, keep_backups: int) -> None:
    """Bring the file up to date. An existing file is first backed up into `backups/`, of which the last ones are kept.

    Raises StoreNewer when the file has seen migrations this Hob does not know, StoreFull when there is no room for
    the backup and the work (twice the file's size); then nothing was changed.
    """
    files = migrations()
    version = version_of(connection)
    if version > len(files):
        raise StoreNewer(
            f"The database is of version {version} and this Hob knows only {len(files)}: upgrade Hob."
            f" {backup_hint(home)}"
        )
    if version == len(files):
        return
    if version > 0:
        back_up_aside(connection, home, f"upgrade-{version}", now, keep_backups)
    apply_migrations(connection)


def apply_migrations(connection: apsw.Connection) -> None:
    """Perform those that the file has not seen, each in a transaction of its own, without a backup of it."""
    version = version_of(connection)
    for number, file in enumerate(migrations()[version:], version + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(file.read_text("utf-8"))
            connection.execute(f"PRAGMA user_version = {number}; PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("COMMIT")
        except apsw.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def back_up_aside(connection: apsw.Connection, home: Path, occasion: str, now: datetime, keep: int) -> Path:
    """Copy the database into `backups/` before something that changes much; the last few of an occasion are kept.

    Raises StoreFull when there is no room for the copy and the work (twice the file's size).
    """
    size = connection.execute("PRAGMA page_count").get * connection.execute("PRAGMA page_size").get
    if free_bytes(home) < 2 * size:
        raise StoreFull(f"This needs {2 * size:,} free bytes in {home} for a backup and the work; nothing was changed.")
    folder = home / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    goal = free_name(folder / f"before-{occasion}-{stamp(now)}.db")
    part = goal.with_name(goal.name + ".part")
    part.unlink(missing_ok=True)
    connection.execute("VACUUM INTO ?", (str(part),))
    part.chmod(0o600)
    sync_file(part)
    part.rename(goal)
    sync_directory(folder)
    made = sorted(
        folder.glob(f"before-{occasion.partition('-')[0]}-*.db"), key=lambda file: (file.stat().st_mtime_ns, file.name)
    )
    for old in made[:-keep]:
        old.unlink()
    return goal
