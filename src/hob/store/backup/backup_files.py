"""Files of the home that travel in a backup, in a table of their own that exists in backups alone.

The store knows their names only, given as patterns relative to the home (`tools/notes/*.json`); who keeps them says
what may come back.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import apsw

from hob.core.errors import InvalidRequest, StoreDamaged, StoreFull
from hob.store.database.disk import sync_directory, sync_file
from hob.store.database.rows import all_rows, find_row

_FILES = "CREATE TABLE backup_files (name TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT"
_THERE = "SELECT 1 FROM sqlite_schema WHERE name = 'backup_files'"


def put_files_in(backup: Path, home: Path, patterns: Sequence[str]) -> None:
    """Copy those files of the home into a backup that is being made. Raises OSError, apsw.Error."""
    if not patterns:
        return
    connection = apsw.Connection(str(backup))
    try:
        connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN").fetchall()
        connection.execute(_FILES)
        for file in _found(home, patterns):
            try:
                data = file.read_bytes()
            except FileNotFoundError:  # forgotten meanwhile
                continue
            connection.execute("INSERT INTO backup_files VALUES (?, ?)", (file.relative_to(home).as_posix(), data))
        connection.execute("COMMIT")
    finally:
        connection.close()


def drop_files(connection: apsw.Connection) -> bool:
    """Take the table out of a database that becomes a home's; whether it was there."""
    there = find_row(connection, _THERE) is not None
    if there:
        connection.execute("DROP TABLE backup_files")
    return there


def unpack_files(backup: Path, folder: Path, patterns: Sequence[str]) -> bool:
    """Write a backup's files into a new folder; False, and none, where the backup never carried any.

    Raises InvalidRequest for a file that no backup of Hob carries, StoreDamaged, StoreFull.
    """
    try:
        connection = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            if find_row(connection, _THERE) is None:
                return False
            for name, data in all_rows(connection, "SELECT name, data FROM backup_files"):
                if not any(_fits(name, pattern) for pattern in patterns):
                    raise InvalidRequest(f"{backup} holds a file {name!r} that no backup of Hob holds.")
                _write(folder / name, data)
        finally:
            connection.close()
    except apsw.Error as error:
        raise StoreDamaged(f"{backup} is damaged or no database ({error}).") from error
    except OSError as error:
        raise StoreFull(f"{folder} cannot be written: {error.strerror}.") from error
    return True


def swap_files(home: Path, folder: Path, patterns: Sequence[str], aside: Path) -> bool:
    """Put an unpacked folder's files in the home's place and the former ones aside; whether there were such.

    Raises StoreFull.
    """
    moved = False
    try:
        for file in tuple(_found(home, patterns)):
            _move(file, aside / file.relative_to(home))
            moved = True
        for file in tuple(_found(folder, patterns)):
            _move(file, home / file.relative_to(folder))
    except OSError as error:
        raise StoreFull(f"{folder} cannot be put in place: {error.strerror}.") from error
    return moved


def _found(top: Path, patterns: Sequence[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(path for path in top.glob(pattern) if path.is_file() and not path.is_symlink())


def _fits(name: object, pattern: str) -> bool:
    if not isinstance(name, str):
        return False
    path, wanted = PurePosixPath(name), PurePosixPath(pattern)
    return ".." not in path.parts and len(path.parts) == len(wanted.parts) and path.match(pattern)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o600)
    sync_file(path)


def _move(file: Path, goal: Path) -> None:
    goal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.replace(goal)
    sync_directory(goal.parent)
    sync_directory(file.parent)
