"""Vectors of items and of their sentences, and the durable queue of items without one."""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import apsw

from hob.store.database.part import StorePart, transaction
from hob.store.database.rows import all_rows, find_row
from hob.store.memory.items import index_waiting

_ADD_EMBEDDER = "INSERT OR IGNORE INTO memory_embedders (fingerprint) VALUES (?)"
_EMBEDDER = "SELECT id FROM memory_embedders WHERE fingerprint = ?"
_NEWEST = "SELECT id FROM memory_embedders WHERE substr(fingerprint, 1, length(?) + 1) = ? ORDER BY id DESC LIMIT 1"
_PENDING = (
    "SELECT i.seq, c.text, i.layer = 'conversation' AND i.role != 'assistant'"
    " FROM memory_items i JOIN content c ON c.id = i.text"
    " WHERE i.seq > coalesce((SELECT place FROM memory_embedders WHERE id = ?), 0)"
    " AND i.seq <= (SELECT coalesce(max(seq), 0) FROM memory_words) ORDER BY i.seq LIMIT ?"
)
_PLACE = "SELECT place FROM memory_embedders WHERE id = ?"
_COUNTS = (
    "SELECT (SELECT count(*) FROM memory_bits WHERE embedder = ?), count(*) FROM memory_items"
    " WHERE seq > coalesce((SELECT place FROM memory_embedders WHERE id = ?), 0)"
)
_SCOPE_OF = "SELECT scope FROM memory_words WHERE seq = ?"
_ADD_BITS = "INSERT OR REPLACE INTO memory_bits (embedder, scope, seq, bits) VALUES (?, ?, ?, ?)"
_ADD_VECTOR = "INSERT OR REPLACE INTO memory_vectors (seq, embedder, vector) VALUES (?, ?, ?)"
_MOVE = "UPDATE memory_embedders SET place = ? WHERE id = ? AND place = ?"
_OTHER = "SELECT id, fingerprint FROM memory_embedders WHERE id != ? AND place > 0 ORDER BY place DESC LIMIT 1"
_OTHERS = "SELECT id FROM memory_embedders WHERE id != ? UNION SELECT 0"  # 0: earlier versions stored some for none
_DROP_BITS = "DELETE FROM memory_bits WHERE embedder = ?"
_DROP_VECTORS = (
    "DELETE FROM memory_vectors WHERE (seq, embedder) IN (SELECT seq, embedder FROM memory_bits WHERE embedder = ?)"
)
_DROP_EMBEDDER = "DELETE FROM memory_embedders WHERE id = ?"


ZERO: Final = 128
"""The byte that stands for 0 in a packed vector."""


class WaitingText(NamedTuple):
    """A row without a vector."""

    seq: int
    text: str
    """Empty if it was erased."""
    from_person: bool
    """Whether a person said it in a conversation."""


class StoredVectors(StorePart):
    """Stores vectors. An item that was deleted meanwhile gets none."""

    @transaction
    def begin(self, connection: apsw.Connection, fingerprint: str) -> int:
        """Return the number of the embedder with this fingerprint, adding it if it is new. Raises StoreErrors."""
        connection.execute(_ADD_EMBEDDER, (fingerprint,))
        number: int = all_rows(connection, _EMBEDDER, (fingerprint,))[0][0]
        return number

    async def find(self, name: str) -> int:
        """Return the newest embedder of this provider and model; 0 if there is none. Raises StoreErrors."""
        rows = await self._rows(_NEWEST, (name, f"{name}|"))
        return int(rows[0][0]) if rows else 0

    async def other(self, embedder: int) -> tuple[int, str]:
        """Return number and fingerprint of the most advanced other embedder; 0 if there is none. Raises StoreErrors."""
        rows = await self._rows(_OTHER, (embedder,))
        return (int(rows[0][0]), str(rows[0][1])) if rows else (0, "")

    async def pending(self, embedder: int, at_most: int) -> list[WaitingText]:
        """Return the next rows. Raises StoreErrors."""
        if self._writer.puts_off:
            await self._writer.write(index_waiting)
        rows = await self._rows(_PENDING, (embedder, at_most))
        return [WaitingText(seq, text or "", bool(said)) for seq, text, said in rows]

    async def place(self, embedder: int) -> int:
        """Return the last row it has processed; 0 at first. Raises StoreErrors."""
        row = await self._row(_PLACE, (embedder,))
        return 0 if row is None else int(row[0])

    async def counts(self, embedder: int) -> tuple[int, int]:
        """Return the numbers of rows with and without a vector. Raises StoreErrors."""
        rows = await self._rows(_COUNTS, (embedder, embedder))
        return int(rows[0][0]), int(rows[0][1])

    @transaction
    def keep(
        self,
        connection: apsw.Connection,
        embedder: int,
        move: tuple[int, int],
        vectors: Sequence[tuple[int, Sequence[float]]],
        sentences: Mapping[int, Sequence[Sequence[float]]] = {},
    ) -> None:
        """Store vectors of rows, and of the sentences of some, and move the position from one place to another, in one
        transaction. If it is at another place, because all vectors were dropped meanwhile, nothing is stored. Raises
        StoreErrors.

        Vectors have unit length. A row's is stored first, then those of its sentences, with one byte for each number.
        """
        before, after = move
        connection.execute(_MOVE, (after, embedder, before))
        if not connection.changes():
            return
        for seq, vector in vectors:
            if row := find_row(connection, _SCOPE_OF, (seq,)):
                packed = b"".join(map(_pack, (vector, *sentences.get(seq, ()))))
                connection.execute(_ADD_BITS, (embedder, row[0], seq, signs(vector)))
                connection.execute(_ADD_VECTOR, (seq, embedder, packed))

    @transaction
    def drop_others(self, connection: apsw.Connection, embedder: int) -> None:
        """Drop the vectors of all other embedders, because this one has caught up. Raises StoreErrors."""
        for (other,) in all_rows(connection, _OTHERS, (embedder,)):
            for sql in (_DROP_VECTORS, _DROP_BITS, _DROP_EMBEDDER):
                connection.execute(sql, (other,))

    @transaction
    def drop_all(self, connection: apsw.Connection) -> int:
        """Drop all vectors and start over; return the number of items that had one. Raises StoreErrors."""
        connection.execute("DELETE FROM memory_vectors; DELETE FROM memory_bits")
        dropped = connection.changes()
        connection.execute("UPDATE memory_embedders SET place = 0")
        return dropped


def signs(vector: Sequence[float]) -> bytes:
    """Return one bit per number, set if it is positive."""
    number = int("".join("1" if value > 0 else "0" for value in vector) or "0", 2)
    return number.to_bytes(-(-len(vector) // 64) * 8, "little")


def scale_of(dimension: int) -> float:
    """Return the factor between the numbers of a vector and the whole ones that are stored for them, at most 127: six
    times the usual number of a vector of unit length.
    """
    return 20.0 * math.sqrt(dimension)


def _pack(vector: Sequence[float]) -> bytes:
    scale = scale_of(len(vector))
    return bytes(ZERO + max(-127, min(127, round(scale * value))) for value in vector)
