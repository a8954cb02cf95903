"""Translation of SQLite's errors into Hob's."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import apsw

from hob.core.errors import StoreDamaged, StoreError, StoreFull

DAMAGE = (apsw.CorruptError, apsw.NotADBError)
_UNWRITABLE = (apsw.FullError, apsw.ReadOnlyError, apsw.IOError)
OF_THE_FILE = (*DAMAGE, *_UNWRITABLE, apsw.BusyError, apsw.CantOpenError, apsw.NoMemError, apsw.ProtocolError)
"""Errors that concern every user of the file; all others concern only the job that caused them."""


def translate(error: apsw.Error) -> StoreError:
    """Return the error to raise to the caller."""
    if isinstance(error, DAMAGE):
        return StoreDamaged(f"The database file is damaged ({error}); see `hob restore`.")
    if isinstance(error, _UNWRITABLE):
        return StoreFull(f"{StoreFull()} ({error})")
    return StoreError(f"The database cannot be used ({error}).")


@contextmanager
def store_errors() -> Iterator[None]:
    """Raise SQLite's errors from the block as StoreErrors."""
    try:
        yield
    except apsw.Error as error:
        raise translate(error) from error


def close_quietly(connection: apsw.Connection) -> None:
    """Close the connection, ignoring errors."""
    with suppress(apsw.Error):
        connection.close(True)
