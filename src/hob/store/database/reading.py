"""Reading a database file from outside without changing a byte, even while another process has it open.

An ordinary reader of a database in WAL mode creates `-wal` and `-shm` and leaves them behind. So if no process owns the
home, the file is opened as immutable, or read together with its log (https://sqlite.org/wal.html#read_only_databases).
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import apsw

from hob.core.errors import NotFound
from hob.core.translation.language import translatable
from hob.store.database.faults import store_errors

_BUSY_MILLISECONDS = 5_000


@contextmanager
def opened(file: Path, *, owned: bool) -> Iterator[apsw.Connection]:
    """Open a connection that changes nothing; `owned` tells whether another process may have it open.

    Raises NotFound, StoreDamaged and other StoreErrors.
    """
    if not file.exists():
        raise NotFound(translatable("there is no {file}", file=file))
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with _readable(file, owned=owned) as uri, store_errors(), closing(apsw.Connection(uri, flags=flags)) as connection:
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        connection.execute("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0").fetchall()
        yield connection


def shared(file: Path) -> AbstractContextManager[apsw.Connection]:
    """Open a connection that changes nothing, as `opened` does, to a database that any process may have open."""
    return opened(file, owned=os.access(file.parent, os.W_OK))  # no process has it open on a read-only file system


@contextmanager
def _readable(file: Path, *, owned: bool) -> Iterator[str]:
    """Return the URI with which SQLite writes no other file next to this one."""
    log = file.with_name(f"{file.name}-wal")
    if owned:
        yield _uri(file, "mode=ro")
    elif not log.exists() or log.stat().st_size == 0:
        yield _uri(file, "immutable=1")
    else:  # after a crash the newest commits are in the log, which is read through an index next to it
        import shutil
        import tempfile

        with tempfile.TemporaryDirectory(prefix="hob") as folder:
            copy = Path(folder) / file.name
            shutil.copyfile(file, copy)
            shutil.copyfile(log, copy.with_name(log.name))
            yield _uri(copy, "mode=ro")


def _uri(file: Path, how: str) -> str:
    from urllib.parse import quote

    return f"file:{quote(str(file.absolute()))}?{how}"
