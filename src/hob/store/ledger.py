"""Spending: one row per model call, and sums per hour so that asking costs little however long the history is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from hob.core.clock import Clock
from hob.core.errors import ModelFault
from hob.core.ids import SessionKey, SpanId, TraceId, TurnId, new_event_id, new_span_id
from hob.core.models import Spent, Usage
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied
from hob.core.timeline import EventKind, TimelineEvent
from hob.store.content import Keep
from hob.store.readers import Readers
from hob.store.rows import all_rows, find_row
from hob.store.timeline import write_events
from hob.store.writer import Writer

HOUR = 3600

_RESERVE = "INSERT INTO usage (turn, session, model, at, reserved) VALUES (?, ?, ?, ?, ?)"
_OPEN_CALLS = "SELECT id, session, model, at FROM usage WHERE turn = ? AND settled = 0 ORDER BY id DESC"
_SETTLE = (
    "UPDATE usage SET settled = 1, reserved = NULL, model = ?, input_tokens = ?, output_tokens = ?, cache_read = ?,"
    " cache_write = ?, reasoning = ?, cost = ? WHERE id = ?"
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


@dataclass(frozen=True, slots=True)
class Call:
    """How one call of a model ended, as the timeline is to tell it. `at` is when it was asked, None if it never was."""

    model: str
    status: str
    usage: Usage | None
    cost: int | None
    at: float | None


def cost_of_call(status: str, usage: Usage | None, cost: int | None) -> int | None:
    """What a turn's call is charged: a fault that came before anything was done costs nothing. None: not known."""
    return 0 if usage is None and cost is None and status in _FREE_FAULTS else cost


def settle(connection: apsw.Connection, turn: TurnId, step: ModelReplied | ModelFailed) -> Call:
    """The newest open call's real usage takes the place of its reservation."""
    row = find_row(connection, f"{_OPEN_CALLS} LIMIT 1", (turn,))
    status, model = ("ok", step.ref or step.model) if isinstance(step, ModelReplied) else (step.fault, "")
    if row is None:
        return Call(model, status, step.usage, step.cost, None)
    _settle(connection, row, step.usage or Usage(), cost_of_call(status, step.usage, step.cost), model)
    return Call(model or row[2], status, step.usage, step.cost, row[3])


def settle_rest(connection: apsw.Connection, turn: TurnId) -> None:
    """Calls of an ended turn of which nobody saw the end (cancelled, crashed): what they cost is not known."""
    calls = []
    for row in all_rows(connection, _OPEN_CALLS, (turn,)):
        _settle(connection, row, Usage(), None)
        calls.append(Call(row[2], "unknown_outcome", None, None, row[3]))
    write_events(connection, Keep(connection), tell_calls(connection, turn, calls, (), 0.0))


def tell_calls(
    connection: apsw.Connection, turn: TurnId, calls: Sequence[Call], events: Sequence[TimelineEvent], at: float
) -> Sequence[TimelineEvent]:
    """The events, and one more for each of the turn's ended calls that none of them tells about.

    Every ended call stands in the timeline, in the order in which they ended: spending is rebuilt from that.
    """
    if not calls:
        return events
    missing = calls[sum(event.kind is EventKind.MODEL and event.turn == turn for event in events) :]
    if not missing:
        return events
    trace, span, session = all_rows(connection, "SELECT trace_id, span_id, session FROM turns WHERE id = ?", (turn,))[0]
    return (
        *events,
        *(
            TimelineEvent(
                new_event_id(), TraceId(trace), new_span_id(), SpanId(span), at if call.at is None else call.at,
                EventKind.MODEL, call.model, call.status, session=SessionKey(session), turn=turn, usage=call.usage,
                cost=call.cost,
            )
            for call in missing
        ),
    )  # fmt: skip


def _settle(connection: apsw.Connection, row: Sequence[Any], usage: Usage, cost: int | None, model: str = "") -> None:
    id, session, asked, at = row
    model = model or asked
    connection.execute(_SETTLE, (model, *tokens_of(usage), cost, id))
    _add(connection, at, session, model, usage, cost)


def _add(connection: apsw.Connection, at: float, session: str, model: str, usage: Usage, cost: int | None) -> None:
    connection.execute(_ADD, (int(at // HOUR), session, model, cost or 0, cost is None, *tokens_of(usage)))


def tokens_of(usage: Usage) -> tuple[int, ...]:
    """A usage as the columns that hold it."""
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
            values = (event.turn, session, event.name, event.at, *tokens_of(usage), event.cost)
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
            first = -int(-since // HOUR)
            parts = (
                part(_SUM_HOURS, hour=first),
                part(_SUM, settled_since=since, settled_before=first * HOUR),
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
