"""Bitemporal facts: when something holds in the world, and when Hob believed it.

Facts are not changed: a record is closed and another one is written. Each fact has an item of its own that makes it
findable.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import apsw

from hob.core.clock import utc_day
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import EventId, SessionKey, TraceId, TurnId, new_event_id, new_span_id, new_trace_id
from hob.core.memory import Fact, FactChange, FactState, GoalMove, Layer, MemoryItem, Scope
from hob.core.translation.fact_words import ARTICLE, render_fact
from hob.core.trust.labels import Label, Origin, Trust
from hob.store.database.part import StorePart, transaction
from hob.store.database.rows import Row, all_rows, find_row, marks
from hob.store.erasure.content import ContentWriter, masked
from hob.store.memory.goals import KIND as GOAL
from hob.store.memory.goals import goals_since, move_goal
from hob.store.memory.items import add_items, are_stored, link_evidence
from hob.store.memory.work import PLACE, move_on
from hob.store.timeline import write_events

SOURCE = f"{Layer.FACT}:said"
Decide: TypeAlias = Callable[[Sequence[Fact]], FactChange | None]
"""Decides on a change, given what is known; None for no change."""

_COLUMNS = (
    "i.id, f.subject, f.predicate, f.object, i.at, c.text, f.valid_from, f.valid_to, f.recorded_from, f.recorded_to,"
    " f.confidence, f.state, i.evidence, f.change, f.closed"
)
_FACTS = (
    f"SELECT {_COLUMNS} FROM memory_facts f JOIN memory_items i USING (seq) JOIN content c ON c.id = i.text"  # noqa: S608
    " WHERE f.scope = ? AND f.agent = ? AND c.text IS NOT NULL"
)
_ORDER = " ORDER BY f.subject, f.predicate, coalesce(f.valid_from, i.at), f.seq"
_NOW = f"{_FACTS} AND f.recorded_to IS NULL{_ORDER}"
_KNOWN_AT = f"{_FACTS} AND f.recorded_from <= ? AND coalesce(f.recorded_to, 9e18) > ?{_ORDER}"
_ADD = (
    "INSERT INTO memory_facts (seq, scope, agent, subject, predicate, object, valid_from, valid_to, recorded_from,"
    " recorded_to, confidence, state, change, closed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_CLOSE = (
    "UPDATE memory_facts SET recorded_to = ?, closed = ? WHERE recorded_to IS NULL AND seq ="
    " (SELECT seq FROM memory_items WHERE id = ? AND scope = ? AND agent = ?)"
    " RETURNING seq, (SELECT evidence FROM memory_items i WHERE i.seq = memory_facts.seq)"
)
_SUPERSEDE = "UPDATE memory_items SET superseded_by = ? WHERE seq = ?"
_OUTDATE = (
    "UPDATE memory_items SET valid_to = ? WHERE layer = 'conversation' AND id IN (SELECT value FROM json_each(?))"
)
_KEEP = "UPDATE memory_items SET expires_at = NULL WHERE id IN (SELECT value FROM json_each(?))"
_EVIDENCE = "SELECT seq, evidence FROM memory_items WHERE id = ? AND scope = ? AND agent = ?"
_LAST_PLACE = "SELECT coalesce(max(position), 0) FROM memory_items WHERE source = ?"
_PUT_EVIDENCE = "UPDATE memory_items SET evidence = ? WHERE seq = ?"
_OF_CHANGE = f"{_FACTS} AND f.change = ? AND f.recorded_to IS NULL"
_BEGINNING = f"{_FACTS} AND i.id >= ? AND i.id < ? LIMIT 2"
_CLOSED_BY = f"{_FACTS} AND f.closed = ?"
_VERSIONS = (
    "SELECT DISTINCT i.id FROM memory_facts f JOIN memory_items i USING (seq) JOIN memory_facts m"
    " ON m.scope = f.scope AND m.agent = f.agent AND m.subject = f.subject AND m.predicate = f.predicate"
    " AND m.object = f.object JOIN memory_items k ON k.seq = m.seq WHERE f.scope = ? AND f.agent = ? AND k.id IN ({})"
)
_ENDED = (
    "SELECT e.source, f.subject, f.predicate, f.object FROM memory_evidence e JOIN memory_facts f USING (seq)"
    " WHERE f.scope = ? AND f.agent = ? AND f.state != 'asked' AND e.source IN ({}) AND NOT EXISTS (SELECT 1 FROM"
    " memory_facts m WHERE m.scope = f.scope AND m.agent = f.agent AND m.recorded_to IS NULL AND m.valid_to IS NULL"
    " AND m.subject = f.subject AND m.predicate = f.predicate AND m.object = f.object) ORDER BY f.seq"
)

TOLD, TELLING = "told", "telling"
"""Names of positions: the last item that the owner was told about, and the item from which the newest turn tells."""
_SAID = "SELECT i.session, i.turn, t.trace_id FROM memory_items i LEFT JOIN turns t ON t.id = i.turn WHERE i.id = ?"
_TEXT = "SELECT c.id, c.text FROM memory_items i JOIN content c ON c.id = i.text WHERE i.id = ?"
_NEWS = (
    f"{_FACTS} AND f.seq > ? AND f.recorded_to IS NULL AND f.valid_to IS NULL AND f.state != 'asked'"  # noqa: S608
    " AND EXISTS (SELECT 1 FROM timeline t WHERE t.event_id = f.change) ORDER BY f.seq"
)
_NEWEST = "SELECT coalesce(max(seq), 0) FROM memory_items WHERE layer = 'fact'"
_COUNT_DECISION = (
    "INSERT INTO memory_work (name, about, place) VALUES ('decided', ?, 1) ON CONFLICT DO UPDATE SET place = place + 1"
)
_DECISIONS = "SELECT about, place FROM memory_work WHERE name = 'decided'"
_COUNTS = (
    "SELECT count(*), total(state = 'asked'), total(valid_to IS NOT NULL),"
    " total(state = 'asked' AND valid_to IS NOT NULL),"
    " total(state != 'asked' AND coalesce(valid_from, 0) <= :now AND coalesce(valid_to, 9e18) > :now) FROM memory_facts"
    " WHERE scope = :person AND agent = :agent AND recorded_to IS NULL"
)
_TELLS_NO_MORE = "DELETE FROM memory_work WHERE name = ? AND about != ?"


class FactCounts(NamedTuple):
    """Number of current records: all, unconfirmed, ended, both of these, and confirmed ones that hold now."""

    all: int
    unsure: int
    ended: int
    unanswered: int
    so: int


class StoredFacts(StorePart):
    """Stores facts. Every call names a scope."""

    async def known(self, scope: Scope) -> list[Fact]:
        """Return the current records, including facts that have ended. Raises StoreErrors."""
        return await self._facts(_NOW, (scope.person, scope.agent))

    async def recorded(self, scope: Scope) -> list[Fact]:
        """Return all records that were not forgotten. Raises StoreErrors."""
        return await self._facts(f"{_FACTS}{_ORDER}", (scope.person, scope.agent))

    async def known_at(self, scope: Scope, at: float) -> list[Fact]:
        """Return what was recorded at that time. Raises StoreErrors."""
        return await self._facts(_KNOWN_AT, (scope.person, scope.agent, at, at))

    async def changed(self, scope: Scope, change: str) -> list[Fact]:
        """Return the records that this change made and that are still current. Raises StoreErrors."""
        return await self._facts(_OF_CHANGE, (scope.person, scope.agent, change))

    async def beginning(self, scope: Scope, id: str) -> list[Fact]:
        """Return at most two facts whose ids have this prefix, including closed ones. Raises StoreErrors."""
        return await self._facts(_BEGINNING, (scope.person, scope.agent, id, f"{id}g"))

    async def versions(self, scope: Scope, ids: Sequence[str]) -> list[str]:
        """Return the items of all records of these facts, including closed ones. Raises StoreErrors."""
        sql, values = _VERSIONS.format(marks(ids)), (scope.person, scope.agent, *ids)
        return [row[0] for row in await self._rows(sql, values)]

    async def ended(self, scope: Scope, messages: Collection[str]) -> dict[str, list[str]]:
        """Map each of these messages to the facts in it that no longer hold. Raises StoreErrors."""
        sql, values = _ENDED.format(marks(messages)), (scope.person, scope.agent, *messages)
        ended: dict[str, list[str]] = {}
        for message, *fact in await self._readers.read(lambda connection: all_rows(connection, sql, values)):
            told = ended.setdefault(message, [])
            told += {render_fact(*fact)}.difference(told)
        return ended

    @transaction
    def change(
        self,
        connection: apsw.Connection,
        scope: Scope,
        decisions: Sequence[Decide],
        change: str,
        work: tuple[str, str, int] | None = None,
        moves: Sequence[GoalMove] = (),
        sources: Sequence[MemoryItem] = (),
    ) -> list[Fact]:
        """Record the decisions in order, in one transaction with the progress of the work.

        If one of the `sources` they were taken from is gone, nothing is recorded, so that the work is repeated without
        it.

        Each decision is a change of its own, the first one under the given name, so that an undo reverts no other
        decision. Returns the new records, including goals as facts. Background work is reported in the timeline. Raises
        StoreErrors.
        """
        now = self._now()
        made: list[Fact] = []
        if not are_stored(connection, sources):
            return made
        for decide in decisions:
            known = [_load_fact(row) for row in all_rows(connection, _NOW, (scope.person, scope.agent))]
            wanted = decide(known)
            if work is not None:
                connection.execute(_COUNT_DECISION, (decision_of(wanted),))
            if wanted is not None:
                made += _record(connection, scope, wanted, new_event_id() if made else change, now)
        if work is not None:
            move_on(connection, *work)
            _report(connection, made, now)
        for move in moves:
            if (item := move_goal(connection, scope, move, now)) is not None:
                _write_event(connection, item.id, move.goal.id or item.id, item.id, move.said.id, GOAL, now)
                made += goals_since(connection, scope, item.seq - 1)
        return made

    async def count(self, scope: Scope) -> FactCounts:
        """Count the facts. Raises StoreErrors."""
        values = {"person": scope.person, "agent": scope.agent, "now": self._now()}
        rows = await self._rows(_COUNTS, values)
        return FactCounts(*map(int, rows[0]))

    async def decisions(self) -> dict[str, int]:
        """Return the number of times that each decision about a proposal was made. Raises StoreErrors."""
        return dict(await self._rows(_DECISIONS))

    async def news(self, scope: Scope, turn: TurnId) -> list[Fact]:
        """Return background records that the owner was not told about. The same turn gets the same records again.
        Raises StoreErrors.
        """
        if not await self._readers.read(lambda connection: _news(connection, scope, turn)):
            return []

        def job(connection: apsw.Connection) -> list[Fact]:
            found = _news(connection, scope, turn)
            connection.execute(_TELLS_NO_MORE, (TELLING, turn))
            move_on(connection, TELLING, turn, _told(connection, turn))
            move_on(connection, TOLD, "", all_rows(connection, _NEWEST)[0][0])
            return found

        return await self._writer.write(job)

    @transaction
    def undo(self, connection: apsw.Connection, scope: Scope, change: str, by: str) -> list[Fact]:
        """Restore the facts known before the change; return what the change had recorded. Raises StoreErrors."""
        now = self._now()
        whose = (scope.person, scope.agent, change)
        gone = [_load_fact(row) for row in all_rows(connection, _OF_CHANGE, whose)]
        back = [_load_fact(row) for row in all_rows(connection, _CLOSED_BY, whose)]
        evidence = {id for fact in back for id in fact.evidence}
        connection.execute(_OUTDATE, (None, json.dumps(sorted(evidence))))
        _record(connection, scope, FactChange(tuple(fact.id for fact in gone), tuple(back)), by, now)
        return gone

    async def _facts(self, sql: str, values: Sequence[object]) -> list[Fact]:
        return [_load_fact(row) for row in await self._rows(sql, values)]


def decision_of(change: FactChange | None) -> str:
    """Return the name of the decision."""
    if change is None:
        return "none"
    if change.confirmed:
        return "merge"
    if any(fact.state is FactState.ASKED for fact in change.added):
        return "ask"
    if any(fact.valid_to is not None for fact in change.added) and change.closed:
        return "supersede"
    return "update" if change.closed else "add"


def _told(connection: apsw.Connection, turn: TurnId) -> int:
    row = find_row(connection, PLACE, (TELLING, turn)) or find_row(connection, PLACE, (TOLD, ""))
    return 0 if row is None else int(row[0])


def _news(connection: apsw.Connection, scope: Scope, turn: TurnId) -> list[Fact]:
    told = _told(connection, turn)
    rows = all_rows(connection, _NEWS, (scope.person, scope.agent, told))
    return [*map(_load_fact, rows), *goals_since(connection, scope, told)]


def _report(connection: apsw.Connection, made: Sequence[Fact], now: float) -> None:
    """Report what was remembered in the timeline of the turn in which it was said, with the ids of the changes."""
    for fact in made:
        if fact.valid_to is None and fact.state is not FactState.ASKED:
            _write_event(connection, fact.change, fact.id, fact.id, "".join(fact.evidence[-1:]), "remembered", now)


def _write_event(connection: apsw.Connection, id: str, about: str, item: str, said: str, name: str, now: float) -> None:
    """Write an item's text into the turn of another item. `about` is the change that an undo reverts."""
    session, turn, trace = find_row(connection, _SAID, (said,)) or ("", "", None)
    row, text = all_rows(connection, _TEXT, (item,))[0]
    content_writer = ContentWriter(connection)
    content_writer.share(text, row)
    event = TimelineEvent(
        EventId(id), TraceId(trace) if trace else new_trace_id(), new_span_id(), None, now, EventKind.MEMORY, name,
        session=SessionKey(session) if session else None, turn=TurnId(turn) if turn else None,
        classification=about, label=Label(Origin.MODEL, Trust.TRUSTED), text=text,
    )  # fmt: skip
    write_events(connection, content_writer, [event])


