"""The spending ledger: cost of model calls, read from hourly sums so that queries stay cheap."""

import json
from collections.abc import Sequence
from typing import Any, Literal, Unpack

import apsw

from hob.core.events.timeline import TimelineEvent
from hob.core.model_names import matches_model
from hob.core.models import NO_SPENDING, CallFilter, Spending, Usage
from hob.store.database.part import StorePart, snapshot, transaction
from hob.store.database.rows import all_rows
from hob.store.erasure.content import ContentWriter
from hob.store.spending.model_calls import HOUR, record
from hob.store.timeline import write_events

_TOKENS = "input_tokens, output_tokens, cache_read, cache_write, reasoning"
# A call of unknown cost is counted as such, never as free. Reservations count with their worst case.
_CALLS = (
    f"SELECT CAST(at / {HOUR} AS INTEGER) AS hour, session, model, chain, sender, task,"  # noqa: S608
    " coalesce(CASE WHEN settled THEN cost ELSE reserved END, 0) AS cost,"
    f" CASE WHEN settled THEN cost IS NULL ELSE reserved IS NULL END AS unknown, {_TOKENS}, 1 AS calls,"
    " CASE WHEN settled THEN 0 ELSE coalesce(reserved, 0) END AS held FROM usage"
)
# Whole hours come from the sums, the first partial hour and open calls from the calls themselves.
_SOURCES = (
    f"SELECT hour, session, model, '' AS chain, sender, task, cost, unknown, {_TOKENS}, calls, 0 AS held"  # noqa: S608
    f" FROM spending WHERE hour >= :hour UNION ALL {_CALLS} WHERE settled = 1 AND at >= :since AND at < :edge"
    f" UNION ALL {_CALLS} WHERE settled = 0 AND at >= :since"
)
_SUMS = (
    "coalesce(sum(cost), 0), coalesce(sum(unknown), 0), coalesce(sum(input_tokens), 0),"
    " coalesce(sum(output_tokens), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0),"
    " coalesce(sum(reasoning), 0), coalesce(sum(calls), 0), coalesce(sum(held), 0)"
)
# A model call reads the results of the tools called before it in its turn, and is charged to them in equal parts.
# A name that a model made up is no tool's: it may be words of a conversation, which not all readers of sums may see.
_BY_TOOL = """
WITH spent AS (
    SELECT DISTINCT t.trace_id FROM usage u JOIN turns t ON t.id = u.turn WHERE u.settled = 1 AND u.at >= ?
), done AS (
    SELECT l.seq, turn, kind, name, coalesce(cost, 0) AS cost, cost IS NULL AS unknown,
        input_tokens, output_tokens, cache_read, cache_write, reasoning,
        sum(kind = 'model') OVER (PARTITION BY turn ORDER BY l.seq ROWS UNBOUNDED PRECEDING) AS round
    FROM spent CROSS JOIN timeline l ON l.trace_id = spent.trace_id WHERE turn IS NOT NULL AND (
        kind = 'tool' AND status IS NOT 'unknown_tool'
        OR kind = 'model' AND input_tokens IS NOT NULL AND instr(classification, '/') = 0)
), used AS (SELECT DISTINCT turn, round, name FROM done WHERE kind = 'tool'
), read AS (
    SELECT done.*, used.name AS tool, count(*) OVER (PARTITION BY seq) AS parts
    FROM done JOIN used ON used.turn = done.turn AND used.round = done.round - 1 WHERE done.kind = 'model'
)
SELECT tool, sum(cost / parts), sum(unknown), sum(input_tokens / parts), sum(output_tokens / parts),
    sum(cache_read / parts), sum(cache_write / parts), sum(reasoning / parts), count(*), 0,
    (SELECT count(DISTINCT seq) FROM read)
FROM read GROUP BY tool
"""
_TERMS = {
    "session": "session IN (SELECT :session UNION ALL SELECT session FROM subagents WHERE root = :session"
    " AND kind = 'spawn')",  # sub-agents' spending is charged to their root
    "sender": "sender = :sender",
    "task": "task = :task",
    "tasks": "task IN (SELECT value FROM json_each(:tasks))",
}

