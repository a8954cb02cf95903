"""Sizes and expiry of memory: how much there is, what has expired, and what goes first."""

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
_TOO_MANY = "SELECT seq FROM memory_items WHERE expires_at IS NOT NULL ORDER BY at DESC, seq DESC LIMIT ? OFFSET ?"
_OF_LAYERS = "SELECT seq FROM memory_items WHERE scope = ? AND agent = ? AND layer IN ({}) LIMIT ?"
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class LayerCount:
    """How many items a layer has, how many of them expire, and when the oldest and newest were said (Unix seconds)."""

    layer: str
    items: int
    expiring: int
    oldest: float
    newest: float


class MemoryLifecycle(StorePart):
    """Counts and lets go. What goes by itself leaves no tombstone: it may be taken up again."""

    async def count(self, scope: Scope) -> Sequence[LayerCount]:
        """The layers that have items. Raises StoreErrors."""
        rows = await self._readers.read(lambda c: all_rows(c, _COUNTS, (scope.person, scope.agent)))
        return [LayerCount(layer_named(layer), *rest) for layer, *rest in rows]

    async def added(self, scope: Scope, since: float) -> int:
        """How many of the newest items are of that time or later (Unix seconds); at most 5,000. Raises StoreErrors."""
        values = (scope.person, scope.agent, since)
        return int((await self._readers.read(lambda connection: all_rows(connection, _ADDED, values)))[0][0])

    async def permanent(self) -> int:
        """How many items never go by themselves. Raises StoreErrors."""
        return int((await self._readers.read(lambda connection: all_rows(connection, _PERMANENT)))[0][0])

    async def prune(self, maximum: int) -> int:
        """Let go of what has expired, and of the oldest beyond `most` that expire; how many. Raises StoreErrors."""
        now = self._now()
        gone = await self._drop(_EXPIRED, (now, _AT_ONCE))
        return gone + await self._drop(_TOO_MANY, (_AT_ONCE, maximum))

    async def reset(self, scope: Scope, layers: Sequence[str]) -> int:
        """Let go of all of these layers; how many items. Raises StoreErrors."""
        return await self._drop(_OF_LAYERS.format(marks(layers)), (scope.person, scope.agent, *layers, _AT_ONCE))

    async def _drop(self, sql: str, values: Sequence[object]) -> int:
        """A few at a time, so that no message waits for it."""
        gone = 0
        while some := await self._writer.write(partial(self._drop_some, sql, values)):
            gone += some
        return gone

    def _drop_some(self, sql: str, values: Sequence[object], connection: apsw.Connection) -> int:
        seqs = [row[0] for row in all_rows(connection, sql, values)]
        erase_items(connection, seqs, self._now())
        return len(seqs)