def _record(connection: apsw.Connection, scope: Scope, change: FactChange, name: str, now: float) -> list[Fact]:
    made: list[Fact] = []
    for fact in change.added:
        fact = replace(fact, recorded_from=now, recorded_to=None, change=name, closed="")
        if fact.valid_to is not None and made:  # the fact ended because of the other one, and is forgotten with it
            fact = replace(fact, evidence=(*fact.evidence, made[0].id))
        if kept := _keep(connection, scope, fact):
            made.append(kept)
        elif not made:
            return []  # the fact was forgotten, so statements about it change nothing
    whose = (scope.person, scope.agent)
    rows = [find_row(connection, _CLOSE, (now, name, id, *whose)) for id in change.closed]
    closed = {row[0]: row[1] for row in rows if row is not None}
    for id, evidence in change.confirmed:
        _confirm(connection, scope, id, evidence)
    connection.execute(_KEEP, (json.dumps([id for fact in made for id in fact.evidence]),))
    ended = next((fact.valid_to for fact in made if fact.valid_to is not None), None)
    if ended is None and (not made or made[0].state is FactState.CORRECTED):
        ended = now
    for seq, evidence in closed.items():
        connection.execute(_SUPERSEDE, (made[-1].id if made else name, seq))
        if ended is not None:
            connection.execute(_OUTDATE, (ended, evidence))
    return made


