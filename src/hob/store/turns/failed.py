"""Turns that failed for a given reason, searched once the reason is gone."""

import apsw

from hob.core.ids import TurnId
from hob.store.database.rows import all_rows


def failed_turns(connection: apsw.Connection, reason: str) -> tuple[TurnId, ...]:
    """Return those neither retried nor erased, oldest first. Scans all turns."""
    sql = (
        "SELECT DISTINCT t.id, t.seq FROM turns t JOIN inbox i ON i.turn = t.id JOIN content c ON c.id = i.body"
        " WHERE t.state = 'failed' AND t.reason = ? AND t.retried_by IS NULL AND c.text IS NOT NULL ORDER BY t.seq"
    )
    return tuple(TurnId(row[0]) for row in all_rows(connection, sql, (reason,)))
