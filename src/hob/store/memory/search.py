"""Reads of the memory index: postings, neighbours, vectors. Every read is limited to one scope."""

import json
import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from sys import byteorder
from typing import NamedTuple, TypeVar

import apsw

from hob.core.memory import MemoryItem, Scope
from hob.core.values import dataclass
from hob.store.database.part import StorePart
from hob.store.database.rows import Row, all_rows, find_row
from hob.store.memory import index
from hob.store.memory.index import BITS, LOW, MAX_TIMES, unpacked
from hob.store.memory.items import COLUMNS, TABLES, index_waiting, is_waiting, load_item

T = TypeVar("T")

_SCOPE = "SELECT id, items, words, removed, sessions, session_words FROM memory_scopes WHERE person = ? AND agent = ?"
_SESSION = "SELECT id FROM memory_sessions WHERE scope = ? AND name = ?"
_SIZES = (
    "SELECT term, sum(length(postings)) / 4 FROM memory_postings"
    " WHERE scope = ? AND term IN (SELECT value FROM json_each(?)) GROUP BY term"
)
_BEGINNING = (
    "SELECT term, sum(length(postings)) / 4 FROM memory_postings"
    " WHERE scope = ? AND term >= ? AND term < ? AND length(term) >= ? GROUP BY term LIMIT ?"
)
_REST = 3
"""Minimum letters of a compound after its beginning."""
_POSTINGS = "SELECT block, postings FROM memory_postings WHERE scope = ? AND term = ? ORDER BY block DESC"
_ENTRIES = (
    "SELECT seq, session, length, kind, speaker, role, layer, sort, at, importance, stems"
    " FROM carray(?) CROSS JOIN memory_words ON seq = value WHERE scope = ?"
)
_BEFORE = "SELECT seq FROM memory_words WHERE session = w.session AND seq < w.seq ORDER BY seq DESC LIMIT 1"
_AFTER = "SELECT seq FROM memory_words WHERE session = w.session AND seq > w.seq ORDER BY seq LIMIT 1"
_NEAR = (
    f"SELECT w.seq, coalesce(({_BEFORE}), 0), coalesce(({_AFTER}), 0), coalesce(({_AFTER} OFFSET 1), 0)"  # noqa: S608
    " FROM carray(?) CROSS JOIN memory_words w ON w.seq = value WHERE w.session != 0"
)
_BITS = (
    "SELECT group_concat(seq), CAST(group_concat(bits, '') AS BLOB) FROM"
    " (SELECT seq, bits FROM memory_bits WHERE embedder = ? AND scope = ? AND seq > ? ORDER BY seq LIMIT ?)"
)
_VECTORS = "SELECT seq, vector FROM memory_vectors WHERE seq IN (SELECT value FROM carray(?)) AND embedder = ?"
_BETWEEN = "SELECT seq FROM memory_words WHERE scope = ? AND at >= ? AND at < ? ORDER BY at DESC, seq DESC LIMIT ?"
_NEXT_SPEAKER = "SELECT min(speaker) FROM memory_items WHERE scope = :person AND agent = :agent"
_SPEAKERS = (
    f"WITH RECURSIVE speakers (name) AS ({_NEXT_SPEAKER} UNION ALL"  # noqa: S608 - no value
    f" SELECT ({_NEXT_SPEAKER} AND speaker > name) FROM speakers WHERE name IS NOT NULL LIMIT :most)"
    " SELECT name FROM speakers WHERE name IS NOT NULL"
)
_MAX_SPEAKERS = 200
_SESSION_SIZES = "SELECT id, words FROM memory_sessions WHERE id IN (SELECT value FROM carray(?))"
_TEXTS = (
    "SELECT i.seq, c.text FROM memory_items i JOIN content c ON c.id = i.text WHERE c.text IS NOT NULL"
    " AND i.seq IN (SELECT value FROM carray(?)) AND +i.scope = ? AND +i.agent = ?"
)
_UNINDEXED = f"SELECT {COLUMNS} FROM {TABLES} WHERE i.seq IN (SELECT value FROM carray(?))"  # noqa: S608 - no value
_AT_ONCE = 500
_LOWS = LOW.to_bytes(4, byteorder)
_ITEMS = (
    f"SELECT {COLUMNS} FROM {TABLES} WHERE i.seq IN (SELECT value FROM carray(?))"  # noqa: S608
    " AND +i.scope = ? AND +i.agent = ? AND c.text IS NOT NULL"
)
"""Looks items up by row, since a scope may have a million items."""
_FACTS = (
    "SELECT f.seq, f.subject, f.predicate, f.object, i.at, f.valid_to FROM memory_facts f"
    " JOIN memory_items i USING (seq) WHERE f.scope = ? AND f.agent = ? AND f.recorded_to IS NULL"
    " AND f.state != 'asked' ORDER BY f.seq DESC LIMIT ?"
)
_MAX_FACTS = 2_000
_REPLACED = "SELECT 1 FROM memory_items WHERE id = ? AND at <= ?"


