"""Files changed by turns, stored for undo."""

import json
from collections.abc import Collection, Mapping
from typing import Any

import apsw

from hob.core.ids import CallId, TurnId
from hob.core.undo import FileChange, FileVersion
from hob.store.database.part import StorePart, snapshot
from hob.store.database.rows import all_rows
from hob.store.erasure.content import ContentWriter

_AT_ONCE = 200
_INSERT = "INSERT INTO file_changes (turn, at, blob, body) VALUES (?, ?, ?, ?)"
_OF = (
    "SELECT c.text FROM file_changes f JOIN content c ON c.id = f.body WHERE turn = ? AND c.text IS NOT NULL"
    " ORDER BY seq"
)
_NEWEST = "SELECT seq, turn FROM file_changes WHERE seq < ? ORDER BY seq DESC LIMIT ?"


class StoredFileChanges(StorePart):
    """Implements the tools' `Changes`; all methods raise StoreErrors."""

    async def add(self, changes: Collection[FileChange]) -> None:
        """Store the changes atomically."""
        await self._writer.write(lambda c: add_changes(c, changes))

    async def of(self, turn: TurnId) -> tuple[FileChange, ...]:
        """Return the changes of this turn."""
        rows = await self._rows(_OF, (turn,))
        return tuple(load_change(json.loads(text)) for (text,) in rows)

    @snapshot
    def recent(self, connection: apsw.Connection, limit: int) -> tuple[TurnId, ...]:
        """Return the turns that changed files, newest first."""
        found: dict[str, None] = {}
        rows = [(2**63 - 1, "")]
        while rows and len(found) < limit:
            rows = all_rows(connection, _NEWEST, (rows[-1][0], _AT_ONCE))
            found.update((turn, None) for _, turn in rows)
        return tuple(map(TurnId, found))[:limit]


def add_changes(connection: apsw.Connection, changes: Collection[FileChange]) -> None:
    """Store the changes."""
    content_writer = ContentWriter(connection)
    for change in changes:
        blob = None if change.before is None else change.before.blob
        connection.execute(_INSERT, (change.turn, change.at, blob, content_writer(json.dumps(dump_change(change)))))


def dump_change(change: FileChange) -> dict[str, Any]:
    """Return a change as JSON."""
    before, after = (
        None if each is None else {"hash": each.hash, "mode": each.mode, "blob": each.blob}
        for each in (change.before, change.after)
    )
    return {
        "id": change.id,
        "turn": change.turn,
        "call": change.call,
        "path": change.path,
        "before": before,
        "after": after,
        "made": change.made,
        "at": change.at,
    }


def load_change(found: Mapping[str, Any]) -> FileChange:
    """Parse the result of `dump_change`."""
    before, after = (
        FileVersion(part["hash"], part["mode"], part.get("blob")) if part else None
        for part in (found["before"], found["after"])
    )
    turn, call, made = TurnId(found["turn"]), CallId(found["call"]), tuple(found["made"])
    return FileChange(found["id"], turn, call, found["path"], before, after, made, found.get("at", 0))
