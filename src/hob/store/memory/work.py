"""Progress of background work on memory, and the items that wait for it.

The queue consists of stored items: nothing is queued twice, and forgotten items no longer wait. This is the only module
that reads items across scopes, to find whose items are next.
"""

from collections.abc import Sequence
from itertools import takewhile

import apsw

from hob.core.memory import MemoryItem, Scope
from hob.store.database.part import StorePart, snapshot, transaction
from hob.store.database.rows import all_rows, find_row
from hob.store.memory.items import COLUMNS, MINE, TABLES, add_items, are_stored, load_item

PLACE = "SELECT place FROM memory_work WHERE name = ? AND about = ?"
_MOVE = (
    "INSERT INTO memory_work (name, about, place) VALUES (?, ?, ?)"
    " ON CONFLICT DO UPDATE SET place = max(place, excluded.place)"
)
OWNERS_WORDS = (
    "i.origin = 'owner' AND i.trust = 'trusted' AND (i.layer = 'conversation' AND i.role = 'user' AND i.kind = 'turn'"
    " OR i.source = 'fact:remember')"
)
"""Selects what the owner said or asked Hob to remember. Nothing else becomes a fact."""
_WAITING = (
    f"SELECT {COLUMNS} FROM {TABLES} WHERE i.seq > ? AND {OWNERS_WORDS} AND c.text IS NOT NULL ORDER BY i.seq LIMIT ?"  # noqa: S608
)
_COUNT = f"SELECT count(*) FROM {TABLES} WHERE i.seq > ? AND {OWNERS_WORDS} AND c.text IS NOT NULL"  # noqa: S608
_TALK = (
    "i.layer = 'conversation' AND i.trust = 'trusted' AND i.kind = 'turn' AND i.role IN ('user', 'assistant')"
    " AND i.origin IN ('owner', 'model')"
)
_SESSIONS = (
    "SELECT DISTINCT scope, agent, session FROM"  # noqa: S608
    f" (SELECT i.* FROM memory_items i NOT INDEXED WHERE i.seq > ? AND {_TALK})"
)
_NEWEST = "SELECT coalesce(max(seq), 0) FROM memory_items"
_OF_SESSION = (
    f"SELECT {COLUMNS} FROM {TABLES} WHERE {MINE} AND i.session = ? AND i.seq > ? AND {_TALK}"  # noqa: S608
    " AND length(c.text) >= ? ORDER BY i.seq LIMIT 500"
)
_OBSERVATIONS = (
    f"SELECT {COLUMNS} FROM {TABLES} WHERE {MINE} AND i.layer = 'observation' AND i.superseded_by = ''"  # noqa: S608
    " AND i.trust = 'trusted' AND i.kind != 'summary' ORDER BY i.at DESC, i.seq DESC"
)
_REPLACE = "UPDATE memory_items SET superseded_by = ? WHERE seq = ? AND scope = ? AND agent = ?"
# max is NULL (never) if either is
_STATED_AGAIN = (
    "UPDATE memory_items SET superseded_by = '', expires_at = max(expires_at, ?) WHERE id = ? AND scope = ?"
    " AND agent = ? AND superseded_by != ''"
)


class StoredWork(StorePart):
    """Reads the items that wait for work, and stores the progress."""

    async def place(self, name: str, about: str = "") -> int:
        """Return the last processed row; 0 at first. Raises StoreErrors."""
        row = await self._row(PLACE, (name, about))
        return 0 if row is None else int(row[0])

    async def move(self, name: str, place: int, about: str = "") -> None:
        """Store the last processed row. Raises StoreErrors."""
        await self._writer.write(lambda connection: move_on(connection, name, about, place))

    async def words(self, after: int, at_most: int) -> list[MemoryItem]:
        """Return the owner's next messages, all of one scope. Raises StoreErrors."""
        rows = await self._rows(_WAITING, (after, at_most))
        items = [load_item(row) for row in rows]
        return list(takewhile(lambda item: item.scope == items[0].scope, items))

    @snapshot
    def waiting(self, connection: apsw.Connection, names: Sequence[str]) -> list[int]:
        """Count, for each kind of work, the owner's messages that it has not reached. Raises StoreErrors."""
        places = [find_row(connection, PLACE, (name, "")) for name in names]
        return [all_rows(connection, _COUNT, (place[0] if place else 0,))[0][0] for place in places]

    @snapshot
    def sessions_since(self, connection: apsw.Connection, after: int) -> tuple[int, list[tuple[Scope, str]]]:
        """Return the newest row, and the sessions with messages after the given one. Raises StoreErrors."""
        rows = all_rows(connection, _SESSIONS, (after,))
        return all_rows(connection, _NEWEST)[0][0], [(Scope(scope, agent), name) for scope, agent, name in rows]

    async def messages(self, scope: Scope, session: str, after: int, minimum: int) -> list[MemoryItem]:
        """Return the next trusted messages of owner and Hob in a session, of a minimum length. Raises StoreErrors."""
        values = (scope.person, scope.agent, session, after, minimum)
        return [load_item(row) for row in await self._rows(_OF_SESSION, values)]

    async def observations(self, scope: Scope) -> list[MemoryItem]:
        """Return the current observations, newest first. Raises StoreErrors."""
        values = (scope.person, scope.agent)
        return [load_item(row) for row in await self._rows(_OBSERVATIONS, values)]

    @transaction
    def keep(
        self,
        connection: apsw.Connection,
        scope: Scope,
        items: Sequence[MemoryItem],
        work: tuple[str, str, int] | None,
        *,
        sources: Sequence[MemoryItem] = (),
        replaced: Sequence[MemoryItem] = (),
    ) -> bool:
        """Store items with the progress of the work. Raises StoreErrors.

        If one of the `sources` they were made from is gone, nothing is stored and False returned: the work has to be
        repeated without it.

        Each replaced item points to the item derived from it, or to the first one, so that it returns if that one is
        deleted, unless it is among the new ones. It keeps its own expiry.
        """
        if not are_stored(connection, (*sources, *replaced)):
            return False
        added = add_items(connection, items)
        for old in replaced:
            by = next((item.id for item in added if old.id in item.evidence), (added or items)[0].id)
            connection.execute(_REPLACE, (by, old.seq, scope.person, scope.agent))
        stated = [(item.expires_at, item.id, scope.person, scope.agent) for item in items]
        connection.executemany(_STATED_AGAIN, stated)
        if work is not None:
            move_on(connection, *work)
        return True


def move_on(connection: apsw.Connection, name: str, about: str, place: int) -> None:
    """Store the progress as part of a transaction."""
    connection.execute(_MOVE, (name, about, place))
