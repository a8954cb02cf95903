"""Spending: one row per model call, and sums per hour so that asking costs little however long the history is."""

from collections.abc import Sequence
from typing import Any

import apsw

from hob.core.clock import Clock
from hob.core.errors import ModelFault
from hob.core.ids import SessionKey, TurnId
from hob.core.models import Usage
from hob.core.ports.journal import Spent
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied
from hob.core.timeline import TimelineEvent
from hob.store.content import Keep
from hob.store.readers import Readers
from hob.store.rows import all_rows, find_row
from hob.store.timeline import write_events
from hob.store.writer import Writer

_HOUR = 3600

_RESERVE = "INSERT INTO usage (turn, session, model, at, reserved) VALUES (?, ?, ?, ?, ?)"
_OPEN_CALLS = "SELECT id, session, model, at FROM usage WHERE turn = ? AND settled = 0 ORDER BY id DESC"
_SETTLE = (
    "UPDATE usage SET settled = 1, model = ?, input_tokens = ?, output_tokens = ?, cache_read = ?, cache_write = ?,"
    " reasoning = ?, cost = ? WHERE id = ?"
)
_RECORD = (
    "INSERT INTO usage (turn, session, model, at, settled, input_tokens, output_tokens, cache_read, cache_write,"
    " reasoning, cost) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)"
)
_ADD = (
    "INSERT INTO spending (hour, session, model, cost, unknown, input_tokens, output_tokens, cache_read, cache_write,"
    " reasoning, calls) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET cost = cost + excluded.cost,"
    " unknown = unknown + excluded.unknown, input_tokens = input_tokens + excluded.input_tokens,"
    " output_tokens = output_tokens + excluded.output_tokens, cache_read = cache_read + excluded.cache_read,"
    " cache_write = cache_write + excluded.cache_write, reasoning = reasoning + excluded.reasoning, calls = calls + 1"
)
_TOKENS = (
    "coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(cache_read), 0),"
    " coalesce(sum(cache_write), 0), coalesce(sum(reasoning), 0)"
)
# A call of unknown cost is counted as such, never as free. What is reserved counts at its worst.
_SUM = (
    "SELECT coalesce(sum(CASE WHEN settled THEN cost ELSE reserved END), 0),"  # noqa: S608
    " coalesce(sum(CASE WHEN settled THEN cost IS NULL ELSE reserved IS NULL END), 0),"
    f" {_TOKENS}, count(*) FROM usage"
)
_SUM_HOURS = (
    "SELECT coalesce(sum(cost), 0), coalesce(sum(unknown), 0),"  # noqa: S608
    f" {_TOKENS}, coalesce(sum(calls), 0) FROM spending"
)
# A provider charges for what it began to answer; these were turned away before.
_FREE_FAULTS = frozenset(ModelFault) - {
    ModelFault.CUT,
    ModelFault.TIMEOUT,
    ModelFault.GARBAGE,
    ModelFault.EMPTY,
    ModelFault.FILTERED,
}


def reserve(connection: apsw.Connection, turn: TurnId, session: str, step: ModelAsked, at: float) -> None:
    """The worst case of a call that is about to be made counts from now on."""
    connection.execute(_RESERVE, (turn, session, step.model, at, step.reserved))


def settle(connection: apsw.Connection, turn: TurnId, step: ModelReplied | ModelFailed) -> None:
    """The newest open call's real usage takes the place of its reservation."""
    row = find_row(connection, f"{_OPEN_CALLS} LIMIT 1", (turn,))
    if row is None:
        return
    if isinstance(step, ModelReplied):
        _settle(connection, row, step.usage or Usage(), step.cost, step.model)
    else:
        _settle(connection, row, Usage(), 0 if step.fault in _FREE_FAULTS else None)


def settle_rest(connection: apsw.Connection, turn: TurnId) -> None:
    """Calls of an ended turn of which nobody saw the end (cancelled, crashed): what they cost is not known."""
    for row in all_rows(connection, _OPEN_CALLS, (turn,)):
        _settle(connection, row, Usage(), None)


def _settle(connection: apsw.Connection, row: Sequence[Any], usage: Usage, cost: int | None, model: str = "") -> None:
    id, session, asked, at = row
    model = model or asked
    connection.execute(_SETTLE, (model, *_tokens(usage), cost, id))
    _add(connection, at, session, model, usage, cost)


def _add(connection: apsw.Connection, at: float, session: str, model: str, usage: Usage, cost: int | None) -> None:
    connection.execute(_ADD, (int(at // _HOUR), session, model, cost or 0, cost is None, *_tokens(usage)))


def _tokens(usage: Usage) -> tuple[int, ...]:
    return usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning


def _load(row: Sequence[Any]) -> Spent:
    cost, unknown, *tokens, calls = row
    return Spent(cost, unknown, Usage(*tokens), calls)


def turn_spending(connection: apsw.Connection, turn: str) -> Spent:
    """What one turn has spent."""
    return _load(all_rows(connection, f"{_SUM} WHERE turn = ?", (turn,))[0])


class StoredLedger:
    """Implements the port `Ledger`."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock

    async def record(self, event: TimelineEvent) -> None:
        """Write a model call made outside any turn with its usage and cost, and the event itself."""
        usage = event.usage or Usage()
        session = event.session or ""

        def job(connection: apsw.Connection) -> None:
            values = (event.turn, session, event.name, event.at, *_tokens(usage), event.cost)
            connection.execute(_RECORD, values)
            _add(connection, event.at, session, event.name, usage, event.cost)
            write_events(connection, Keep(connection), (event,))

        await self._writer.write(job)

    async def spent(
        self,
        *,
        since: float = 0.0,
        session: SessionKey | None = None,
        model: str | None = None,
        turn: TurnId | None = None,
    ) -> Spent:
        """What was spent since a time (Unix seconds), in a session, with a model, by a turn."""
        terms: dict[str, Any] = {"session = ?": session, "model = ?": model, "turn = ?": turn}
        chosen = {term: value for term, value in terms.items() if value is not None}

        def query(connection: apsw.Connection) -> Spent:
            def part(select: str, **limits: float) -> list[Any]:
                where = [*(_LIMITS[name] for name in limits), *chosen]
                row: tuple[Any, ...] = all_rows(
                    connection, f"{select} WHERE {' AND '.join(where)}", (*limits.values(), *chosen.values())
                )[0]
                return list(row)

            if turn is not None:
                return _load(part(_SUM, since=since))
            # Whole hours come from the sums, the broken first hour and what is still open from the calls themselves.
            first = -int(-since // _HOUR)
            parts = (
                part(_SUM_HOURS, hour=first),
                part(_SUM, settled_since=since, settled_before=first * _HOUR),
                part(_SUM, open_since=since),
            )
            return _load([sum(column) for column in zip(*parts, strict=True)])

        return await self._readers.read(query)


_LIMITS = {
    "since": "at >= ?",
    "hour": "hour >= ?",
    "settled_since": "settled = 1 AND at >= ?",
    "settled_before": "at < ?",
    "open_since": "settled = 0 AND at >= ?",
}