class StoredIndex(StorePart):
    """Runs searches, each in one snapshot."""

    async def complete(self) -> None:
        """Index rows that an older release or a crash left unindexed. Raises StoreErrors."""
        while await self._readers.read(lambda connection: index.missing(connection, 1)):
            await self._writer.write(_index_missing)
        if await self._readers.read(is_waiting):
            await self._writer.write(index_waiting)

    async def read(self, scope: Scope, search: "Callable[[ScopedIndex], T]") -> T:
        """Run the search in this scope. Raises StoreErrors."""
        if self._writer.puts_off:
            await self._writer.write(index_waiting)
        return await self._readers.read(lambda connection: search(ScopedIndex(connection, scope)))


def _index_missing(connection: apsw.Connection) -> None:
    seqs = index.missing(connection, _AT_ONCE)
    rows = _rows_of(connection, _UNINDEXED, seqs)
    index.add(connection, [load_item(row) for row in rows])


class SearchEntry(NamedTuple):
    """The fields of an item that a search needs. `stems` are separated by spaces."""

    seq: int
    session: int
    length: int
    kind: int
    speaker: str
    role: str
    layer: str
    sort: str
    at: float
    importance: float
    stems: str


class FactRow(NamedTuple):
    """The fields of a fact that a search needs."""

    seq: int
    subject: str
    predicate: str
    object: str
    at: float
    valid_to: float | None

    def is_over(self, now: float) -> bool:
        """Return whether the fact no longer holds."""
        return self.valid_to is not None and self.valid_to <= now


@dataclass(frozen=True, slots=True)
class Matches:
    """The items of a scope that contain a stem, with their BM25 weights."""

    weights: Mapping[int, float]
    idf: float
    whole: bool
    """Whether all of them were read. If not, these are the newest within the budget."""


class _Weights(dict[int, float]):
    """Cache of BM25 weights by term frequency and item length."""

    __slots__ = ("_constants",)

    def __init__(self, idf: float, k1: float, even: float, by_length: float) -> None:
        super().__init__()
        self._constants = idf, k1, even, by_length

    def __missing__(self, shape: int) -> float:
        idf, k1, even, by_length = self._constants
        times = shape & MAX_TIMES
        weight = self[shape] = idf * times * (k1 + 1) / (times + k1 * (even + by_length * (shape >> 6)))
        return weight


