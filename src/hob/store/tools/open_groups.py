"""Tool groups opened by sessions."""

import apsw

from hob.core.ids import SessionKey
from hob.store.database.part import DatabaseAccess, StorePart
from hob.store.database.rows import all_rows

OPEN_GROUP = "INSERT OR IGNORE INTO open_groups (session, name) VALUES (?, ?)"

CLOSE_GROUPS = "DELETE FROM open_groups WHERE session = ?"


class StoredOpenGroups(StorePart):
    """Implements the tools' `OpenGroups`; cached, since every model request needs them."""

    def __init__(self, access: DatabaseAccess, connection: apsw.Connection) -> None:
        super().__init__(access)
        self._opened: dict[SessionKey, tuple[str, ...]] = {}
        for session, name in all_rows(connection, "SELECT session, name FROM open_groups ORDER BY seq"):
            self._opened[session] = (*self.opened(session), name)

    def opened(self, session: SessionKey) -> tuple[str, ...]:
        """Return the names in the order they were opened."""
        return self._opened.get(session, ())

    async def open(self, session: SessionKey, group: str) -> None:
        """Open a group; idempotent. Raises StoreErrors."""
        if group not in self.opened(session):
            await self._execute(OPEN_GROUP, (session, group))
            self._opened[session] = (*self.opened(session), group)

    def close(self, session: SessionKey) -> None:
        """Forget the session's open groups after `CLOSE_GROUPS` was committed."""
        self._opened.pop(session, None)
