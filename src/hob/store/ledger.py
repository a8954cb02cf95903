"""Spending: one row per model call."""

from collections.abc import Sequence
from typing import Any

import apsw

from hob.core.clock import Clock
from hob.core.ids import SessionKey, TurnId
from hob.core.models import Usage
from hob.core.ports.journal import Spent
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied
from hob.core.timeline import TimelineEvent
from hob.store.content import Keep
from hob.store.readers import Readers
from hob.store.rows import find_row
from hob.store.timeline import write_events
from hob.store.writer import Writer

_RESERVE = "INSERT INTO usage (turn, session, model, at, reserved) VALUES (?, ?, ?, ?, ?)"
_SETTLE = (
    "UPDATE usage SET settled = 1, model = coalesce(nullif(?, ''), model), input_tokens = ?, output_tokens = ?,"
    " cache_read = ?, cache_write = ?, reasoning = ?, cost = ?"
    " WHERE id = (SELECT max(id) FROM usage WHERE turn = ? AND settled = 0)"
)
_RECORD = (
    "INSERT INTO usage (turn, session, model, at, settled, input_tokens, output_tokens, cache_read, cache_write,"
    " reasoning, cost) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)"
)
# A call of unknown cost is counted as such, never as free.
_SUM = (
    "SELECT coalesce(sum(CASE WHEN settled THEN cost ELSE reserved END), 0),"
    " coalesce(sum(CASE WHEN settled THEN cost IS NULL ELSE reserved IS NULL END), 0),"
    " coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(cache_read), 0),"
    " coalesce(sum(cache_write), 0), coalesce(sum(reasoning), 0), count(*) FROM usage"
)
# A provider charges for what it began to answer; these were turned away before.
_FREE_FAULTS = frozenset(
    {"auth", "billing", "rate_limit", "overload", "bad_request", "model_not_found", "context_overflow", "no_model",
     "budget", "network"}
)  # fmt: skip


def reserve(connection: apsw.Connection, turn: TurnId, session: str, step: ModelAsked, at: float) -> None:
    """The worst case of a call that is about to be made counts from now on."""
    connection.execute(_RESERVE, (turn, session, step.model, at, step.reserved))


def settle(connection: apsw.Connection, turn: TurnId, step: ModelReplied | ModelFailed) -> None:
    """The call's real usage takes the place of its reservation."""
    if isinstance(step, ModelReplied):
        usage, cost, model = step.usage or Usage(), step.cost, step.model
    else:
        usage, cost, model = Usage(), 0 if step.fault in _FREE_FAULTS else None, ""
    tokens = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning)
    connection.execute(_SETTLE, (model, *tokens, cost, turn))


def settle_rest(connection: apsw.Connection, turn: TurnId) -> None:
    """Calls of an ended turn of which nobody saw the end (cancelled, crashed): what they cost is not known."""
    connection.execute("UPDATE usage SET settled = 1, cost = NULL WHERE turn = ? AND settled = 0", (turn,))


def _load(row: Sequence[Any] | None) -> Spent:
    cost, unknown, *tokens, calls = row or (0,) * 8
    return Spent(cost, unknown, Usage(*tokens), calls)


def turn_spending(connection: apsw.Connection, turn: str) -> Spent:
    """What one turn has spent."""
    return _load(find_row(connection, f"{_SUM} WHERE turn = ?", (turn,)))


class StoredLedger:
    """Implements the port `Ledger`."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock

    async def record(self, event: TimelineEvent) -> None:
        """Write a model call made outside any turn with its usage and cost, and the event itself."""
        usage = event.usage or Usage()
        tokens = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning)

        def job(connection: apsw.Connection) -> None:
            connection.execute(_RECORD, (event.turn, event.session or "", event.name, event.at, *tokens, event.cost))
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
        wanted = {"at >= ?": since or None, "session = ?": session, "model = ?": model, "turn = ?": turn}
        chosen = {term: value for term, value in wanted.items() if value is not None}
        where = f" WHERE {' AND '.join(chosen)}" if chosen else ""
        return _load(await self._readers.read(lambda c: find_row(c, _SUM + where, tuple(chosen.values()))))