def _keep(connection: apsw.Connection, scope: Scope, fact: Fact) -> Fact | None:
    fact = replace(
        fact, subject=masked(connection, fact.subject), object=masked(connection, fact.object),
        quote=masked(connection, fact.quote),
    )  # fmt: skip
    trust = Trust.UNTRUSTED if fact.state is FactState.ASKED else Trust.TRUSTED
    item = MemoryItem(
        scope=scope, layer=Layer.FACT, source=SOURCE, text=describe_fact(fact), label=Label(Origin.MODEL, trust),
        at=fact.at, position=_next_place(connection, fact), role="assistant", kind=fact.state.value,
        valid_from=fact.valid_from, valid_to=fact.valid_to, evidence=fact.evidence,
    )  # fmt: skip
    added = add_items(connection, [item], tombstone_of_fact(scope, fact))
    if not added:
        return None
    put_fact(connection, added[0], fact)
    return replace(fact, id=added[0].id)


def put_fact(connection: apsw.Connection, item: MemoryItem, fact: Fact) -> None:
    """Record the fact that this item holds."""
    connection.execute(
        _ADD,
        (
            item.seq, item.scope.person, item.scope.agent, fact.subject, fact.predicate, fact.object, fact.valid_from,
            fact.valid_to, fact.recorded_from, fact.recorded_to, fact.confidence, fact.state.value, fact.change,
            fact.closed,
        ),
    )  # fmt: skip


