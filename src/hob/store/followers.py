"""Cursors of timeline followers, and events they could not process."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import apsw

from hob.core.values import dataclass
from hob.store.database.part import StorePart, transaction
from hob.store.database.rows import all_rows, find_row

Effect: TypeAlias = Callable[[apsw.Connection], None]
"""Writes rows within the caller's transaction."""

_BEGIN = "INSERT OR IGNORE INTO followers (name, place) VALUES (?, ?)"
_PLACE = "SELECT place FROM followers WHERE name = ?"
_MOVE = "UPDATE followers SET place = ? WHERE name = ?"
_NEWEST = "SELECT coalesce(max(seq), 0) FROM timeline"
_QUARANTINE = "INSERT OR IGNORE INTO follower_quarantine (follower, place, at, reason) VALUES (?, ?, ?, ?)"
_QUARANTINED = "SELECT follower, count(*), max(at), reason FROM follower_quarantine GROUP BY follower ORDER BY follower"


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Events a follower could not process: how many, the time of the last, and why."""

    follower: str
    events: int
    at: float
    reason: str


class StoredFollowers(StorePart):
    """One cursor per follower, moved in the same transaction as the follower's effect."""

    @transaction
    def begin(self, connection: apsw.Connection, name: str, *, at_end: bool) -> int:
        """Return the position to continue from; for a new follower the beginning or the end. Raises StoreErrors."""
        row = find_row(connection, _PLACE, (name,))
        if row is None:
            row = all_rows(connection, _NEWEST)[0] if at_end else (0,)
            connection.execute(_BEGIN, (name, row[0]))
        place: int = row[0]
        return place

    @transaction
    def advance(self, connection: apsw.Connection, name: str, place: int, effect: Effect | None = None) -> None:
        """Move the cursor to this position, in one transaction with the effect. Raises StoreErrors and the effect's
        errors.
        """
        if effect is not None:
            effect(connection)
        connection.execute(_MOVE, (place, name))

    @transaction
    def quarantine(self, connection: apsw.Connection, name: str, places: Sequence[int], upto: int, reason: str) -> None:
        """Skip these events, which could not be processed. Raises StoreErrors."""
        rows = [(name, place, self._now(), reason) for place in places]
        connection.executemany(_QUARANTINE, rows)
        connection.execute(_MOVE, (upto, name))

    async def quarantined(self) -> Sequence[Quarantined]:
        """Return the skipped events by follower. Raises StoreErrors."""
        rows = await self._rows(_QUARANTINED)
        return [Quarantined(*row) for row in rows]

    async def forget(self, name: str) -> None:
        """Delete a follower's cursor, so that it starts over. Raises StoreErrors."""
        sql = "DELETE FROM followers WHERE name = ?"
        await self._execute(sql, (name,))
