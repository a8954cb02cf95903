"""Rows of a statement: one, all, how many were changed."""

from collections.abc import Collection, Sequence
from typing import Any

import apsw

Row = tuple[Any, ...]


def find_row(connection: apsw.Connection, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> Row | None:
    """The first row."""
    row: Row | None = connection.execute(sql, values if isinstance(values, dict) else tuple(values)).fetchone()
    return row


def all_rows(connection: apsw.Connection, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
    """Every row."""
    rows: list[Row] = connection.execute(sql, values if isinstance(values, dict) else tuple(values)).fetchall()
    return rows


def changed(connection: apsw.Connection, sql: str, values: Sequence[Any]) -> int:
    """How many rows a statement has changed."""
    connection.execute(sql, tuple(values))
    return connection.changes()


def marks(values: Collection[Any]) -> str:
    """Placeholders for a list of values."""
    return ",".join("?" * len(values))
