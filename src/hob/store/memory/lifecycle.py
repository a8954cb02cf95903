"""Sizes and expiry of memory."""

from collections.abc import Sequence
from functools import partial

import apsw

from hob.core.memory import Scope, layer_named
from hob.core.values import dataclass
from hob.store.database.part import StorePart
from hob.store.database.rows import all_rows, marks
from hob.store.memory.items import erase_items

_COUNTS = (
    "SELECT layer, count(*), count(expires_at), min(at), max(at) FROM memory_items"
    " WHERE scope = ? AND agent = ? GROUP BY layer"
)
_PERMANENT = (
    "SELECT (SELECT count(*) FROM memory_items) - (SELECT count(*) FROM memory_items WHERE expires_at IS NOT NULL)"
)
_ADDED = (
    "SELECT count(*) FROM memory_items WHERE seq > (SELECT max(seq) FROM memory_items) - 5000"
    " AND +scope = ? AND +agent = ? AND at >= ?"
)
_EXPIRED = "SELECT seq FROM memory_items WHERE expires_at <= ? ORDER BY expires_at LIMIT ?"
_TOO_MANY = (
    "SELECT seq FROM memory_items WHERE expires_at IS NOT NULL"
    " ORDER BY scope = 'owner' DESC, at DESC, seq DESC LIMIT ? OFFSET ?"
)
_OF_LAYERS = "SELECT seq FROM memory_items WHERE scope = ? AND agent = ? AND layer IN ({}) LIMIT ?"
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class LayerCount:
    """A layer's number of items, the number that expire, and the oldest and newest time (Unix seconds)."""

    layer: str
    items: int
    expiring: int
    oldest: float
    newest: float


class MemoryLifecycle(StorePart):
    """Counts and expires items. Expiry leaves no tombstone, so an item may be stored again."""

    async def count(self, scope: Scope) -> Sequence[LayerCount]:
        """Count the items of each layer that is not empty. Raises StoreErrors."""
        rows = await self._rows(_COUNTS, (scope.person, scope.agent))
        return [LayerCount(layer_named(layer), *rest) for layer, *rest in rows]

    async def added(self, scope: Scope, since: float) -> int:
        """Count how many of the newest 5,000 items are from that time or later (Unix seconds). Raises StoreErrors."""
        values = (scope.person, scope.agent, since)
        return int((await self._rows(_ADDED, values))[0][0])

    async def permanent(self) -> int:
        """Count the items that never expire. Raises StoreErrors."""
        return int((await self._rows(_PERMANENT))[0][0])

    async def prune(self, maximum: int, now: float | None = None) -> int:
        """Delete items expired at `now` (None: at present), and the oldest expiring ones beyond `maximum`; return the
        number deleted.

        Those of other people's conversations go first: however much is said there, the owner loses nothing. Raises
        StoreErrors.
        """
        gone = await self._drop(_EXPIRED, (self._now() if now is None else now, _AT_ONCE))
        return gone + await self._drop(_TOO_MANY, (_AT_ONCE, maximum))

    async def reset(self, scope: Scope, layers: Sequence[str]) -> int:
        """Delete all items of these layers; return the number deleted. Raises StoreErrors."""
        return await self._drop(_OF_LAYERS.format(marks(layers)), (scope.person, scope.agent, *layers, _AT_ONCE))

    async def _drop(self, sql: str, values: Sequence[object]) -> int:
        """Delete in small batches, so that writes of messages do not wait long."""
        gone = 0
        while some := await self._writer.write(partial(self._drop_some, sql, values)):
            gone += some
        return gone

    def _drop_some(self, sql: str, values: Sequence[object], connection: apsw.Connection) -> int:
        seqs = [row[0] for row in all_rows(connection, sql, values)]
        erase_items(connection, seqs, self._now())
        return len(seqs)
