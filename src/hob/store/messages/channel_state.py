"""What channels remember."""

from collections.abc import Mapping

import apsw

from hob.store.database.readers import Readers
from hob.store.database.rows import all_rows
from hob.store.database.writer import Writer

_PUT = (
    "INSERT INTO channel_state (channel, account, key, value) VALUES (?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET value = excluded.value"
)


class StoredChannelState:
    """Implements the port `ChannelState`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def get(self, channel: str, account: str) -> Mapping[str, str]:
        """All of it."""
        sql = "SELECT key, value FROM channel_state WHERE channel = ? AND account = ?"
        return dict(await self._readers.read(lambda c: all_rows(c, sql, (channel, account))))

    async def put(self, channel: str, account: str, values: Mapping[str, str]) -> None:
        """Set these keys in one transaction; an empty value removes its key."""
        chosen = dict(values)

        def job(connection: apsw.Connection) -> None:
            for key, value in chosen.items():
                if value:
                    connection.execute(_PUT, (channel, account, key, value))
                else:
                    sql = "DELETE FROM channel_state WHERE channel = ? AND account = ? AND key = ?"
                    connection.execute(sql, (channel, account, key))

        await self._writer.write(job)
