"""The inverted index of items, updated in the transaction that changes them."""

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import apsw

from hob.core.memory import MemoryItem
from hob.store.database.rows import all_rows, find_row
from hob.store.memory.analysis import END, Analyzer, kind_of, words_around, words_of

ANALYZER: Final = Analyzer()
BITS = 10
LOW = (1 << BITS) - 1
MAX_TIMES = 63
_LONGEST = 65_535
_Postings = defaultdict[str, "array[int]"]
_Row = tuple[int, str, int, "array[int]"]

_ADD_SCOPE = (
    "INSERT INTO memory_scopes (person, agent) VALUES (?, ?) ON CONFLICT DO UPDATE SET agent = agent RETURNING id"
)
_ADD_SESSION = (
    "INSERT INTO memory_sessions (scope, name) VALUES (?, ?) ON CONFLICT DO UPDATE SET name = name RETURNING id"
)
_MISSING = (
    "SELECT i.seq FROM memory_items i JOIN content c ON c.id = i.text WHERE c.text IS NOT NULL"
    " AND i.seq < coalesce((SELECT min(seq) FROM memory_words), 9e18) ORDER BY i.seq DESC LIMIT ?"
)
_COUNT_SCOPE = "UPDATE memory_scopes SET items = items + ?, words = words + ? WHERE id = ?"
_COUNT_REMOVED = "UPDATE memory_scopes SET removed = removed + 1 WHERE id = ?"
_DROP_VECTORS = "DELETE FROM memory_vectors WHERE seq IN (SELECT value FROM json_each(?))"
_DROP_BITS = (
    "DELETE FROM memory_bits WHERE (embedder, scope, seq) IN"
    " (SELECT e.id, w.scope, w.seq FROM memory_embedders e JOIN memory_words w"
    " WHERE w.seq IN (SELECT value FROM json_each(?)))"
)
_COUNT_SESSION = "UPDATE memory_sessions SET items = items + ?, words = words + ? WHERE id = ?"
_DROP_SESSION = "DELETE FROM memory_sessions WHERE id = ? AND items = 0"
_ADD_WORDS = (
    "INSERT INTO memory_words (seq, scope, session, length, kind, speaker, role, layer, sort, at, importance, stems)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_ADD_POSTINGS = (
    "INSERT INTO memory_postings (scope, term, block, postings) VALUES (?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET postings = CAST(postings || excluded.postings AS BLOB)"
)
_WORDS = "SELECT seq, scope, session, length, stems FROM memory_words WHERE seq IN (SELECT value FROM json_each(?))"
_DROP_WORDS = "DELETE FROM memory_words WHERE seq IN (SELECT value FROM json_each(?))"
_BLOCK = "SELECT postings FROM memory_postings WHERE scope = ? AND term = ? AND block = ?"
_PUT_BLOCK = "UPDATE memory_postings SET postings = ? WHERE scope = ? AND term = ? AND block = ?"
_DROP_BLOCK = "DELETE FROM memory_postings WHERE scope = ? AND term = ? AND block = ?"


def add(connection: apsw.Connection, items: Sequence[MemoryItem]) -> None:
    """Index these stored items."""
    scopes: dict[tuple[str, str], int] = {}
    sessions: dict[tuple[int, str], int] = {}
    counts: defaultdict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
    blocks: defaultdict[tuple[int, int], _Postings] = defaultdict(lambda: defaultdict(partial(array, "I")))
    rows = []
    texts = [words_of(item.text) for item in items]
    ANALYZER.learn(texts)
    for item, words in zip(items, texts, strict=True):
        whose = (item.scope.person, item.scope.agent)
        scope = scopes.get(whose) or scopes.setdefault(whose, _id(connection, _ADD_SCOPE, whose))
        session = 0
        if item.session:
            named = (scope, item.session)
            session = sessions.get(named) or sessions.setdefault(named, _id(connection, _ADD_SESSION, named))
        stems = ANALYZER.stems([*words_around(item.at, item.speaker), *words])
        joined = " ".join(stems)
        length = min(len(stems) - joined.count(END), _LONGEST)
        rows.append(
            (
                item.seq, scope, session, length, kind_of(item.text, words), item.speaker, item.role, item.layer,
                item.kind, item.at, item.importance, joined,
            )
        )  # fmt: skip
        postings = blocks[scope, item.seq >> BITS]
        for stem, posting in _postings(stems, item.seq & LOW | length << 16).items():
            postings[stem].append(posting)
        for key in (("scope", scope), ("session", session)):
            counts[key][0] += 1
            counts[key][1] += length
    connection.executemany(_ADD_WORDS, rows)
    connection.executemany(_ADD_POSTINGS, _in_order(blocks))
    _count(connection, counts, 1)