Division = Literal["hour", "model", "session", "sender", "task"]
"""Keys by which sums are grouped; an hour is its Unix time / 3600."""


def turn_spending(connection: apsw.Connection, turn: str, since: float = 0.0) -> Spending:
    """Return what one turn has spent."""
    sql = f"SELECT {_SUMS} FROM ({_CALLS} WHERE turn = ? AND at >= ?)"  # noqa: S608
    return _load(all_rows(connection, sql, (turn, since))[0])


def _load(row: Sequence[Any]) -> Spending:
    cost, unknown, *tokens, calls, held = row
    return Spending(cost, unknown, Usage(*tokens), calls, held)


def _may_answer(pattern: str, model: str, chain: str) -> bool:
    """Whether a model that matches the pattern has answered, or may still answer an open call."""
    return any(matches_model(pattern, name) for name in (model, *chain.split("\n")))


def _since(since: float) -> dict[str, Any]:
    first = -int(-since // HOUR)
    return {"since": since, "hour": first, "edge": first * HOUR}


class StoredLedger(StorePart):
    """Implements the port `Ledger`."""

    @transaction
    def record(self, connection: apsw.Connection, event: TimelineEvent) -> None:
        """Record a model call outside any turn or in addition to its answer, with its event."""
        record(connection, event)
        write_events(connection, ContentWriter(connection), (event,))

    async def spent(self, **scope: Unpack[CallFilter]) -> Spending:
        """Return the cost of these calls, including reservations of open ones."""
        since, turn, model = scope.get("since", 0.0), scope.get("turn"), scope.get("model")
        if turn is not None:
            return await self._readers.read(lambda connection: turn_spending(connection, turn, since))
        chosen: dict[str, Any] = {name: scope[name] for name in ("session", "sender", "task") if name in scope}
        if "tasks" in scope:
            chosen["tasks"] = json.dumps(scope["tasks"])
        where = " AND ".join(_TERMS[name] for name in chosen) or "1"
        values = _since(since) | chosen
        if model is not None:
            sql = f"SELECT model, chain, {_SUMS} FROM ({_SOURCES}) WHERE {where} GROUP BY 1, 2"  # noqa: S608
            rows = await self._rows(sql, values)
            return sum((_load(row) for name, chain, *row in rows if _may_answer(model, name, chain)), NO_SPENDING)
        sql = f"SELECT {_SUMS} FROM ({_SOURCES}) WHERE {where}"  # noqa: S608
        return await self._readers.read(lambda connection: _load(all_rows(connection, sql, values)[0]))

    async def sums(self, by: Division, since: float = 0.0) -> tuple[tuple[str, Spending], ...]:
        """Return the sums by hour, model, session, sender class or task, in no order."""
        sql = f"SELECT {by}, {_SUMS} FROM ({_SOURCES}) GROUP BY 1"  # noqa: S608
        rows = await self._rows(sql, _since(since))
        return tuple((str(key), _load(row)) for key, *row in rows)

    @snapshot
    def tools(self, connection: apsw.Connection, since: float = 0.0) -> tuple[tuple[tuple[str, Spending], ...], int]:
        """Return cost and number of calls that read each tool's results; a call that read several is split equally."""
        rows = all_rows(connection, _BY_TOOL, (since,))
        return tuple((str(tool), _load(spent)) for tool, *spent, _ in rows), rows[0][-1] if rows else 0

    @transaction
    def note_once(self, connection: apsw.Connection, what: str, since: float) -> bool:
        """Note `what` for the period that began then; return whether it is new."""
        sql = "INSERT OR IGNORE INTO noted (what, since) VALUES (?, ?) RETURNING 1"
        return bool(all_rows(connection, sql, (what, since)))
