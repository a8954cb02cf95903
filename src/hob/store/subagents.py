"""Runs of sub-agents, and messages Hob sends to itself."""

import json
from collections.abc import Sequence
from typing import Any, Unpack

import apsw

from hob.core.errors import InvalidCall
from hob.core.events.timeline import TimelineEvent
from hob.core.ids import CallId, InboundId, SessionKey, TraceId, TurnId
from hob.core.messages import Address, Inbound
from hob.core.states import FINAL_TURNS, TurnState
from hob.core.tools import ToolResult
from hob.core.trust.labels import Trust
from hob.core.turns import SessionChange
from hob.core.values import dataclass
from hob.store.codec import INBOUND_VERSION, dump_inbound, dump_json, load_inbound
from hob.store.database.part import StorePart, snapshot, transaction
from hob.store.database.rows import all_rows, find_row
from hob.store.erasure.content import ContentWriter
from hob.store.sessions import change_session
from hob.store.timeline import write_events
from hob.store.turns.late_results import put_result
from hob.store.turns.turns import wake_turn

SPAWN, SEND = "spawn", "send"
_WITH_TURN = (
    "FROM subagents s LEFT JOIN inbox i ON i.id = coalesce((SELECT x.id FROM inbox x WHERE x.id = s.steer), s.id)"
    " LEFT JOIN turns t ON t.id = i.turn"
)
_STEER = "UPDATE subagents SET steer = ? WHERE id = ? AND why = '' AND taken IS NULL RETURNING 1"
_SELECT = (
    "SELECT s.id, s.kind, s.turn, s.parent, s.root, s.session, s.depth, s.name, l.text, s.origin, s.cleanup, s.seconds,"
    " s.created, s.why, s.taken, s.closed, s.steer, i.id, i.state, t.id, t.state, t.created, t.ended, p.state,"
    f" p.trace_id {_WITH_TURN} LEFT JOIN content l ON l.id = s.label LEFT JOIN turns p ON p.id = s.turn"
)
_INSERT = (
    "INSERT OR IGNORE INTO subagents (id, kind, turn, parent, root, session, depth, name, label, origin, cleanup,"
    " seconds, created, taken, closed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING 1"
)
_HANDED_OVER = "s.closed = 0 AND s.taken IS NOT NULL"
_ENDED = "CASE WHEN s.kind = 'send' OR s.cleanup = 'delete' THEN 0 ELSE coalesce(t.ended, s.created) END"
_ENQUEUE = "INSERT OR IGNORE INTO self_messages (key, turn, run, body) VALUES (?, ?, ?, ?)"
_END_ALL = (
    "UPDATE subagents SET why = ? WHERE why = '' AND closed = 0 AND taken IS NULL"
    " AND NOT EXISTS (SELECT 1 FROM inbox i JOIN turns t ON t.id = i.turn"
    " WHERE i.id = coalesce(subagents.steer, subagents.id) AND t.ended IS NOT NULL)"
)
_END_OF = f"{_END_ALL} AND kind = 'spawn' AND (parent = ? OR root = ?) RETURNING 1"
_PENDING = f"{_SELECT} WHERE s.closed = 0 AND s.taken IS NULL ORDER BY s.seq"
_QUEUED = "SELECT m.key, m.run, c.text FROM self_messages m JOIN content c ON c.id = m.body ORDER BY m.rowid"
_AWAITING = (
    "SELECT t.id, t.session, json_extract(c.text, '$.call')"
    " FROM turns t INDEXED BY turns_open"
    " CROSS JOIN steps s ON s.turn = t.id AND s.kind = 'result_awaited' JOIN content c ON c.id = s.body"
    " WHERE t.state IN ('ready', 'running', 'parked') AND t.state = 'parked' AND t.waits_for = 'child'"
    " AND json_extract(c.text, '$.on') = 'child' ORDER BY t.seq, s.n"
)
_OUTCOME = (
    "SELECT c.text, (SELECT json_extract(b.text, '$.trust') FROM steps s JOIN content b ON b.id = s.body"
    " WHERE s.turn = t.id AND s.kind = 'model_asked' AND b.text IS NOT NULL ORDER BY s.n DESC LIMIT 1)"
    " FROM turns t LEFT JOIN content c ON c.id = t.reply WHERE t.id = ?"
)
_TAKE = "UPDATE subagents SET taken = ? WHERE id = ? AND taken IS NULL"
_OPEN_CHILDREN = (
    "SELECT count(*) FROM subagents s LEFT JOIN inbox i ON i.id = coalesce(s.steer, s.id)"
    " WHERE s.parent = ? AND s.kind = 'spawn'"
    " AND s.why = '' AND coalesce(i.state, '') != 'settled'"
)


