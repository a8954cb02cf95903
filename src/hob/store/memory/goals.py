"""Goals of a person. Each has an item of its own that makes it findable; its notes are items derived from that item."""

from dataclasses import replace

import apsw

from hob.core.clock import utc_day
from hob.core.errors import NotFound
from hob.core.memory import OWNER, Fact, Goal, GoalMove, GoalNote, GoalState, Layer, MemoryItem, Scope
from hob.core.translation.language import translatable
from hob.core.trust.labels import Label, Origin, Trust
from hob.store.database.part import StorePart, snapshot, transaction
from hob.store.database.rows import Row, all_rows, find_row
from hob.store.memory.items import add_items, erase_items

SOURCE = f"{Layer.FACT}:goal"
KIND, NOTE = "goal", "progress"
_COLUMNS = "i.id, c.text, g.state, g.due, i.at, g.changed, i.origin, i.trust, i.session, i.turn"
_GOALS = (
    f"SELECT {_COLUMNS} FROM memory_goals g JOIN memory_items i USING (seq) JOIN content c ON c.id = i.text"  # noqa: S608
    " WHERE g.scope = ? AND g.agent = ? AND c.text IS NOT NULL"
)
_OPEN = "SELECT count(*) FROM memory_goals WHERE scope = ? AND agent = ? AND state = 'open'"
_ALL = f"{_GOALS} ORDER BY g.state != 'open', coalesce(g.due, 9e18), g.seq"
_ONE = f"{_GOALS} AND i.id >= ? AND i.id < ? LIMIT 2"
_NOTES = (
    "SELECT e.source, i.id, c.text, i.at, i.trust FROM memory_evidence e JOIN memory_items i USING (seq)"
    " JOIN content c ON c.id = i.text WHERE i.scope = ? AND i.agent = ? AND i.source = ? AND i.kind = ?"
    " AND c.text IS NOT NULL ORDER BY i.seq"
)
_SAID = (
    "SELECT k.id, m.id, substr(c.text, 1, 200), m.at, m.trust FROM memory_goals g JOIN memory_items k USING (seq)"
    " JOIN memory_evidence e ON e.seq = g.seq JOIN memory_items m ON m.id = e.source JOIN content c ON c.id = m.text"
    " WHERE g.scope = ? AND g.agent = ? AND c.text IS NOT NULL ORDER BY m.seq"
)
"""The words that a goal was taken from."""
_TAKEN = (
    f"SELECT {_COLUMNS} FROM memory_items n JOIN memory_items i"  # noqa: S608
    f" ON i.id = CASE n.kind WHEN '{KIND}' THEN n.id ELSE n.evidence ->> 0 END"
    " JOIN memory_goals g ON g.seq = i.seq JOIN content c ON c.id = i.text WHERE n.source = ? AND +n.scope = ?"
    " AND +n.agent = ? AND n.seq > ? AND c.text IS NOT NULL"
    " AND EXISTS (SELECT 1 FROM timeline t WHERE t.event_id = n.id) ORDER BY n.seq"
)
"""Goals that were taken in the background, found by their items' events in the timeline."""
_STAYS = "UPDATE memory_items SET expires_at = NULL WHERE id = ?"
_WITH_NOTES = (
    "SELECT i.seq FROM memory_items i WHERE i.scope = ?1 AND i.agent = ?2 AND (i.id = ?3 OR i.seq IN"  # noqa: S608
    f" (SELECT seq FROM memory_evidence WHERE source = ?3) AND i.source = '{SOURCE}' AND i.kind = '{NOTE}')"
)
_CLOSING = f"{_WITH_NOTES} AND i.kind = '{NOTE}' AND i.at = (SELECT valid_to FROM memory_items WHERE id = ?3)"  # noqa: S608
_PREDICATES = {GoalState.OPEN: "has_the_goal", GoalState.DONE: "has_reached", GoalState.DROPPED: "has_dropped"}
_ADD = "INSERT INTO memory_goals (seq, scope, agent, state, due, changed) VALUES (?, ?, ?, ?, ?, ?)"
_SEQ = "SELECT seq FROM memory_items WHERE id = ?"
_CHANGE = "UPDATE memory_goals SET state = ?, due = ?, changed = ? WHERE seq = ?"
_CLOSED = (
    "UPDATE memory_items SET valid_to = iif(?1 = 'open', NULL, ?2) WHERE seq = ?3"
    " AND (SELECT state FROM memory_goals WHERE seq = ?3) != ?1"
)
_SHORTEST = 6


