"""Tombstones of erased memories and notes, which recognise a copy that comes back."""

import hashlib

import apsw

from hob.core.ids import TurnId
from hob.core.memory import MemoryItem
from hob.store.database.rows import find_row

_TAKEN = "SELECT 1 FROM memory_items WHERE stone = ?1 UNION ALL SELECT 1 FROM working_notes WHERE stone = ?1"


def tombstone_of(turn: TurnId | str, at: float) -> bytes:
    """Return the tombstone of a memory that a turn asked Hob to keep, from the turn and the time in microseconds."""
    return hashlib.sha256(f"{turn} {float(at)!r}".encode("utf-8", "replace")).digest()


def tombstone_of_item(item_id: str) -> bytes:
    """Return the tombstone of any other item."""
    return hashlib.sha256(f"item {item_id}".encode()).digest()


def tombstone_of_section(item: MemoryItem) -> bytes:
    """Return the tombstone of a document's section, wherever in the document it is and whenever that was changed."""
    whole = "\0".join(("section", item.scope.person, item.scope.agent, item.source, item.text))
    return hashlib.sha256(whole.encode("utf-8", "replace")).digest()


def unused_timestamp(connection: apsw.Connection, turn: str, at: float) -> float:
    """Return this time, or the next at which the turn wrote nothing else."""
    while find_row(connection, _TAKEN, (tombstone_of(turn, at),)) is not None:
        at += 1e-6
    return at
