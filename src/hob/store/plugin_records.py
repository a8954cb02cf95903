"""Records of features without their own tables: a text under a key, with its owner and expiry."""

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from hob.core.errors import InvalidRequest
from hob.core.ids import SessionKey, TurnId
from hob.core.translation.language import translatable
from hob.store.database.part import DatabaseAccess, StorePart
from hob.store.database.rows import Row, all_rows
from hob.store.erasure.content import ContentWriter
from hob.store.followers import Effect

LONGEST = 1_000_000
"""Maximum characters of a value."""
_KEPT = "plugin = :plugin AND key >= :key AND substr(key, 1, length(:key)) = :key"
_FOUND = (
    "SELECT r.key, c.text, r.turn, r.session, r.person, r.expires, r.at FROM plugin_records r"  # noqa: S608
    f" JOIN content c ON c.id = r.value WHERE {_KEPT} AND c.text IS NOT NULL"
    " AND coalesce(r.expires, :now) >= :now ORDER BY r.key LIMIT :limit"
)
_DROP = "DELETE FROM plugin_records WHERE plugin = ? AND key = ? RETURNING value"
_PUT = "INSERT INTO plugin_records (plugin, key, at, turn, session, person, expires, value) VALUES (?,?,?,?,?,?,?,?)"
_FORGET = "UPDATE content SET text = NULL, salt = NULL, erased = ? WHERE id = ?"


class PluginRecord(NamedTuple):
    """One record. If it belongs to a turn, session or person (an id, or `channel:account:id`), it is erased with them.

    It is deleted after `expires` (Unix seconds; None: never). `at` is the time of writing, set by the store.
    """

    key: str
    value: str
    turn: TurnId | None = None
    session: SessionKey | None = None
    person: str | None = None
    expires: float | None = None
    at: float = 0.0


class PluginRecords(StorePart):
    """The records of one feature, covered by backups, erasure and retention even if the feature is disabled."""

    def __init__(self, access: DatabaseAccess, feature: str) -> None:
        super().__init__(access)
        self._feature = feature

    async def find(self, key: str) -> PluginRecord | None:
        """Return the record with this key, or None. Raises StoreErrors."""
        return next((each for each in await self._found(key, 1) if each.key == key), None)

    async def list(self, prefix: str = "", limit: int = 1_000) -> Sequence[PluginRecord]:
        """Return the records whose keys have this prefix, by key. Raises StoreErrors."""
        return await self._found(prefix, limit)

    async def put(self, record: PluginRecord) -> None:
        """Store the record durably, replacing the old one. Raises InvalidRequest, StoreErrors."""
        await self._writer.write(self.putting(record))

    def putting(self, record: PluginRecord) -> Effect:
        """Return a job that stores the record in a follower's transaction. Raises InvalidRequest."""
        if not record.key or len(record.value) > LONGEST:
            told = translatable("a record needs a key and has {maximum:,} characters at most", maximum=LONGEST)
            raise InvalidRequest(told)
        at = self._now()

        def write(connection: apsw.Connection) -> None:
            self._remove(connection, record.key, at)
            value = ContentWriter(connection)(record.value)
            whose = (record.turn, record.session, record.person, record.expires)
            connection.execute(_PUT, (self._feature, record.key, at, *whose, value))

        return write

    async def drop(self, key: str) -> bool:
        """Delete the record with this key; return whether there was one. Raises StoreErrors."""
        at = self._now()
        return await self._writer.write(lambda connection: self._remove(connection, key, at))

    def _remove(self, connection: apsw.Connection, key: str, at: float) -> bool:
        old = all_rows(connection, _DROP, (self._feature, key))
        connection.executemany(_FORGET, [(at, *row) for row in old])
        return bool(old)

    async def _found(self, prefix: str, limit: int) -> Sequence[PluginRecord]:
        values = {"plugin": self._feature, "key": prefix, "now": self._now(), "limit": limit}
        rows: list[Row] = await self._rows(_FOUND, values)
        return [PluginRecord(*row) for row in rows]