class StoredGoals(StorePart):
    """Implements `Goals`. Every call names a scope."""

    @snapshot
    def goals(self, connection: apsw.Connection, scope: Scope) -> list[Goal]:
        """Return all goals with their notes, open ones first by due date. Raises StoreErrors."""
        whose = (scope.person, scope.agent)
        rows = all_rows(connection, _ALL, whose)
        notes: dict[str, list[GoalNote]] = {}
        if not rows:
            return []
        said = all_rows(connection, _SAID, whose)
        for goal, id, text, at, trust in [*said, *all_rows(connection, _NOTES, (*whose, SOURCE, NOTE))]:
            notes.setdefault(goal, []).append(GoalNote(text, at, id, trust == Trust.TRUSTED))
        found = (_load(row) for row in rows)
        return [replace(goal, evidence=tuple(notes.get(goal.id, ()))) for goal in found]

    async def count(self, scope: Scope) -> int:
        """Count the open goals. Raises StoreErrors."""
        whose = (scope.person, scope.agent)
        return int((await self._rows(_OPEN, whose))[0][0])

    async def add(self, scope: Scope, goal: Goal) -> Goal:
        """Add a goal, or return the open one with the same text. Raises StoreErrors."""
        now = self._now()

        def job(connection: apsw.Connection) -> Goal:
            if (known := _standing(connection, scope, goal.text)) is not None:
                return _put(connection, replace(known, due=known.due if goal.due is None else goal.due), now)
            added = _keep(connection, scope, goal, now)
            id = added[0].id if added else ""
            return replace(goal, id=id, state=GoalState.OPEN, created=now, changed=now, evidence=())

        return await self._whole(scope, await self._writer.write(job))

    async def change(
        self, scope: Scope, id: str, state: GoalState | None, due: float | None, note: GoalNote | None, label: Label
    ) -> Goal:
        """Change state or due date, or add a note; None leaves a value unchanged. Raises NotFound, StoreErrors."""
        now = self._now()

        def job(connection: apsw.Connection) -> Goal:
            values = (scope.person, scope.agent, id, f"{id}g")
            rows = all_rows(connection, _ONE, values) if len(id) >= _SHORTEST else []
            if len(rows) != 1:
                raise NotFound(translatable("there is no goal {id}", id=id))
            goal = _load(rows[0])
            if note is not None:
                _note(connection, scope, goal, note, label, now)
            changed = replace(goal, state=state or goal.state, due=goal.due if due is None else due)
            return _put(connection, changed, now)

        return await self._whole(scope, await self._writer.write(job))

    async def turn_back(self, scope: Scope, id: str) -> tuple[Goal, Goal | None]:
        """Reopen a closed goal without the note that closed it, or erase an open one with its notes.

        Returns the goal before and after. Raises NotFound, StoreErrors.
        """
        known = [goal for goal in await self.goals(scope) if len(id) >= _SHORTEST and goal.id.startswith(id)]
        if len(known) != 1:
            raise NotFound(translatable("there is no goal {id}", id=id))
        (before,) = known
        return before, await self._turn_back(scope, before)

    @transaction
    def _turn_back(self, connection: apsw.Connection, scope: Scope, goal: Goal) -> Goal | None:
        closed, now = goal.state is not GoalState.OPEN, self._now()
        rows = all_rows(connection, _CLOSING if closed else _WITH_NOTES, (scope.person, scope.agent, goal.id))
        erase_items(connection, [row[0] for row in rows], now)
        return _put(connection, replace(goal, state=GoalState.OPEN), now) if closed else None

    async def _whole(self, scope: Scope, goal: Goal) -> Goal:
        return next((each for each in await self.goals(scope) if each.id == goal.id), goal)