def _postings(stems: Sequence[str], posting: int) -> dict[str, int]:
    """Return the posting of each stem of an item, given its other bits."""
    found = dict.fromkeys(stems, posting | 1 << BITS)
    if len(found) < len(stems):
        for stem, times in Counter(stems).items():
            found[stem] = posting | (times if times < MAX_TIMES else MAX_TIMES) << BITS
    return found


def _in_order(blocks: Mapping[tuple[int, int], Mapping[str, "array[int]"]]) -> Iterator[_Row]:
    """Yield the postings in the order of their table, which writes each of its pages once."""
    for scope in sorted({scope for scope, _ in blocks}):
        of_scope = [(block, postings) for (whose, block), postings in blocks.items() if whose == scope]
        for stem in sorted(set[str]().union(*(postings for _, postings in of_scope))):
            for block, postings in of_scope:
                if (some := postings.get(stem)) is not None:
                    yield scope, stem, block, some


def count_to_block_end(last: int) -> int:
    """Return how many rows after this one fill the next block: all of its postings are then written once."""
    return (2 << BITS) - 1 - (last & LOW)


def missing(connection: apsw.Connection, at_most: int) -> list[int]:
    """Return the newest rows older than the index, which a release without an index has stored."""
    return [seq for (seq,) in all_rows(connection, _MISSING, (at_most,))]


def remove(connection: apsw.Connection, seqs: Sequence[int]) -> None:
    """Remove these rows from the index. Their texts may already be erased."""
    given = json.dumps(list(seqs))
    counts: defaultdict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
    gone: defaultdict[tuple[int, str, int], set[int]] = defaultdict(set)
    for seq, scope, session, length, stems in all_rows(connection, _WORDS, (given,)):
        for stem in set(stems.split()):
            gone[scope, stem, seq >> BITS].add(seq & LOW)
        for whose in (("scope", scope), ("session", session)):
            counts[whose][0] += 1
            counts[whose][1] += length
    for key, lows in gone.items():
        row = find_row(connection, _BLOCK, key)
        left = array("I", (each for each in unpacked(row[0]) if each & LOW not in lows)) if row else array("I")
        if left:
            connection.execute(_PUT_BLOCK, (left.tobytes(), *key))
        else:
            connection.execute(_DROP_BLOCK, key)
    for sql in (_DROP_BITS, _DROP_VECTORS, _DROP_WORDS):
        connection.execute(sql, (given,))
    connection.executemany(_COUNT_REMOVED, ((id,) for what, id in counts if what == "scope"))
    _count(connection, counts, -1)
    connection.executemany(_DROP_SESSION, ((id,) for what, id in counts if what == "session"))


def _id(connection: apsw.Connection, sql: str, values: Sequence[object]) -> int:
    number: int = all_rows(connection, sql, values)[0][0]
    return number


def _count(connection: apsw.Connection, counts: Mapping[tuple[str, int], Sequence[int]], sign: int) -> None:
    for (what, id), (items, words) in counts.items():
        connection.execute(_COUNT_SCOPE if what == "scope" else _COUNT_SESSION, (sign * items, sign * words, id))


def unpacked(postings: bytes) -> "array[int]":
    """Unpack the postings of a block."""
    found = array("I")
    found.frombytes(postings)
    return found
