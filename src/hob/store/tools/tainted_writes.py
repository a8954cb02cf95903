"""Turns that may have written files on behalf of untrusted text, until the owner is told."""

from collections.abc import AsyncIterator

from hob.core.ids import TurnId
from hob.store.database.part import StorePart

_AT_ONCE = 20
_NEWEST = "SELECT seq, turn FROM tainted_writes WHERE seq < ? ORDER BY seq DESC LIMIT ?"
TAINTED_WRITE = "INSERT OR IGNORE INTO tainted_writes (turn) VALUES (?)"


class StoredTaintedWrites(StorePart):
    """Stores these turns; all methods raise StoreErrors."""

    async def note(self, turn: TurnId) -> None:
        """Record that this tainted turn may change files; idempotent."""
        await self._execute(TAINTED_WRITE, (turn,))

    async def turns(self) -> AsyncIterator[TurnId]:
        """Return all of them, newest first."""
        before = 2**63 - 1
        while rows := await self._rows(_NEWEST, (before, _AT_ONCE)):
            for _, turn in rows:
                yield TurnId(turn)
            before = rows[-1][0]

    async def clear(self) -> None:
        """Clear the list once the owner knows."""
        await self._execute("DELETE FROM tainted_writes")
