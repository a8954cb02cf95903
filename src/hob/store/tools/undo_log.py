"""The log of undone turns."""

import json

import apsw

from hob.core.ids import SessionKey, TurnId
from hob.core.undo import SkippedFile, UndoOutcome, UndoRecord, undo_turn_id
from hob.store.database.part import StorePart, snapshot
from hob.store.database.rows import Row, all_rows, find_row, marks
from hob.store.erasure.content import ContentWriter

_NOTES = (
    "SELECT turn, asker, p.text, o.text FROM undo_log u JOIN content p ON p.id = u.planned"
    " LEFT JOIN content o ON o.id = u.outcome"
)
_CHANGED = "SELECT 1 FROM file_changes WHERE turn = :turn UNION ALL SELECT 1 FROM command_changes WHERE turn = :turn"
_CHANGING = (
    "SELECT id FROM (SELECT seq, id FROM turns WHERE session = ? ORDER BY seq DESC LIMIT 200) t"
    " WHERE EXISTS (SELECT 1 FROM file_changes f WHERE f.turn = t.id)"
    " OR EXISTS (SELECT 1 FROM command_changes m WHERE m.turn = t.id) ORDER BY seq DESC"
)
_BEGIN = "INSERT INTO undo_log (asker, turn, planned) VALUES (?, ?, ?)"
_END = "UPDATE undo_log SET outcome = ?, seq = (SELECT max(seq) + 1 FROM undo_log) WHERE asker = ?"


class StoredUndoLog(StorePart):
    """Stores each undo by its requester; all methods raise StoreErrors."""

    async def begin(self, note: UndoRecord) -> None:
        """Record that an undo starts."""
        await self._writer.write(lambda c: begin_undo(c, note))

    async def end(self, note: UndoRecord, outcome: UndoOutcome) -> None:
        """Record the outcome of an undo."""
        await self._writer.write(lambda c: end_undo(c, note.by, outcome))

    async def find(self, by: str) -> UndoRecord | None:
        """Return the undo of this requester, or None."""
        rows = await self._rows(f"{_NOTES} WHERE asker = ?", (by,))
        return _load(rows[0]) if rows else None

    async def half_done(self) -> tuple[UndoRecord, ...]:
        """Return unfinished undos, oldest first."""
        sql = f"{_NOTES} WHERE u.outcome IS NULL ORDER BY seq"
        return tuple(map(_load, await self._rows(sql)))

    @snapshot
    def newest(self, connection: apsw.Connection, session: SessionKey) -> TurnId | None:
        """Return the session's newest changing turn that is not undone, among the last 200 turns."""
        turns = [TurnId(row[0]) for row in all_rows(connection, _CHANGING, (session,))]
        if not turns:
            return None
        names = {name: turn for turn in turns for name in (turn, undo_turn_id(turn))}
        sql = f"SELECT turn FROM undo_log WHERE outcome IS NOT NULL AND turn IN ({marks(names)}) ORDER BY seq"  # noqa: S608
        last = {names[name]: name for (name,) in all_rows(connection, sql, tuple(names))}
        return next((turn for turn in turns if last.get(turn) != turn), None)  # an undone undo does not count

    async def changed(self, turn: TurnId) -> bool:
        """Whether this turn or undo changed anything, as far as is still known."""
        return await self._readers.read(lambda c: find_row(c, _CHANGED, {"turn": turn}) is not None)


def begin_undo(connection: apsw.Connection, note: UndoRecord) -> None:
    """Record that an undo starts."""
    connection.execute(_BEGIN, (note.by, note.turn, ContentWriter(connection)(json.dumps(note.planned))))


def end_undo(connection: apsw.Connection, by: str, outcome: UndoOutcome) -> None:
    """Record its outcome."""
    kept = [[each.path, each.reason] for each in outcome.kept]
    done = {"restored": outcome.restored, "unchanged": outcome.unchanged, "kept": kept}
    connection.execute(_END, (ContentWriter(connection)(json.dumps(done)), by))


def load_outcome(done: dict[str, list[list[str]]]) -> UndoOutcome:
    """Parse an outcome from JSON."""
    kept = tuple(SkippedFile(path, reason) for path, reason in done["kept"])
    return UndoOutcome(tuple(map(str, done["restored"])), tuple(map(str, done["unchanged"])), kept)


def _load(row: Row) -> UndoRecord:
    turn, by, planned, outcome = row
    done = None if outcome is None else load_outcome(json.loads(outcome))
    return UndoRecord(TurnId(turn), by, tuple(json.loads(planned)), done)
