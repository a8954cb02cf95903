"""Items of memory. Every read names a scope; nothing here reads across scopes."""

import json
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import apsw

from hob.core.memory import SECTION, Layer, MemoryItem, Scope, layer_named
from hob.core.trust.labels import Label, Origin, Trust
from hob.store.database.part import StorePart, transaction
from hob.store.database.readers import Readers
from hob.store.database.rows import Row, all_rows, marks
from hob.store.erasure.content import ContentWriter, WriteConnection, masked
from hob.store.memory import index
from hob.store.memory.tombstones import tombstone_of_item, tombstone_of_section

COLUMNS = (
    "i.seq, i.id, i.scope, i.agent, i.layer, i.source, i.session, i.position, i.turn, i.speaker, i.role, i.kind, i.at,"
    " i.origin, i.trust, i.valid_from, i.valid_to, i.superseded_by, i.evidence, i.importance, i.expires_at, c.text"
)
"""Columns of an item in the order `load_item` expects; from TABLES."""
TABLES = "memory_items i JOIN content c ON c.id = i.text"
MINE = "i.scope = ? AND i.agent = ? AND c.text IS NOT NULL"
"""Selects one scope: a person and an agent."""
STOOD = (
    "i.at <= ? AND NOT EXISTS"
    " (SELECT 1 FROM memory_items n WHERE n.id = i.superseded_by AND i.superseded_by != '' AND n.at <= ?)"
)
"""Selects items that existed at a time and had not been replaced by then."""

