"""Which groups of tools a session has opened."""

import apsw

from hob.core.ids import SessionKey
from hob.store.database.part import DatabaseAccess, StorePart
from hob.store.database.rows import all_rows

OPEN_GROUP = "INSERT OR IGNORE INTO open_groups (session, name) VALUES (?, ?)"

CLOSE_GROUPS = "DELETE FROM open_groups WHERE session = ?"


class StoredOpenGroups(StorePart):
    """Implements the tools' `OpenGroups`: read once, since each request of a model asks for them."""

    def __init__(self, access: DatabaseAccess, connection: apsw.Connection) -> None:
        super().__init__(access)
        self._opened: dict[SessionKey, tuple[str, ...]] = {}
        for session, name in all_rows(connection, "SELECT session, name FROM open_groups ORDER BY seq"):
            self._opened[session] = (*self.opened(session), name)

    def opened(self, session: SessionKey) -> tuple[str, ...]:
        """Their names, in the order in which they were opened."""
        return self._opened.get(session, ())

    async def open(self, session: SessionKey, group: str) -> None:
        """Keep that it is open; to open it twice changes nothing. Raises StoreErrors."""
        if group not in self.opened(session):
            await self._writer.write(lambda c: c.execute(OPEN_GROUP, (session, group)).fetchall())
            self._opened[session] = (*self.opened(session), group)

    def close(self, session: SessionKey) -> None:
        """None is open in this session any more: `CLOSE_GROUPS` was committed."""
        self._opened.pop(session, None)
