"""By which memories and notes are known again that were erased, whatever copy of them comes back."""

import hashlib

import apsw

from hob.core.ids import TurnId
from hob.store.database.rows import find_row

_TAKEN = "SELECT 1 FROM memory_items WHERE stone = ?1 UNION ALL SELECT 1 FROM working_notes WHERE stone = ?1"


def tombstone_of(turn: TurnId | str, at: float) -> bytes:
    """Of what a turn asked Hob to keep: the turn that wrote it, and when (to the microsecond)."""
    return hashlib.sha256(f"{turn} {float(at)!r}".encode("utf-8", "replace")).digest()


def tombstone_of_item(item_id: str) -> bytes:
    """Of every other item of memory."""
    return hashlib.sha256(f"item {item_id}".encode()).digest()


def unused_timestamp(connection: apsw.Connection, turn: str, at: float) -> float:
    """The time, or the next at which the turn wrote nothing else."""
    while find_row(connection, _TAKEN, (tombstone_of(turn, at),)) is not None:
        at += 1e-6
    return at
