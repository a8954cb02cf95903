"""The log of commands, and the snapshots between which they changed files."""

import json
from collections.abc import Mapping
from pathlib import Path

import apsw

from hob.core.ids import CallId, SessionKey, TurnId
from hob.core.undo import CommandRun, SnapshotSpan
from hob.store.database.part import StorePart, snapshot
from hob.store.database.rows import Row, all_rows
from hob.store.erasure.content import ContentWriter

_AT_ONCE = 200
_BEGIN = "INSERT INTO commands (turn, call, session, process, trees, text) VALUES (?, ?, ?, ?, ?, ?)"
_END = "UPDATE commands SET outcome = ? WHERE turn = ? AND call = ? AND outcome = ''"
_MARK = "INSERT INTO tree_snapshots VALUES (?, ?) ON CONFLICT DO UPDATE SET snapshot = excluded.snapshot"
_CHANGE = "INSERT INTO command_changes (turn, at, body) VALUES (?, ?, ?)"
_COMMANDS = (
    "SELECT turn, call, session, c.text, process, outcome, trees FROM commands m JOIN content c ON c.id = m.text"
    " WHERE c.text IS NOT NULL AND"
)
_SPANS = (
    "SELECT turn, c.text, s.at, seq FROM command_changes s JOIN content c ON c.id = s.body WHERE c.text IS NOT NULL AND"
)


class StoredCommandLog(StorePart):
    """Implements the tools' `CommandRows`; all methods raise StoreErrors."""

    async def begin(self, begun: CommandRun, marks: Mapping[Path, str]) -> None:
        """Record that a command is about to start, which may change these folders from their snapshots."""
        await self._writer.write(lambda c: begin_command(c, begun, marks))

    async def change(self, span: SnapshotSpan) -> None:
        """Record a change."""
        await self._writer.write(lambda c: change_tree(c, span))

    async def end(self, turn: TurnId, call: CallId, how: str) -> None:
        """Record how a command ended."""
        await self._writer.write(lambda c: end_command(c, turn, call, how))

    @snapshot
    def running(self, connection: apsw.Connection) -> tuple[tuple[CommandRun, Mapping[Path, str]], ...]:
        """Return the running commands, oldest first, with the latest snapshots of their folders."""
        rows = all_rows(connection, f"{_COMMANDS} outcome = '' ORDER BY seq")
        return tuple((_load_begun(row), _load_marks(connection, row[-1])) for row in rows)

    async def find(self, process: str, session: SessionKey) -> CommandRun | None:
        """Return the background command with this id, if it belongs to this session."""
        sql = f"{_COMMANDS} process = ? AND process <> '' AND session = ?"
        rows = await self._rows(sql, (process, session))
        return _load_begun(rows[0]) if rows else None

    async def spans(self, turn: TurnId) -> tuple[SnapshotSpan, ...]:
        """Return what this turn's commands changed, oldest first."""
        sql = f"{_SPANS} turn = ? ORDER BY seq"
        return tuple(map(_load_span, await self._rows(sql, (turn,))))

    @snapshot
    def newest(self, connection: apsw.Connection, turns: int) -> tuple[SnapshotSpan, ...]:
        """Return what the commands of the last changing turns changed."""
        found: dict[str, list[SnapshotSpan]] = {}
        rows: list[Row] = [("", "", 0, 2**63 - 1)]
        while rows and len(found) <= turns:
            rows = all_rows(connection, f"{_SPANS} seq < ? ORDER BY seq DESC LIMIT ?", (rows[-1][3], _AT_ONCE))
            for row in rows:
                found.setdefault(row[0], []).append(_load_span(row))
        return tuple(span for spans in list(found.values())[:turns] for span in spans)


def begin_command(connection: apsw.Connection, begun: CommandRun, marks: Mapping[Path, str]) -> None:
    """Record that a command is about to start."""
    trees = json.dumps([str(tree) for tree in marks])
    text = ContentWriter(connection)(begun.command)
    connection.execute(_BEGIN, (begun.turn, begun.call, begun.session, begun.process, trees, text))
    connection.executemany(_MARK, [(str(tree), name) for tree, name in marks.items()])


def change_tree(connection: apsw.Connection, span: SnapshotSpan) -> None:
    """Record a change."""
    body = ContentWriter(connection)(json.dumps([str(span.tree), span.before, span.after]))
    connection.execute(_CHANGE, (span.turn, span.at, body))
    connection.execute(_MARK, (str(span.tree), span.after))


def end_command(connection: apsw.Connection, turn: TurnId, call: CallId, how: str) -> None:
    """Record that a command has ended."""
    connection.execute(_END, (how, turn, call))


def _load_marks(connection: apsw.Connection, trees: str) -> Mapping[Path, str]:
    sql = "SELECT tree, snapshot FROM tree_snapshots WHERE tree IN (SELECT value FROM json_each(?))"
    return {Path(tree): name for tree, name in all_rows(connection, sql, (trees,))}


def _load_begun(row: Row) -> CommandRun:
    turn, call, session, command, process, outcome, _ = row
    return CommandRun(TurnId(turn), CallId(call), SessionKey(session), command, process, outcome)


def _load_span(row: Row) -> SnapshotSpan:
    turn, body, at, _ = row
    tree, before, after = json.loads(body)
    return SnapshotSpan(TurnId(turn), Path(tree), before, after, at)
