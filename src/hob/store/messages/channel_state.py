"""State of channels between restarts: keys and values."""

from collections.abc import Mapping

import apsw

from hob.store.database.part import StorePart, transaction

_PUT = (
    "INSERT INTO channel_state (channel, account, key, value) VALUES (?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET value = excluded.value"
)


class StoredChannelState(StorePart):
    """Implements the port `ChannelState`."""

    async def get(self, channel: str, account: str) -> Mapping[str, str]:
        """Return all keys and values."""
        sql = "SELECT key, value FROM channel_state WHERE channel = ? AND account = ?"
        return dict(await self._rows(sql, (channel, account)))

    @transaction
    def put(self, connection: apsw.Connection, channel: str, account: str, values: Mapping[str, str]) -> None:
        """Set these keys in one transaction; an empty value removes its key."""
        chosen = dict(values)
        for key, value in chosen.items():
            if value:
                connection.execute(_PUT, (channel, account, key, value))
            else:
                sql = "DELETE FROM channel_state WHERE channel = ? AND account = ? AND key = ?"
                connection.execute(sql, (channel, account, key))