@dataclass(frozen=True, slots=True)
class SubagentRow:
    """One delegated run. `id` is its message, `turn` and `parent` delegated it, `root` pays for it.

    `origin` is the chat its report goes to. `why` is the reason if it was ended from outside, `taken` the receiver of
    its result. `steer` is the newest message that corrected it; its turn becomes the run's. `waits` means that its turn
    is parked.
    """

    id: InboundId
    kind: str
    turn: TurnId
    parent: SessionKey
    root: SessionKey
    session: SessionKey
    depth: int
    name: str
    label: str
    origin: Address
    cleanup: str = "keep"
    seconds: float = 0.0
    created: float = 0.0
    why: str = ""
    taken: str | None = None
    steer: InboundId | None = None
    closed: bool = False
    status: str = "accepted"
    """`accepted`, `running`, `completed`, `failed`, `timeout` or `killed`."""
    own_turn: TurnId | None = None
    waits: bool = False
    began: float | None = None
    ended: float | None = None
    parent_state: TurnState | None = None
    parent_trace: TraceId | None = None

    @property
    def open(self) -> bool:
        """Whether it has not ended."""
        return self.status in ("accepted", "running")


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message Hob sends to itself, with the id of its run, if any."""

    key: str
    run: InboundId
    inbound: Inbound


@dataclass(frozen=True, slots=True)
class AwaitingCall:
    """A call of a parked turn that waits for the sub-agents of its session."""

    turn: TurnId
    session: SessionKey
    call: CallId


@dataclass(frozen=True, slots=True)
class SubagentWork:
    """Pending work, oldest first: undelivered results, unaccepted messages, waiting calls."""

    runs: tuple[SubagentRow, ...]
    queued: tuple[QueuedMessage, ...]
    awaiting: tuple[AwaitingCall, ...]


class StoredSubagents(StorePart):
    """Runs of sub-agents and their first messages."""

    @transaction
    def add(
        self,
        connection: apsw.Connection,
        row: SubagentRow,
        inbound: Inbound,
        maximum: int = 0,
        events: Sequence[TimelineEvent] = (),
        **chosen: Unpack[SessionChange],
    ) -> None:
        """Store the run, the session's choices, its message and the events; idempotent.

        Raises InvalidCall if its parent has `maximum` open children, StoreErrors.
        """
        at = self._now()
        to = row.origin
        origin = dump_json([to.channel, to.chat, to.account, to.thread])
        if find_row(connection, "SELECT 1 FROM subagents WHERE id = ?", (row.id,)) is not None:
            return
        found = find_row(connection, _OPEN_CHILDREN, (row.parent,)) or (0,)
        if row.kind == SPAWN and found[0] >= maximum:
            raise InvalidCall(f"{found[0]} sub-agents of this session are at work; wait for one (sessions_yield)")
        content_writer = ContentWriter(connection)
        values = (
            row.id, row.kind, row.turn, row.parent, row.root, row.session, row.depth, row.name,
            content_writer.maybe(row.label), origin, row.cleanup, row.seconds, at, row.taken, row.taken is not None,
        )  # fmt: skip
        all_rows(connection, _INSERT, values)
        _enqueue(connection, content_writer, row.turn, row.id, inbound)
        write_events(connection, content_writer, events)
        if chosen:
            change_session(connection, row.session, at, chosen)

    @transaction
    def steer(self, connection: apsw.Connection, turn: TurnId, run: InboundId, inbound: Inbound) -> None:
        """Queue a message that corrects a run, which stays open until it is answered; idempotent by its key.

        Raises InvalidCall if the run has ended, StoreErrors.
        """
        if find_row(connection, _STEER, (inbound.id, run)) is None:
            raise InvalidCall("it has just ended; its report is on the way")
        _enqueue(connection, ContentWriter(connection), turn, run, inbound)

    async def unsteer(self, id: InboundId, steer: InboundId) -> None:
        """Record that a message that corrects this run was refused. Raises StoreErrors."""
        sql = "UPDATE subagents SET steer = NULL WHERE id = ? AND steer = ?"
        await self._writer.write(lambda c: c.execute(sql, (id, steer)).fetchall())

    @transaction
    def remove_queued(self, connection: apsw.Connection, key: str, *events: TimelineEvent) -> None:
        """Remove a queued message that was accepted or is obsolete, and write the events."""
        all_rows(connection, "DELETE FROM self_messages WHERE key = ?", (key,))
        write_events(connection, ContentWriter(connection), events)

    async def end(self, id: InboundId, why: str) -> None:
        """End a run from outside, with this reason; the first reason is kept."""
        sql = "UPDATE subagents SET why = ? WHERE id = ? AND why = ''"
        await self._execute(sql, (why, id))

    async def end_all(self, why: str) -> None:
        """End all open runs from outside, with this reason. Raises StoreErrors."""
        await self._execute(_END_ALL, (why,))

    async def end_of(self, session: SessionKey, why: str) -> bool:
        """End the open runs of a session's tree, with this reason; return whether there were any."""
        return bool(await self._writer.write(lambda c: c.execute(_END_OF, (why, session, session)).fetchall()))

    @transaction
    def take(self, connection: apsw.Connection, id: InboundId, by: str, *events: TimelineEvent) -> None:
        """Record that the result was delivered, and write the events."""
        all_rows(connection, _TAKE, (by, id))
        write_events(connection, ContentWriter(connection), events)

    @transaction
    def hand_over(
        self,
        connection: apsw.Connection,
        ids: Sequence[InboundId],
        turn: TurnId,
        result: ToolResult,
        events: Sequence[TimelineEvent],
    ) -> None:
        """Deliver the results to a call of a parked turn, which becomes ready; idempotent."""
        content_writer = ContentWriter(connection)
        put_result(connection, content_writer, turn, result)
        for id in ids:
            all_rows(connection, _TAKE, (f"{turn}.{result.call}", id))
        write_events(connection, content_writer, events)
        wake_turn(connection, turn, self._now())

    async def close(self, id: InboundId) -> None:
        """Close a run that needs no further work."""
        await self._execute("UPDATE subagents SET closed = 1 WHERE id = ?", (id,))

    async def work(self) -> SubagentWork:
        """Return the pending work in one snapshot. Raises StoreErrors."""
        return await self._readers.read(_load_work)

    async def handed_over(self, before: float) -> tuple[SubagentRow, ...]:
        """Return runs with delivered results whose sessions can be archived: immediately, or ended before this time."""
        return await self._select(f"{_HANDED_OVER} AND {_ENDED} <= ?", (before,))

    async def next_handed_over(self) -> float | None:
        """Return when the first of these runs ended, or None."""
        sql = f"SELECT min({_ENDED}) {_WITH_TURN} WHERE {_HANDED_OVER}"
        return await self._time(sql)

    async def of(self, session: SessionKey) -> tuple[SubagentRow, ...]:
        """Return the runs of a session's tree: its own and those of its sub-agents, oldest first."""
        return await self._select("s.parent = ? OR s.root = ?", (session, session))

    async def unawaited(self, session: SessionKey) -> dict[SessionKey, str]:
        """Return the sub-agents whose results the session has not received: their sessions, with their labels."""
        rows = await self._select("s.parent = ? AND s.kind = 'spawn' AND s.taken IS NULL", (session,))
        return {row.session: row.label or row.name or row.id for row in rows if row.why != "killed"}

    async def spawned_as(self, session: SessionKey) -> SubagentRow | None:
        """Return the run of a sub-agent's session; None for other sessions."""
        rows = await self._select("s.session = ? AND s.kind = 'spawn'", (session,))
        return rows[0] if rows else None

    @snapshot
    def outcome(self, connection: apsw.Connection, row: SubagentRow) -> tuple[str, Trust]:
        """Return a run's reply and the trust of the last request that was answered."""
        reply, trust = find_row(connection, _OUTCOME, (row.own_turn,)) or ("", None)
        return reply or "", Trust.UNTRUSTED if trust is None else Trust(trust)

    async def find(self, id: str) -> SubagentRow | None:
        """Return a run, or None."""
        rows = await self._select("s.id = ?", (id,))
        return rows[0] if rows else None

    async def _select(self, where: str, values: Sequence[Any] = ()) -> tuple[SubagentRow, ...]:
        sql = f"{_SELECT} WHERE {where} ORDER BY s.seq"
        return tuple(_load(row) for row in await self._rows(sql, values))


