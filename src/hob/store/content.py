"""The table that everything forgettable lies in."""

import hashlib
import os

import apsw


class Keep:
    """Puts texts into `content` within one job. The same text twice in a job is one row."""

    __slots__ = ("_connection", "_ids")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._ids: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """The id of the row that holds the text."""
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

    def maybe(self, text: str) -> int | None:
        """The same, and no row for no text."""
        return self(text) if text else None