class ScopedIndex:
    """Reads the index of one scope in one snapshot."""

    def __init__(self, connection: apsw.Connection, scope: Scope) -> None:
        self._connection = connection
        self._whose = (scope.person, scope.agent)
        row = find_row(connection, _SCOPE, (scope.person, scope.agent))
        self.scope, self.size, words, self.removed, self.sessions, session_words = row or (0, 0, 0, 0, 0, 0)
        self._mean = words / max(1, self.size)
        self.session_mean = session_words / max(1, self.sessions)
        """Mean number of words per session."""
        self._loaded: dict[int, MemoryItem] = {}
        self.session = 0
        """Number of the session that the search is limited to; 0 for all, -1 if it has no items."""
        if scope.session:
            found = find_row(connection, _SESSION, (self.scope, scope.session))
            self.session = found[0] if found else -1

    def sizes(self, stems: Iterable[str]) -> dict[str, int]:
        """Return the number of items that contain each stem."""
        return dict(all_rows(self._connection, _SIZES, (self.scope, json.dumps(list(stems)))))

    def beginning(self, beginning: str, at_most: int) -> dict[str, int]:
        """Return longer stems with this beginning, and the number of items that contain each."""
        length = len(beginning) + _REST
        values = (self.scope, beginning, f"{beginning}\U0010ffff", length, at_most)
        return dict(all_rows(self._connection, _BEGINNING, values))

    def matches(self, stem: str, size: int, maximum: int, k1: float, b: float) -> Matches:
        """Return the items that contain the stem, given its size from `sizes`: the newest ones, about `maximum`."""
        idf = math.log(1 + (self.size - size + 0.5) / (size + 0.5))
        blocks, read, whole = list[tuple[int, bytes]](), 0, True
        for row in self._connection.execute(_POSTINGS, (self.scope, stem)):
            if read >= maximum:
                whole = False
                break
            blocks.append(row)
            read += len(row[1]) // 4
        # unpack all postings at once, as 32-bit digits of one integer
        packed = b"".join([postings for _, postings in blocks])
        starts = b"".join([(block << BITS).to_bytes(4, byteorder) * (len(each) // 4) for block, each in blocks])
        postings = int.from_bytes(packed, byteorder)
        lows = postings & int.from_bytes(_LOWS * read, byteorder)
        seqs = (lows + int.from_bytes(starts, byteorder)).to_bytes(len(packed), byteorder)
        shapes = (postings - lows >> BITS).to_bytes(len(packed), byteorder)
        known = _Weights(idf, k1, 1 - b, b / self._mean if self._mean else 0.0)
        return Matches(dict(zip(unpacked(seqs), map(known.__getitem__, unpacked(shapes)), strict=True)), idf, whole)

    def entries(self, seqs: Iterable[int]) -> dict[int, SearchEntry]:
        """Return the index entries of these rows, except those of other scopes."""
        new = tuple.__new__
        return {row[0]: new(SearchEntry, row) for row in self._rows_of(_ENTRIES, seqs, self.scope)}

    def between(self, start: float, end: float, at_most: int) -> list[int]:
        """Return the newest rows of a period (Unix seconds)."""
        return [seq for (seq,) in all_rows(self._connection, _BETWEEN, (self.scope, start, end, at_most))]

    def neighbours(self, seqs: Iterable[int]) -> dict[int, tuple[int, int, int]]:
        """Return, for each row, the one before and the two after it in its session; 0 if there is none."""
        return {seq: (before, after, second) for seq, before, after, second in self._rows_of(_NEAR, seqs)}

    def session_sizes(self, sessions: Iterable[int]) -> dict[int, int]:
        """Return the number of words of these sessions."""
        return dict(self._rows_of(_SESSION_SIZES, sessions))

    def texts(self, seqs: Iterable[int]) -> dict[int, str]:
        """Return the texts of these rows, except those of other scopes and erased ones."""
        return dict(self._rows_of(_TEXTS, seqs, *self._whose))

    def bits(self, embedder: int, after: int, at_most: int) -> tuple[Sequence[int], bytes]:
        """Return the embedded rows after this one, in order, and their concatenated sign bits."""
        from orjson import loads  # a million numbers four times as fast as by `int`

        seqs, bits = all_rows(self._connection, _BITS, (embedder, self.scope, after, at_most))[0]
        return array("q", loads(f"[{seqs}]")) if seqs else (), bits or b""

    def vectors(self, embedder: int, seqs: Iterable[int]) -> dict[int, bytes]:
        """Return the vectors of rows from `bits`, with those of their sentences, as `StoredVectors.keep` packs them."""
        return dict(self._rows_of(_VECTORS, seqs, embedder))

    def speakers(self) -> list[str]:
        """Return the speakers of this scope in alphabetical order, up to a limit."""
        values = {"person": self._whose[0], "agent": self._whose[1], "most": _MAX_SPEAKERS}
        return [name for (name,) in all_rows(self._connection, _SPEAKERS, values) if name]

    def is_replaced(self, item: MemoryItem, at: float) -> bool:
        """Whether another item had replaced it by then."""
        return find_row(self._connection, _REPLACED, (item.superseded_by, at)) is not None

    def facts(self) -> list[FactRow]:
        """Return the current, confirmed facts, newest first."""
        return [FactRow(*row) for row in all_rows(self._connection, _FACTS, (*self._whose, _MAX_FACTS))]

    def load(self, seqs: Iterable[int]) -> dict[int, MemoryItem]:
        """Load the items of these rows, except those of other scopes and erased ones."""
        wanted = list(seqs)
        if new := [seq for seq in wanted if seq not in self._loaded]:
            self._loaded |= {item.seq: item for item in map(load_item, self._rows_of(_ITEMS, new, *self._whose))}
        return {seq: self._loaded[seq] for seq in wanted if seq in self._loaded}

    def _rows_of(self, sql: str, numbers: Iterable[int], *values: object) -> list[Row]:
        return _rows_of(self._connection, sql, numbers, *values)


def _rows_of(connection: apsw.Connection, sql: str, numbers: Iterable[int], *values: object) -> list[Row]:
    """Return the rows of a statement whose first parameter is a list of row numbers."""
    wanted = array("q", numbers)
    return all_rows(connection, sql, (apsw.carray(wanted), *values)) if wanted else []
