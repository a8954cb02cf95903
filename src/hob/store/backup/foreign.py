"""Databases of other programs: read only, and untrusted."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from hob.core.errors import InvalidRequest
from hob.core.translation.language import translatable
from hob.store.database.rows import Row, all_rows

_MAX_BYTES = 64_000_000  # of one value, and of one row
_NAME_MARK = '"'


class ForeignFile:
    """An SQLite file of another program. Any problem with it raises InvalidRequest."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def columns(self, table: str) -> frozenset[str]:
        """Return the columns of a table, none if it does not exist. Views are ignored: they could be long programs."""
        with _foreign_errors():
            sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
            if not all_rows(self._connection, sql, (table,)):
                return frozenset()
            return frozenset(
                row[0] for row in all_rows(self._connection, "SELECT name FROM pragma_table_info(?)", (table,))
            )

    def rows(
        self, table: str, columns: Sequence[str], order: str, where: Sequence[tuple[str, str]] = ()
    ) -> Iterator[Row]:
        """Yield the rows of a table, optionally only those in which these columns have these values."""
        names = ", ".join(map(_quoted, columns))
        tests = " AND ".join(f"{_quoted(column)} = ?" for column, _ in where) or "1"
        sql = f"SELECT {names} FROM {_quoted(table)} WHERE {tests} ORDER BY {_quoted(order)}"  # noqa: S608
        with _foreign_errors():
            yield from self._connection.execute(sql, tuple(value for _, value in where))


@contextmanager
def open_foreign(path: Path) -> Iterator[ForeignFile]:
    """Open this file for the duration of the block. No file is written next to it.

    If its program left a write-ahead log, both files are copied first. Raises InvalidRequest and OSError.
    """
    log = path.with_name(f"{path.name}-wal")
    with tempfile.TemporaryDirectory(prefix="hob-") as folder:
        source, options = path, "immutable=1"
        if log.is_file() and not log.is_symlink() and log.stat().st_size:
            source, options = Path(folder) / "copy", ""
            shutil.copyfile(path, source, follow_symlinks=False)
            shutil.copyfile(log, source.with_name("copy-wal"), follow_symlinks=False)
        with _foreign_errors():
            flags = apsw.SQLITE_OPEN_READONLY if options else apsw.SQLITE_OPEN_READWRITE
            connection = apsw.Connection(f"{source.as_uri()}?{options}", flags=flags | apsw.SQLITE_OPEN_URI)
        try:
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.limit(apsw.SQLITE_LIMIT_LENGTH, _MAX_BYTES)
            with _foreign_errors():
                connection.execute("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA temp_store = MEMORY")
            yield ForeignFile(connection)
        finally:
            connection.close(force=True)


@contextmanager
def _foreign_errors() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise InvalidRequest(translatable("it is not a readable database ({error})", error=str(error))) from error


def _quoted(name: str) -> str:
    return f"{_NAME_MARK}{name.replace(_NAME_MARK, _NAME_MARK * 2)}{_NAME_MARK}"
