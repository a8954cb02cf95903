"""What makes items findable by their words, kept beside them in the transaction that changes them."""

from collections.abc import Sequence

import apsw

from hob.core.memory import MemoryItem


def add(connection: apsw.Connection, items: Sequence[MemoryItem]) -> None:
    """Index these items, which have their rows."""


def remove(connection: apsw.Connection, seqs: Sequence[int]) -> None:
    """Leave nothing of these rows. Their texts may be erased already."""