_INSERT = (
    "INSERT INTO memory_items (id, scope, agent, layer, source, session, position, turn, speaker, role, kind, at,"
    " origin, trust, valid_from, valid_to, superseded_by, evidence, importance, expires_at, stone, text)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_KNOWN = "SELECT id FROM memory_items WHERE id IN (SELECT value FROM carray(?))"
_FORGOTTEN_AT = (
    "SELECT hash, max(at) FROM tombstones WHERE content = -1 AND hash IN (SELECT value FROM carray(?)) GROUP BY hash"
)
_ERASE = (
    "UPDATE content SET text = NULL, salt = NULL, erased = ?"
    " WHERE id IN (SELECT text FROM memory_items WHERE seq IN ({}))"
)
_OF_SOURCE = "SELECT seq, id, origin, trust FROM memory_items WHERE scope = ? AND agent = ? AND source = ?"
_SOURCES = (
    "SELECT source, max(at) FROM memory_items WHERE scope = ? AND agent = ? AND source >= ? AND source < ?"
    " GROUP BY source"
)
_TURNS = (
    "SELECT DISTINCT t.id, t.trace_id FROM memory_items i JOIN turns t ON t.id = i.turn"
    " WHERE i.scope = ? AND i.agent = ? AND i.id IN ({})"
)
_TRUST = (
    "UPDATE memory_items SET trust = ? WHERE scope = ? AND agent = ? AND trust != ?"
    " AND (source = ? OR substr(source, 1, length(?) + 1) IN (? || ':', ? || '/'))"
    " AND (layer = 'document' AND origin IN ('file', 'client')"
    " OR layer = 'conversation' AND origin = 'owner' AND turn = '') RETURNING seq"
)
"""Sets the trust of files, imported documents, and the owner's messages in imported conversations."""
_NOTE_FORGOTTEN = "INSERT INTO forgotten_items (id, scope, agent, traces) VALUES (?, ?, ?, ?)"
_FORGOTTEN = "SELECT id, traces FROM forgotten_items WHERE scope = ? AND agent = ? AND id >= ? AND id < ? LIMIT 2"
_ADD_EVIDENCE = "INSERT OR IGNORE INTO memory_evidence (source, seq) VALUES (?, ?)"
_DERIVED = frozenset({Layer.FACT, Layer.OBSERVATION})
# restores facts that a removed fact had superseded
_RESTORE_FACTS = (
    "UPDATE memory_facts SET recorded_to = NULL, closed = '' WHERE seq IN (SELECT o.seq FROM memory_items o"
    " JOIN memory_items g ON g.id = o.superseded_by WHERE g.seq IN ({0}) AND o.superseded_by != '')"
    " AND seq NOT IN ({0})"
)
_RESTORE = (
    "UPDATE memory_items SET superseded_by = '' WHERE superseded_by IN"
    " (SELECT id FROM memory_items WHERE seq IN ({})) AND superseded_by != ''"
)
_DROP = (
    "DELETE FROM memory_facts WHERE seq IN ({})",
    "DELETE FROM memory_goals WHERE seq IN ({})",
    "DELETE FROM memory_evidence WHERE seq IN ({})",
    "DELETE FROM memory_items WHERE seq IN ({})",
)
_AT_ONCE = 500
_LARGE_BATCH, _MAX_UNINDEXED = 50, 7_000
"""Minimum size of a batch that is indexed after it was acknowledged, and maximum number of items that wait for it."""
_NEWEST = "SELECT coalesce(max(seq), 0) FROM memory_items"
_LAST_INDEXED = "SELECT coalesce(max(seq), 0) FROM memory_words"
_WAITING = f"SELECT {COLUMNS} FROM {TABLES} WHERE i.seq > ({_LAST_INDEXED}) ORDER BY i.seq LIMIT ?"  # noqa: S608 - no value
_NONE = "[]"


def add_items(
    connection: apsw.Connection, items: Iterable[MemoryItem], tombstone: bytes | None = None
) -> list[MemoryItem]:
    """Store the items that are new and have not been forgotten; return them with their rows."""
    content_writer = ContentWriter(connection)
    stored = [_masked(connection, item) for item in items]
    stones = [tombstone or tombstone_of_item(item.id) for item in stored]
    sections = [tombstone_of_section(item) if item.kind == SECTION else b"" for item in stored]
    known = {id for (id,) in _rows_in(connection, _KNOWN, tuple(item.id for item in stored))}
    forgotten: dict[bytes, float] = dict(_rows_in(connection, _FORGOTTEN_AT, (*stones, *filter(None, sections))))
    added = []
    for item, mark, section in zip(stored, stones, sections, strict=True):
        if item.id in known or section in forgotten or forgotten.get(mark, -math.inf) >= item.at:
            continue
        known.add(item.id)
        connection.execute(
            _INSERT,
            (
                item.id, item.scope.person, item.scope.agent, item.layer, item.source, item.session, item.position,
                item.turn, item.speaker, item.role, item.kind, item.at, item.label.origin.value,
                item.label.trust.value, item.valid_from, item.valid_to, item.superseded_by,
                json.dumps(item.evidence) if item.evidence else _NONE,
                item.importance, item.expires_at, mark, content_writer(item.text),
            ),
        )  # fmt: skip
        added.append(replace(item, seq=connection.last_insert_rowid()))
        if item.layer in _DERIVED:
            link_evidence(connection, added[-1].seq, item.evidence)
    _index(connection, added)
    return added


def are_stored(connection: apsw.Connection, items: Iterable[MemoryItem]) -> bool:
    """Return whether all of these items are still stored, i.e. none was forgotten or has expired."""
    ids = {item.id for item in items}
    return len(_rows_in(connection, _KNOWN, tuple(ids))) == len(ids)


def _masked(connection: apsw.Connection, item: MemoryItem) -> MemoryItem:
    """Return the item as it may be stored."""
    text = masked(connection, item.text)
    return item if text == item.text else replace(item, text=text, id="")


def _rows_in(connection: apsw.Connection, sql: str, values: tuple[str, ...] | tuple[bytes, ...]) -> list[Row]:
    return all_rows(connection, sql, (apsw.carray(values),)) if values else []


def _index(connection: apsw.Connection, added: Sequence[MemoryItem]) -> None:
    """Index small batches now, and large ones once no write waits. Every search completes the index first."""
    if not added:
        return
    last = _last_indexed(connection)
    waiting = added[-1].seq - len(added) > last
    if not isinstance(connection, WriteConnection) or (not waiting and len(added) < _LARGE_BATCH):
        index_waiting(connection) if waiting else index.add(connection, added)
        return
    connection.later = partial(index_waiting, at_most=_LARGE_BATCH * 5)
    if added[-1].seq - last > _MAX_UNINDEXED:
        index_waiting(connection, max(index.count_to_block_end(last), 2 * len(added)))


def _last_indexed(connection: apsw.Connection) -> int:
    last: int = all_rows(connection, _LAST_INDEXED)[0][0]
    return last


def is_waiting(connection: apsw.Connection) -> bool:
    """Return whether some stored items are not indexed yet."""
    newest: int = all_rows(connection, _NEWEST)[0][0]
    return newest > _last_indexed(connection)


def index_waiting(connection: apsw.Connection, at_most: int = -1) -> bool:
    """Index stored items that are not indexed yet; return whether there may be more."""
    rows = all_rows(connection, _WAITING, (at_most,))
    index.add(connection, [load_item((*row[:-1], row[-1] or "")) for row in rows])
    return len(rows) == at_most


def link_evidence(connection: apsw.Connection, seq: int, sources: Iterable[str]) -> None:
    """Link a row to the items it was derived from, so that it is forgotten with them."""
    connection.executemany(_ADD_EVIDENCE, [(source, seq) for source in sources])


def drop_items(connection: apsw.Connection, seqs: Sequence[int]) -> None:
    """Delete these rows, whose texts are erased. Every removal of items ends here."""
    for start in range(0, len(seqs), _AT_ONCE):
        some = seqs[start : start + _AT_ONCE]
        index.remove(connection, some)
        connection.execute(_RESTORE_FACTS.format(marks(some)), (*some, *some))
        for sql in (_RESTORE, *_DROP):
            connection.execute(sql.format(marks(some)), some)


def erase_items(connection: apsw.Connection, seqs: Sequence[int], at: float) -> None:
    """Delete these rows without a tombstone, because they may be derived again."""
    for start in range(0, len(seqs), _AT_ONCE):
        some = seqs[start : start + _AT_ONCE]
        connection.execute(_ERASE.format(marks(some)), (at, *some))
        drop_items(connection, some)


def replace_source(
    connection: apsw.Connection, scope: Scope, source: str, items: Sequence[MemoryItem], at: float
) -> int:
    """Replace the items of a source, each with its current label; return the number of new items."""
    now = {item.id: item.label for item in items}
    gone = [
        seq
        for seq, id, origin, trust in all_rows(connection, _OF_SOURCE, (scope.person, scope.agent, source))
        if not _is_same(now.get(id), Label(Origin(origin), Trust(trust)))
    ]
    erase_items(connection, gone, at)
    return len(add_items(connection, items))


def _is_same(label: Label | None, kept: Label) -> bool:
    """Return whether it is stored with this label, or with more trust because the owner declared the file trusted."""
    return label == kept or (label is not None and label.origin is kept.origin is Origin.FILE and kept.trusted)


@lru_cache(64)
def _label(origin: str, trust: str) -> Label:
    return Label(Origin(origin), Trust(trust))


def load_item(row: Row) -> MemoryItem:
    """Build the item from a row of COLUMNS."""
    (seq, id, scope, agent, layer, source, session, position, turn, speaker, role, kind, at, origin, trust,
     valid_from, valid_to, superseded_by, evidence, importance, expires_at, text) = row  # fmt: skip
    return MemoryItem(
        scope=Scope(scope, agent), layer=layer_named(layer), source=source, text=text,
        label=_label(origin, trust), at=at, session=session, position=position, turn=turn, speaker=speaker, role=role,
        kind=kind, valid_from=valid_from, valid_to=valid_to, superseded_by=superseded_by,
        evidence=() if evidence == _NONE else tuple(json.loads(evidence)), importance=importance, expires_at=expires_at,
        seq=seq, id=id,
    )  # fmt: skip


class StoredItems(StorePart):
    """Stores items. Reads go through `of`, which names the scope."""

    def of(self, scope: Scope) -> "ScopedItems":
        """Return access to the items of this scope."""
        return ScopedItems(self._readers, scope)

    async def add(self, items: Sequence[MemoryItem]) -> Sequence[MemoryItem]:
        """Store new items in one transaction; return them with their rows. Raises StoreErrors."""
        return await self._writer.write(lambda connection: add_items(connection, items))

    async def replace_source(self, scope: Scope, source: str, items: Sequence[MemoryItem]) -> int:
        """Replace the items of a source; return the number of new items. Raises StoreErrors."""
        at = self._now()
        return await self._writer.write(lambda connection: replace_source(connection, scope, source, items, at))

    async def trust(self, scope: Scope, source: str, trust: Trust) -> int:
        """Set whether the source's current items are trusted as the owner's own words; return the number of changed
        items.

        Only files, and the owner's messages in imported conversations, can be trusted. Raises StoreErrors.
        """
        values = (trust.value, scope.person, scope.agent, trust.value, source, source, source, source)
        return len(await self._writer.write(lambda connection: all_rows(connection, _TRUST, values)))

    @transaction
    def note_forgotten(self, connection: apsw.Connection, scope: Scope, id: str, traces: Collection[str]) -> None:
        """Record which messages still contain what was forgotten; no traces clear the record. Raises StoreErrors."""
        connection.execute("DELETE FROM forgotten_items WHERE id = ?", (id,))
        if traces:
            connection.execute(_NOTE_FORGOTTEN, (id, scope.person, scope.agent, json.dumps(sorted(traces))))


class ScopedItems:
    """Reads the items of one scope."""

    def __init__(self, readers: Readers, scope: Scope) -> None:
        self._readers = readers
        self._scope = scope

    async def select(self, where: str = "1", values: Sequence[object] = (), *, limit: int = -1) -> list[MemoryItem]:
        """Return the newest items that match a condition (SQL over `i`). Raises StoreErrors."""
        rows = await self._rows(COLUMNS, where, (*values, limit), " ORDER BY i.at DESC, i.seq DESC LIMIT ?")
        return [load_item(row) for row in rows]

    async def count(self, where: str, values: Sequence[object]) -> int:
        """Count the items that match a condition (SQL over `i`). Raises StoreErrors."""
        return int((await self._rows("count(*)", where, values))[0][0])

    async def trusted_documents(self) -> list[str]:
        """Return the sources of the documents that count as the owner's words. Raises StoreErrors."""
        where = "i.layer = 'document' AND i.trust = 'trusted'"
        return [row[0] for row in await self._rows("DISTINCT i.source", where, ())]

    async def _rows(self, columns: str, where: str, values: Sequence[object], order: str = "") -> Sequence[Row]:
        mine, scope = MINE, self._scope
        whose: tuple[object, ...] = (scope.person, scope.agent)
        if scope.session:
            mine, whose = f"{mine} AND i.session = ?", (*whose, scope.session)
        sql = f"SELECT {columns} FROM {TABLES} WHERE {mine} AND ({where}){order}"  # noqa: S608
        return await self._readers.read(lambda c: all_rows(c, sql, (*whose, *values)))

    async def turns(self, ids: Sequence[str]) -> list[tuple[str, str]]:
        """Return the turns in which these items were said, and their traces. Raises StoreErrors."""
        sql = _TURNS.format(marks(ids))
        values = (self._scope.person, self._scope.agent, *ids)
        return [(row[0], row[1]) for row in await self._readers.read(lambda c: all_rows(c, sql, values))]

    async def forgotten(self, prefix: str) -> tuple[str, list[str]] | None:
        """Return the forgotten item whose id has this prefix, and the messages that still contained it. Raises
        StoreErrors.
        """
        values = (self._scope.person, self._scope.agent, prefix, f"{prefix}g")
        found = await self._readers.read(lambda c: all_rows(c, _FORGOTTEN, values))
        return (found[0][0], json.loads(found[0][1])) if len(found) == 1 else None

    async def sources(self, prefix: str) -> dict[str, float]:
        """Return the sources with this prefix, each with its newest time. Raises StoreErrors."""
        values = (self._scope.person, self._scope.agent, prefix, f"{prefix}\U0010ffff")
        return dict(await self._readers.read(lambda c: all_rows(c, _SOURCES, values)))
