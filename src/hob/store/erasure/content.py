"""The table `content`, in which every text lies that can be erased."""

import hashlib
import os
from collections.abc import Callable

import apsw


def as_it_is(text: str) -> str:
    """Mask nothing."""
    return text


class WriteConnection(apsw.Connection):
    """A connection to the database. `mask` takes out of every text what must not be stored.

    `happened` are the kinds of events that were appended to the timeline since it was last set. `later` is work that
    was put off until nothing waits; it tells whether there is more.
    """

    mask: Callable[[str], str] = staticmethod(as_it_is)
    happened: frozenset[str] = frozenset()
    later: "Callable[[apsw.Connection], bool] | None" = None


def masked(connection: apsw.Connection, text: str) -> str:
    """The text as it may be stored."""
    return connection.mask(text) if isinstance(connection, WriteConnection) else text


def learned(connection: apsw.Connection) -> int:
    """Another number than before: what was masked until then may be masked otherwise now."""
    found: int = getattr(connection.mask, "learned", 0) if isinstance(connection, WriteConnection) else 0
    return found


class ContentWriter:
    """Puts texts into `content` within one job. The same text twice in a job is one row.

    Anyone who makes a text masks it before; this is the last net, so that what no one thought of is not stored.
    """

    __slots__ = ("_connection", "_ids")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._ids: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """The id of the row that holds the text."""
        text = masked(self._connection, text)
        found = self._ids.get(text)
        if found is None:
            salt = os.urandom(16)
            # A lone surrogate cannot be stored as UTF-8; what arrives that way is kept readable, not refused.
            stored = text.encode("utf-8", "replace")
            self._connection.execute(
                "INSERT INTO content (text, salt, hash) VALUES (?, ?, ?)",
                (stored.decode(), salt, hashlib.sha256(salt + stored).digest()),
            )
            found = self._ids[text] = self._connection.last_insert_rowid()
        return found

    def share(self, text: str, row: int) -> None:
        """The text stands in this row already: what holds it here is forgotten with it."""
        self._ids[masked(self._connection, text)] = row

    def maybe(self, text: str) -> int | None:
        """The same, and no row for no text."""
        return self(text) if text else None
