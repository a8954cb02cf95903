"""Results of calls that arrive while their turn is parked."""

import json

import apsw

from hob.core.ids import CallId, TurnId
from hob.core.tools import ToolResult
from hob.core.trust.labels import Label
from hob.store.codec import dump_json, load_label
from hob.store.database.part import StorePart, transaction
from hob.store.database.rows import find_row
from hob.store.erasure.content import ContentWriter

_FIND = "SELECT c.text FROM late_results r JOIN content c ON c.id = r.body WHERE r.turn = ? AND r.call = ?"


def put_result(connection: apsw.Connection, content_writer: ContentWriter, turn: TurnId, result: ToolResult) -> bool:
    """Store the result; return False if the call already has one, which is kept."""
    label: Label = result.label
    body = dump_json({"text": result.text, "label": [label.origin, label.trust], "is_error": result.is_error})
    if find_row(connection, "SELECT 1 FROM late_results WHERE turn = ? AND call = ?", (turn, result.call)) is not None:
        return False
    sql = "INSERT INTO late_results (turn, call, body) VALUES (?, ?, ?)"
    connection.execute(sql, (turn, result.call, content_writer(body)))
    return True


class StoredLateResults(StorePart):
    """Implements the agent's `LateResults`, and stores results."""

    async def find(self, turn: TurnId, call: CallId) -> ToolResult | None:
        """Return the result of this call, or None."""
        row = await self._row(_FIND, (turn, call))
        if row is None or row[0] is None:
            return None
        data = json.loads(row[0])
        return ToolResult(call, data["text"], load_label(*data["label"]), data["is_error"])

    @transaction
    def put(self, connection: apsw.Connection, turn: TurnId, *results: ToolResult) -> None:
        """Store these results; a call that has one keeps it."""
        content_writer = ContentWriter(connection)
        for result in results:
            put_result(connection, content_writer, turn, result)