def _standing(connection: apsw.Connection, scope: Scope, text: str) -> Goal | None:
    """Return the open goal that says the same, if any."""
    same, known = _folded(text), map(_load, all_rows(connection, _ALL, (scope.person, scope.agent)))
    return next((each for each in known if each.state is GoalState.OPEN and _folded(each.text) == same), None)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _keep(connection: apsw.Connection, scope: Scope, goal: Goal, now: float) -> list[MemoryItem]:
    item = MemoryItem(
        scope=scope, layer=Layer.FACT, source=SOURCE, text=goal.text, label=goal.label, at=now,
        session=goal.session, turn=goal.turn, position=int(now * 1000), role="assistant", kind=KIND,
        evidence=tuple(note.id for note in goal.evidence),
    )  # fmt: skip
    added = add_items(connection, [item])
    for each in added:
        put_goal(connection, each, replace(goal, state=GoalState.OPEN, changed=now))
    return added


def _note(
    connection: apsw.Connection, scope: Scope, goal: Goal, note: GoalNote, label: Label, now: float
) -> list[MemoryItem]:
    said = (note.id,) if note.id else ()
    item = MemoryItem(
        scope=scope, layer=Layer.FACT, source=SOURCE, text=note.text, label=label, at=now, session=goal.session,
        position=int(now * 1000), role="assistant", kind=NOTE, evidence=(goal.id, *said),
    )  # fmt: skip
    return add_items(connection, [item])


def move_goal(connection: apsw.Connection, scope: Scope, move: GoalMove, now: float) -> MemoryItem | None:
    """Add a goal, or close one with the words that say so. Returns the item of either; None if nothing is new, or if
    the goal is gone.
    """
    goal, said = move.goal, move.said
    if goal.id and find_row(connection, _SEQ, (goal.id,)) is None:
        return None
    connection.execute(_STAYS, (said.id,))
    if goal.id:
        made = _note(connection, scope, goal, said, goal.label, now)
        _put(connection, goal, now)
    elif (known := _standing(connection, scope, goal.text)) is not None:
        due = known.due if goal.due is None else goal.due
        _put(connection, replace(known, due=due), now)
        made = []
    else:
        made = _keep(connection, scope, replace(goal, evidence=(said,)), now)
    return made[0] if made else None


def goals_since(connection: apsw.Connection, scope: Scope, seq: int) -> list[Fact]:
    """Return the goals taken from messages in items after this row, as facts with the goals' ids."""
    return [fact_of(_load(row)) for row in all_rows(connection, _TAKEN, (SOURCE, scope.person, scope.agent, seq))]


def fact_of(goal: Goal) -> Fact:
    """Return the goal as a sentence about the owner, under its own id."""
    due = f" (due {utc_day(goal.due)})" if goal.due is not None else ""
    predicate = _PREDICATES[goal.state]
    return Fact(subject=OWNER, predicate=predicate, object=f"\u201c{goal.text}\u201d{due}", at=goal.created, id=goal.id)


def put_goal(connection: apsw.Connection, item: MemoryItem, goal: Goal) -> None:
    """Record the goal that this item holds."""
    row = (item.seq, item.scope.person, item.scope.agent, goal.state.value, goal.due, goal.changed)
    connection.execute(_ADD, row)


def _put(connection: apsw.Connection, goal: Goal, now: float) -> Goal:
    (seq,) = find_row(connection, _SEQ, (goal.id,)) or (0,)
    connection.execute(_CLOSED, (goal.state.value, now, seq))
    connection.execute(_CHANGE, (goal.state.value, goal.due, now, seq))
    return replace(goal, changed=now)


def _load(row: Row) -> Goal:
    id, text, state, due, created, changed, origin, trust, session, turn = row
    return Goal(
        text=text, state=GoalState(state), due=due, created=created, changed=changed, id=id,
        label=Label(Origin(origin), Trust(trust)), session=session, turn=turn,
    )  # fmt: skip
