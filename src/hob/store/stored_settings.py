"""The few settings that may be changed at run time."""

from collections.abc import Mapping

import apsw

from hob.core.clock import Clock
from hob.store.database.readers import Readers
from hob.store.database.rows import all_rows
from hob.store.database.writer import Writer


class StoredSettings:
    """Key paths and their values as text."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock

    async def load(self) -> Mapping[str, str]:
        """All of them."""
        return dict(await self._readers.read(lambda c: all_rows(c, "SELECT key, value FROM settings ORDER BY key")))

    async def put(self, key: str, value: str) -> None:
        """Store one value in place of an earlier one."""
        at = self._clock.now().timestamp()
        sql = (
            "INSERT INTO settings (key, value, updated) VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET value = excluded.value, updated = excluded.updated"
        )
        await self._writer.write(lambda connection: connection.execute(sql, (key, value, at)).fetchall())

    async def remove(self, key: str) -> bool:
        """Forget one value; False if there was none."""

        def job(connection: apsw.Connection) -> bool:
            connection.execute("DELETE FROM settings WHERE key = ?", (key,))
            return connection.changes() > 0

        return await self._writer.write(job)
