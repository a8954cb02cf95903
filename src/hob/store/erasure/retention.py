"""The SQL of retention: which rows are old enough to delete.

Unlike erasure it leaves no tombstone, since no one asked for the content to be forgotten. All promises hold without the
deleted rows: the same key still gets its answer, failures can be retried, open work continues, facts and hashes stay.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw

from hob.core.ids import ONE_TURN_PREFIX, BlobId
from hob.core.undo import with_undo_turns
from hob.store.blobs import blob_path
from hob.store.database.part import DatabaseAccess, StorePart
from hob.store.database.rows import Row, all_rows, changed, marks
from hob.store.erasure.selection import named_blobs
from hob.store.turns.requests import drop_requests, drop_requests_of

T = TypeVar("T")

_TURNS_AT_ONCE = 2_000
_ROWS_AT_ONCE = 500
_SESSIONS_AT_ONCE = 25

# A failed or quarantined turn may be retried from its steps; a finished or cancelled one may not.
_OVER = (
    "SELECT t.seq, t.id, t.trace_id FROM turns t WHERE t.state IN ('done', 'cancelled') AND t.ended < ? AND t.seq > ?"
    " AND EXISTS (SELECT 1 FROM steps s JOIN content c ON c.id = s.body WHERE s.turn = t.id AND c.text IS NOT NULL)"
    " ORDER BY t.seq LIMIT ?"
)
_STEPS = "SELECT body FROM steps WHERE turn IN ({turns})"
_TOLD = (
    "SELECT content FROM timeline WHERE trace_id IN ({traces}) AND turn IN ({turns})"
    " AND kind IN ('model', 'tool', 'policy', 'approval')"
)
# A text written twice in one transaction is one row, so texts that a conversation or receipt needs stay.
_NEEDED = (
    "SELECT text FROM transcript WHERE turn IN ({turns}) UNION SELECT extra FROM transcript WHERE turn IN ({turns})"
    " UNION SELECT reply FROM turns WHERE id IN ({turns}) UNION SELECT text FROM outbox WHERE turn IN ({turns})"
    " UNION SELECT extra FROM outbox WHERE turn IN ({turns})"
    " UNION SELECT shown FROM approvals WHERE turn IN ({turns})"
    " UNION SELECT detail FROM audit WHERE turn IN ({turns}) AND turn <> ''"
    " UNION SELECT content FROM timeline WHERE trace_id IN ({traces})"
    " AND kind NOT IN ('model', 'tool', 'policy', 'approval')"
)
# One-turn sessions in which no work is open and nothing has been deleted yet.
_ONCE = f"session GLOB '{ONE_TURN_PREFIX}*'"
_PASSED = (
    f"SELECT s.key FROM sessions s WHERE s.key GLOB '{ONE_TURN_PREFIX}*' AND s.updated < ? AND s.key > ?"  # noqa: S608
    f" AND EXISTS (SELECT 1 FROM inbox i JOIN content c ON c.id = i.body WHERE i.session = s.key AND i.{_ONCE}"
    " AND c.text IS NOT NULL)"
    f" AND NOT EXISTS (SELECT 1 FROM inbox i WHERE i.session = s.key AND i.{_ONCE} AND i.state != 'settled')"
    " AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session = s.key AND t.state IN ('ready', 'running', 'parked'))"
    " ORDER BY s.key LIMIT ?"
)
_TURNS_OF = "SELECT id FROM turns WHERE session = :key"
_SAID = (
    f"SELECT text FROM inbox WHERE session = :key AND {_ONCE}"  # noqa: S608
    f" UNION SELECT body FROM inbox WHERE session = :key AND {_ONCE}"
    " UNION SELECT title FROM sessions WHERE key = :key UNION SELECT content FROM timeline WHERE session = :key"
    " UNION SELECT text FROM transcript WHERE session = :key UNION SELECT extra FROM transcript WHERE session = :key"
    f" UNION SELECT body FROM steps WHERE turn IN ({_TURNS_OF}) UNION SELECT reply FROM turns WHERE session = :key"
    " UNION SELECT line FROM turns WHERE session = :key UNION SELECT question FROM turns WHERE session = :key"
    f" UNION SELECT text FROM outbox WHERE turn IN ({_TURNS_OF})"
    f" UNION SELECT extra FROM outbox WHERE turn IN ({_TURNS_OF})"
    f" UNION SELECT body FROM late_results WHERE turn IN ({_TURNS_OF})"
    f" UNION SELECT shown FROM approvals WHERE turn IN ({_TURNS_OF})"
    f" UNION SELECT question FROM approvals WHERE turn IN ({_TURNS_OF})"
    f" UNION SELECT bound FROM approvals WHERE turn IN ({_TURNS_OF})"
    " UNION SELECT text FROM working_notes WHERE session = :key"
    " UNION SELECT value FROM plugin_records WHERE session = :key"
)
_OF_UNDOING = {
    "undo_log": "planned, outcome", "file_changes": "body", "command_changes": "body", "commands": "text",
}  # fmt: skip
_UNDOABLE = (
    "SELECT t.id FROM turns t WHERE t.ended < :before AND t.id IN ("
    "SELECT turn FROM file_changes INDEXED BY file_changes_at WHERE at < :nanoseconds UNION ALL"
    " SELECT turn FROM command_changes INDEXED BY command_changes_at WHERE at < :nanoseconds)"
    " AND NOT EXISTS (SELECT 1 FROM commands m WHERE m.turn = t.id AND m.outcome = '')"
)
_DROP = "UPDATE content SET text = NULL, salt = NULL, erased = ? WHERE text IS NOT NULL AND id IN ({ids})"

_OLD_BLOBS = "SELECT id FROM blobs WHERE erased IS NULL AND at < ? ORDER BY at"
# Open, retryable or recent.
_UNFINISHED = "t.state NOT IN ('done', 'cancelled') AND t.retried_by IS NULL"
_LIVE_INBOUNDS = (
    "IN (SELECT i.body FROM inbox i WHERE i.state = 'waiting' OR i.at >= :since"  # noqa: S608
    f" OR EXISTS (SELECT 1 FROM turns t WHERE t.id = i.turn AND {_UNFINISHED}))"
)
_LIVE_STEPS = (
    "IN (SELECT s.body FROM steps s JOIN turns t ON t.id = s.turn WHERE s.kind = 'tool_received'"  # noqa: S608
    f" AND (s.at >= :since OR ({_UNFINISHED})))"
)
_LIVE_ENTRIES = "IN (SELECT extra FROM transcript WHERE at >= :since)"
_LIVE_SENT = "IN (SELECT extra FROM outbox WHERE created >= :since OR state != 'sent')"
_WITHDRAW = "UPDATE blobs SET erased = ? WHERE erased IS NULL AND id = ?"


class Retention(StorePart):
    """Deletes rows older than a time (Unix seconds), in small batches, so that no message is delayed."""

    def __init__(self, access: DatabaseAccess, home: Path) -> None:
        super().__init__(access)
        self._blobs = home / "blobs"

    async def drop_details(self, before: float) -> int:
        """Delete model and tool inputs and outputs of turns that ended well before then; return the number of texts.

        Raises StoreErrors.
        """
        dropped, last = 0, 0
        while turns := await self._readers.read(partial(_ended_turns, before, last)):
            details = await self._readers.read(partial(_details_of, turns))
            for some in _batches(details):
                dropped += await self._writer.write(partial(_drop, some, self._now()))
            last = turns[-1][0]
        await self._writer.write(lambda c: drop_requests(c, before))
        return dropped

    async def drop_one_turn_sessions(self, before: float) -> int:
        """Delete the texts of one-turn sessions that ended before then; return the number of texts.

        Raises StoreErrors.
        """
        dropped, last = 0, ""
        while sessions := await self._readers.read(partial(_expired_sessions, before, last)):
            for some in _batches(sessions, _SESSIONS_AT_ONCE):
                dropped += await self._writer.write(partial(_drop_sessions, some, self._now()))
            last = sessions[-1]
        return dropped

    async def drop_blobs(self, before: float) -> int:
        """Delete files stored before then, unless used or referenced again since; return how many.

        Raises StoreErrors.
        """
        return await self._withdraw(await self._readers.read(partial(_old_blobs, before)), before)

    async def drop_unnamed(self, blobs: Collection[str], at: float) -> int:
        """Delete those of these files that no message or result refers to; return how many. Raises StoreErrors."""
        named = await self._readers.read(named_blobs) if blobs else set[str]()
        return await self._withdraw(sorted(set(blobs) - named), at)

    async def drop_undo(self, before: float, at: float) -> int:
        """Delete undo data of turns that ended before then, which can no longer be undone; return how many.

        Those with running commands stay. Raises StoreErrors.
        """
        values = {"before": before, "nanoseconds": int(before * 1e9)}
        turns = [row[0] for row in await self._rows(_UNDOABLE, values)]
        blobs: set[str] = set()
        for some in _batches(sorted(with_undo_turns(turns))):
            blobs |= await self._writer.write(partial(_drop_undo, some, at))
        await self.drop_unnamed(blobs, at)
        return len(turns)

    async def drop_expired_records(self, at: float) -> int:
        """Delete expired records of features; return how many. Raises StoreErrors."""
        return await self._writer.write(partial(_drop_expired, at))

    async def _withdraw(self, blobs: Sequence[str], at: float) -> int:
        for some in _batches(blobs):
            await self._writer.write(partial(_withdraw, some, at, self._blobs))
        return len(blobs)


def _ended_turns(before: float, after: int, connection: apsw.Connection) -> list[Row]:
    return all_rows(connection, _OVER, (before, after, _TURNS_AT_ONCE))


def _expired_sessions(before: float, after: str, connection: apsw.Connection) -> list[str]:
    return [row[0] for row in all_rows(connection, _PASSED, (before, after, _ROWS_AT_ONCE))]


def _drop_session(session: str, at: float, connection: apsw.Connection) -> int:
    found = {row[0] for row in all_rows(connection, _SAID, {"key": session})} - {None}
    for table in ("open_groups", "working_notes", "plugin_records"):
        connection.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608
    drop_requests_of(connection, session)
    return sum(_drop(some, at, connection) for some in _batches(sorted(found)))


def _drop_sessions(sessions: Sequence[str], at: float, connection: apsw.Connection) -> int:
    return sum(_drop_session(session, at, connection) for session in sessions)


def _details_of(turns: Sequence[Row], connection: apsw.Connection) -> list[int]:
    ids, traces = [row[1] for row in turns], [row[2] for row in turns]
    places = [f"?{n}" for n in range(1, 2 * len(turns) + 1)]
    among = {"turns": ",".join(places[: len(turns)]), "traces": ",".join(places[len(turns) :])}
    found = {row[0] for row in all_rows(connection, _STEPS.format(**among), ids)}
    found |= {row[0] for row in all_rows(connection, _TOLD.format(**among), (*ids, *traces))}
    return sorted(found - {row[0] for row in all_rows(connection, _NEEDED.format(**among), (*ids, *traces))} - {None})


def _drop(ids: Sequence[int], at: float, connection: apsw.Connection) -> int:
    return changed(connection, _DROP.format(ids=marks(ids)), (at, *ids))


def _drop_undo(turns: Sequence[str], at: float, connection: apsw.Connection) -> set[str]:
    among, values = f"turn IN ({marks(turns)})", tuple(turns)
    blobs = all_rows(connection, f"SELECT blob FROM file_changes WHERE blob IS NOT NULL AND {among}", values)  # noqa: S608
    for table, columns in _OF_UNDOING.items():
        gone = all_rows(connection, f"DELETE FROM {table} WHERE {among} RETURNING {columns}", values)  # noqa: S608
        for some in _batches([id for row in gone for id in row if id is not None]):
            _drop(some, at, connection)
    return {row[0] for row in blobs}


def _drop_expired(at: float, connection: apsw.Connection) -> int:
    sql = "DELETE FROM plugin_records WHERE expires < ? RETURNING value"
    gone = [row[0] for row in all_rows(connection, sql, (at,))]
    return sum(_drop(some, at, connection) for some in _batches(gone))


def _old_blobs(before: float, connection: apsw.Connection) -> list[BlobId]:
    old = [BlobId(row[0]) for row in all_rows(connection, _OLD_BLOBS, (before,))]
    if not old:
        return []
    live = named_blobs(
        connection, _LIVE_INBOUNDS, _LIVE_STEPS, _LIVE_ENTRIES, sent=_LIVE_SENT, values={"since": before}
    )
    return [blob for blob in old if blob not in live]


def _withdraw(blobs: Sequence[str], at: float, folder: Path, connection: apsw.Connection) -> None:
    for blob in blobs:
        connection.execute(_WITHDRAW, (at, blob))
        blob_path(folder, blob).unlink(missing_ok=True)


def _batches(things: Sequence[T], size: int = _ROWS_AT_ONCE) -> Iterator[Sequence[T]]:
    return (things[start : start + size] for start in range(0, len(things), size))
