"""Tasks: each accepted message and its state, for lists."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import apsw

from hob.core.ids import InboundId, SessionKey, TaskId, TraceId, TurnId
from hob.core.states import TASK_MOVES, TASK_OF_TURN, TaskState, TurnState
from hob.core.turns import WaitsFor
from hob.core.values import dataclass
from hob.store.database.part import StorePart
from hob.store.database.rows import marks
from hob.store.database.state_moves import sources
from hob.store.titles import title_of

_SOURCES: Mapping[TaskState, tuple[TaskState, ...]] = {state: sources(TASK_MOVES, state) for state in TaskState}
_INSERT = (
    "INSERT INTO tasks (id, inbound, session, trace_id, state, title, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_SELECT = (
    "SELECT t.id, t.inbound, t.turn, t.session, t.trace_id, t.state, c.text, t.reason, t.created, t.updated,"
    " u.waits_for, q.text FROM tasks t LEFT JOIN content c ON c.id = t.title LEFT JOIN turns u ON u.id = t.turn"
    " LEFT JOIN content q ON q.id = u.question"
)
_OF_TURN = f"{_SELECT} WHERE t.id = (SELECT id FROM inbox WHERE turn = ? ORDER BY seq LIMIT 1)"  # noqa: S608
_CAME_THROUGH = (
    "EXISTS (SELECT 1 FROM inbox i WHERE i.id = t.inbound AND instr(i.sender, ?) = 1)"
    " AND t.seq > (SELECT max(seq) - 20000 FROM tasks)"  # the number of rows searched
)
_state = cache(TaskState)
_OPEN = "t.state IN ('pending', 'running', 'waiting')"
_ENDED = "t.state NOT IN ('pending', 'running', 'waiting')"
_BEFORE = "t.seq < (SELECT seq FROM tasks WHERE id = ?)"


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task. `title` is the first line of its message, empty if erased. `waits_for` is what its turn waits for, and
    `question` what it asks.
    """

    id: TaskId
    inbound: InboundId | None
    turn: TurnId | None
    session: SessionKey
    trace: TraceId
    state: TaskState
    title: str
    reason: str
    created: float
    updated: float
    waits_for: WaitsFor | None
    question: str


def add_task(
    connection: apsw.Connection, inbound: InboundId, session: str, trace: str, state: TaskState, title: int, at: float
) -> None:
    """Add the task of an accepted message."""
    connection.execute(_INSERT, (inbound, inbound, session, trace, state.value, title, at, at))


def follow_turn(connection: apsw.Connection, turn: TurnId, state: TurnState, at: float, reason: str = "") -> None:
    """Update the turn's tasks to the turn's state."""
    _move(connection, "turn = ?", (turn,), TASK_OF_TURN[state], at, reason)


def give_to_turn(connection: apsw.Connection, inbounds: Sequence[InboundId], turn: TurnId, at: float) -> None:
    """Assign these messages' tasks to the turn."""
    connection.execute(
        f"UPDATE tasks SET turn = ?, state = 'running', updated = ? WHERE id IN ({marks(inbounds)})"  # noqa: S608
        " AND state IN ('pending', 'waiting')",
        (turn, at, *inbounds),
    )


def _move(
    connection: apsw.Connection, where: str, values: Sequence[Any], state: TaskState, at: float, reason: str
) -> None:
    olds = _SOURCES[state]
    connection.execute(
        f"UPDATE tasks SET state = ?, updated = ?, reason = ? WHERE {where} AND state IN ({marks(olds)})",  # noqa: S608
        (state.value, at, reason, *values, *olds),
    )


def _load(row: Sequence[Any]) -> TaskRow:
    id, inbound, turn, session, trace, state, title, reason, created, updated, waits, question = row
    return TaskRow(
        id, inbound, turn, session, trace, _state(state), title_of(title), reason,
        created, updated, None if waits is None else WaitsFor(waits), question or "",
    )  # fmt: skip


class Tasks(StorePart):
    """The tasks of Hob."""

    async def get(self, id: str) -> TaskRow | None:
        """Return a task, or None."""
        rows = await self._rows(f"{_SELECT} WHERE t.id = ?", (id,))
        return _load(rows[0]) if rows else None

    async def of_turn(self, turn: TurnId) -> TaskRow | None:
        """Return the task of the message a turn began with, or None."""
        rows = await self._rows(_OF_TURN, (turn,))
        return _load(rows[0]) if rows else None

    async def find(
        self,
        limit: int = 50,
        open_only: bool = False,
        state: str = "",
        channel: str = "",
        offset: int = 0,
        *,
        ended_only: bool = False,
        before: str = "",
    ) -> tuple[TaskRow, ...]:
        """Return tasks, newest first, skipping `offset`: those in this state, otherwise only open or ended ones; of one
        channel, and older than the task `before`, if given.
        """
        which = "t.state = ?" if state else _OPEN if open_only else _ENDED if ended_only else ""
        where = " AND ".join(filter(None, (which, channel and _CAME_THROUGH, before and _BEFORE)))
        sql = f"{_SELECT} {where and 'WHERE'} {where} ORDER BY t.seq DESC LIMIT ? OFFSET ?"
        values = (
            *([state] if state else ()),
            *([f"{channel}:"] if channel else ()),
            *filter(None, [before]),
            limit,
            offset,
        )
        return tuple(_load(row) for row in await self._rows(sql, values))