def _enqueue(
    connection: apsw.Connection, content_writer: ContentWriter, turn: TurnId, run: str, inbound: Inbound
) -> None:
    if find_row(connection, "SELECT 1 FROM self_messages WHERE key = ?", (inbound.key,)) is None:
        body = dump_json([INBOUND_VERSION, inbound.text, dump_inbound(inbound)])
        connection.execute(_ENQUEUE, (inbound.key, turn, run, content_writer(body)))


def _load_work(connection: apsw.Connection) -> SubagentWork:
    queued = (_load_queued(*row) for row in all_rows(connection, _QUEUED) if row[2] is not None)
    newest = {
        turn: AwaitingCall(TurnId(turn), SessionKey(session), CallId(call))
        for turn, session, call in all_rows(connection, _AWAITING)
    }
    return SubagentWork(tuple(map(_load, all_rows(connection, _PENDING))), tuple(queued), tuple(newest.values()))


def _load_queued(key: str, run: str, body: str) -> QueuedMessage:
    version, text, inbound = json.loads(body)
    return QueuedMessage(key, InboundId(run), load_inbound(version, text, inbound))


def _load(row: Sequence[Any]) -> SubagentRow:
    (id, kind, turn, parent, root, session, depth, name, label, origin, cleanup, seconds, created, why, taken, closed,
     steer, message, inbox, own, state, began, ended, parent_state, parent_trace) = row  # fmt: skip
    turn_state = None if state is None else TurnState(state)
    status = _status(why, inbox, turn_state)
    if steer not in (None, message) and not why:
        status = "running"  # it is still to be corrected
    return SubagentRow(
        InboundId(id), kind, TurnId(turn), SessionKey(parent), SessionKey(root), SessionKey(session), depth, name,
        label or "", _address(origin), cleanup, seconds, created, why, taken, steer, bool(closed),
        status, own, turn_state is TurnState.PARKED, began, ended,
        None if parent_state is None else TurnState(parent_state), parent_trace,
    )  # fmt: skip


def _address(text: str) -> Address:
    channel, chat, account, thread = json.loads(text)
    return Address(channel, chat, account, thread)


def _status(why: str, inbox: str | None, state: TurnState | None) -> str:
    if state is None:
        return (why or "killed") if inbox == "settled" or (inbox is None and why) else "accepted"
    if state not in FINAL_TURNS:
        return "running"
    if state in (TurnState.DONE, TurnState.SILENT):
        return "completed"
    return (why or "killed") if state is TurnState.CANCELLED else "failed"
