"""Indexing of finished turns and imported conversations."""

from collections.abc import Callable, Iterable, Sequence

import apsw

from hob.core.ids import SessionKey, SpanId, TraceId, TurnId
from hob.core.memory import MemoryItem
from hob.core.models import TranscriptEntry
from hob.core.turns import Turn
from hob.store.codec import ENTRY_COLUMNS, ENTRY_TABLES, load_entry
from hob.store.database.rows import all_rows, find_row
from hob.store.memory.items import add_items
from hob.store.turns.turns import load_inbounds

MakeItems = Callable[[Turn, Sequence[TranscriptEntry]], Iterable[MemoryItem]]

_TURN = "SELECT session, trace_id, span_id FROM turns WHERE id = ?"
_SAID = (
    f"SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE t.turn = ? AND t.session = ? AND t.hidden = 0"  # noqa: S608
    " AND c.text IS NOT NULL ORDER BY t.n"
)
"""What was said in a turn's own session; a fork holds it again."""
_IMPORTED = (
    f"SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE t.session = ? AND t.at >= ?"  # noqa: S608
    " AND t.turn NOT IN (SELECT id FROM turns) AND c.text IS NOT NULL ORDER BY t.n"
)


def index_turns(connection: apsw.Connection, turns: Iterable[TurnId], make: MakeItems) -> int:
    """Store what is worth keeping from these turns; return the number of new items. Idempotent."""
    return sum(len(add_items(connection, _made(connection, turn, make))) for turn in turns)


def index_import(
    connection: apsw.Connection,
    session: SessionKey,
    since: float,
    make: Callable[[SessionKey, Sequence[TranscriptEntry]], Iterable[MemoryItem]],
) -> int:
    """Store what is worth keeping from messages imported since then (Unix seconds); return the number of new items.
    Idempotent.
    """
    entries = [load_entry(row) for row in all_rows(connection, _IMPORTED, (session, since))]
    return len(add_items(connection, make(session, entries)))


def _made(connection: apsw.Connection, id: TurnId, make: MakeItems) -> Iterable[MemoryItem]:
    row = find_row(connection, _TURN, (id,))
    inbounds = load_inbounds(connection, id, steered=True)
    if row is None or not inbounds:
        return ()
    turn = Turn(id, row[0], TraceId(row[1]), SpanId(row[2]), inbounds)
    return make(turn, [load_entry(entry) for entry in all_rows(connection, _SAID, (id, turn.session))])