def _next_place(connection: apsw.Connection, fact: Fact) -> int:
    """Return the number that distinguishes records of one fact: the time in milliseconds, or the next free number."""
    last: int = all_rows(connection, _LAST_PLACE, (SOURCE,))[0][0]
    return max(int(fact.recorded_from * 1000), last + 1)


def _confirm(connection: apsw.Connection, scope: Scope, id: str, evidence: Sequence[str]) -> None:
    row = find_row(connection, _EVIDENCE, (id, scope.person, scope.agent))
    if row is not None:
        known: list[str] = json.loads(row[1])
        new = [each for each in evidence if each not in known]
        connection.execute(_PUT_EVIDENCE, (json.dumps([*known, *new]), row[0]))
        link_evidence(connection, row[0], new)
        connection.execute(_KEEP, (json.dumps(new),))


def tombstone_of_fact(scope: Scope, fact: Fact) -> bytes:
    """Return the identity of a forgotten fact, which is the same however the fact is derived again."""
    whole = "\0".join(("fact", scope.person, scope.agent, *fact.key, str(fact.valid_to), fact.state))
    return hashlib.sha256(whole.encode("utf-8", "replace")).digest()


def describe_fact(fact: Fact) -> str:
    """Format the fact as a line for search and display."""
    since = f"since {utc_day(fact.valid_from)}" if fact.valid_from is not None else ""
    until = f"until {utc_day(fact.valid_to)}" if fact.valid_to is not None else ""
    when = f" ({', '.join(filter(None, (since, until)))})" if since or until else ""
    quote = f": \u201c{fact.quote}\u201d" if fact.quote else ""
    told = render_fact(fact.subject, fact.predicate, fact.object)
    return f"{told.removeprefix(ARTICLE)}{when}{quote}"  # an article would make a German text look English


def _load_fact(row: Row) -> Fact:
    (id, subject, predicate, object_, at, text, valid_from, valid_to, recorded_from, recorded_to, confidence, state,
     evidence, change, closed) = row  # fmt: skip
    quote = text.partition(": \u201c")[2].removesuffix("\u201d")
    return Fact(
        subject=subject, predicate=predicate, object=object_, at=at, quote=quote, valid_from=valid_from,
        valid_to=valid_to, recorded_from=recorded_from, recorded_to=recorded_to, confidence=confidence,
        state=FactState(state), evidence=tuple(json.loads(evidence)), change=change, closed=closed, id=id,
    )  # fmt: skip
