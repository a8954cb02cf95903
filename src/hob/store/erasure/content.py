"""The table `content`, which holds every erasable text."""

import hashlib
import os
from collections.abc import Callable

import apsw


class WriteConnection(apsw.Connection):
    """A connection to the database. `mask` removes from every text what must not be stored.

    `happened` holds the kinds of events appended to the timeline since it was last reset. `later` is deferred work; it
    returns whether there is more.
    """

    mask: Callable[[str], str] = str
    happened: frozenset[str] = frozenset()
    later: "Callable[[apsw.Connection], bool] | None" = None


def masked(connection: apsw.Connection, text: str) -> str:
    """Return the text as it may be stored."""
    return connection.mask(text) if isinstance(connection, WriteConnection) else text


def learned(connection: apsw.Connection) -> int:
    """A number that changes when texts may be masked differently from before."""
    found: int = getattr(connection.mask, "learned", 0) if isinstance(connection, WriteConnection) else 0
    return found


class ContentWriter:
    """Writes texts into `content` within one job. A text that occurs twice in a job is one row.

    The creator of a text masks it first; masking it again here catches anything it missed.
    """

    __slots__ = ("_connection", "_ids")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._ids: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the id of the row that holds the text."""
        text = masked(self._connection, text)
        found = self._ids.get(text)
        if found is None:
            salt = os.urandom(16)
            # A lone surrogate cannot be stored as UTF-8; it is replaced, not refused.
            stored = text.encode("utf-8", "replace")
            self._connection.execute(
                "INSERT INTO content (text, salt, hash) VALUES (?, ?, ?)",
                (stored.decode(), salt, hashlib.sha256(salt + stored).digest()),
            )
            found = self._ids[text] = self._connection.last_insert_rowid()
        return found

    def share(self, text: str, row: int) -> None:
        """Use this row for the text too, so that both uses are erased together."""
        self._ids[masked(self._connection, text)] = row

    def maybe(self, text: str) -> int | None:
        """Return the row's id, or None for an empty text."""
        return self(text) if text else None
