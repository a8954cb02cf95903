"""Helpers for statements: one row, all rows, number of changes."""

from collections.abc import Collection, Sequence
from typing import Any

import apsw

Row = tuple[Any, ...]
Values = Sequence[Any] | dict[str, Any]
"""Values of a statement, by position or name."""


def find_row(connection: apsw.Connection, sql: str, values: Values = ()) -> Row | None:
    """Return the first row, or None."""
    row: Row | None = connection.execute(sql, values if isinstance(values, dict) else tuple(values)).fetchone()
    return row


def all_rows(connection: apsw.Connection, sql: str, values: Values = ()) -> list[Row]:
    """Return all rows."""
    rows: list[Row] = connection.execute(sql, values if isinstance(values, dict) else tuple(values)).fetchall()
    return rows


def changed(connection: apsw.Connection, sql: str, values: Sequence[Any]) -> int:
    """Return the number of rows a statement changed."""
    connection.execute(sql, tuple(values))
    return connection.changes()


def marks(values: Collection[Any]) -> str:
    """Return placeholders for a list of values."""
    return ",".join("?" * len(values))
