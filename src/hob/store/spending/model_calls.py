"""One row per model call: its reservation while it is open, its cost when it has ended.

The timeline has every ended call of a turn with its cost and the sender class that pays for it, from which spending is
rebuilt.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import apsw

from hob.core.errors import BILLABLE_FAULTS, ModelFault
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, SpanId, TraceId, TurnId, new_event_id, new_span_id
from hob.core.models import Usage
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied
from hob.core.trust.labels import SenderClass, least_trusted
from hob.core.values import dataclass
from hob.store.database.rows import all_rows, find_row
from hob.store.erasure.content import ContentWriter
from hob.store.timeline import write_events

HOUR = 3600
CHAT = "chat"
"""The task of requests within a turn."""

_RESERVE = "INSERT INTO usage (turn, session, model, chain, sender, at, reserved) VALUES (?, ?, ?, ?, ?, ?, ?)"
_OPEN_CALLS = (
    "SELECT id, session, sender, at, model, reserved FROM usage WHERE turn = ? AND settled = 0 ORDER BY id DESC"
)
_SETTLE = (
    "UPDATE usage SET settled = 1, reserved = NULL, chain = '', model = ?, input_tokens = ?, output_tokens = ?,"
    " cache_read = ?, cache_write = ?, reasoning = ?, cost = ? WHERE id = ?"
)
_RECORD = (
    "INSERT INTO usage (turn, session, model, sender, task, at, settled, input_tokens, output_tokens, cache_read,"
    " cache_write, reasoning, cost) VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)"
)
_ADD = (
    "INSERT INTO spending (hour, session, model, sender, task, cost, unknown, input_tokens, output_tokens, cache_read,"
    " cache_write, reasoning, calls) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET"
    " cost = cost + excluded.cost, unknown = unknown + excluded.unknown,"
    " input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,"
    " cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write,"
    " reasoning = reasoning + excluded.reasoning, calls = calls + 1"
)
_SENDERS = "SELECT sender_class FROM inbox WHERE turn = ?"
_FAULTS = frozenset(ModelFault)
_FREE_FAULTS = _FAULTS - BILLABLE_FAULTS


@dataclass(frozen=True, slots=True)
class ModelCallRow:
    """Outcome of a model call, for the timeline. `at` is when it was made, None if it never was."""

    model: str
    status: str
    usage: Usage | None
    cost: int | None
    at: float | None
    sender: str


def was_turned_away(status: str, usage: Usage | None, cost: int | None) -> bool:
    """Whether a failed call costs nothing and does not count as a call."""
    return usage is None and (status in _FAULTS if cost == 0 else cost is None and status in _FREE_FAULTS)


def is_extra(classification: str) -> bool:
    """Whether a call of a turn was made in addition to the journalled one; it names its task, as calls outside turns
    do.
    """
    return "/" in classification


def whose(classification: str) -> tuple[str, str]:
    """Return sender class and task of a call's event. Older events have none: they were the owner's."""
    sender, _, task = classification.partition("/")
    return sender or SenderClass.OWNER.value, task or CHAT


def chain_of(models: Sequence[str]) -> str:
    """Return the models that may answer, as stored."""
    return "\n".join(models) if len(models) > 1 else ""


def reserve(connection: apsw.Connection, turn: TurnId, session: str, step: ModelAsked, at: float) -> None:
    """Record the worst-case cost of a call that is about to be made."""
    chain, sender = chain_of(step.models), _sender_of(connection, turn)
    connection.execute(_RESERVE, (turn, session, step.model, chain, sender, at, step.reserved))


def class_open_calls(connection: apsw.Connection, turn: TurnId) -> None:
    """Charge the turn's open call to its least trusted sender, after a message joined."""
    sql = "UPDATE usage SET sender = ? WHERE turn = ? AND settled = 0"
    connection.execute(sql, (_sender_of(connection, turn), turn))


def settle(connection: apsw.Connection, turn: TurnId, step: ModelReplied | ModelFailed) -> ModelCallRow:
    """Replace the reservation of the newest open call by its real cost.

    If the cost is unknown (a cut answer, a server that does not count), the reservation becomes the cost: a limit must
    not release what may have been spent.
    """
    row = find_row(connection, f"{_OPEN_CALLS} LIMIT 1", (turn,))
    status, model = ("ok", step.ref or step.model) if isinstance(step, ModelReplied) else (step.fault, "")
    if row is None:
        return ModelCallRow(model, status, step.usage, step.cost, None, "")
    id, session, sender, at, asked, reserved = row
    cost = step.cost
    if cost is None and step.usage is None and status not in _FREE_FAULTS:
        cost = reserved
    if was_turned_away(status, step.usage, cost):
        connection.execute("DELETE FROM usage WHERE id = ?", (id,))
        return ModelCallRow(model or asked, status, None, cost, at, sender)
    call = ModelCallRow(model or asked, status, step.usage, cost, at, sender)
    _settle(connection, id, session, call)
    return call


def settle_unfinished(connection: apsw.Connection, turn: TurnId) -> None:
    """Charge calls of an ended turn that were never settled (cancelled, crashed) with their reservation."""
    calls = []
    for id, session, sender, at, asked, reserved in all_rows(connection, _OPEN_CALLS, (turn,)):
        calls.append(ModelCallRow(asked, "unknown_outcome", None, reserved, at, sender))
        _settle(connection, id, session, calls[-1])
    write_events(connection, ContentWriter(connection), with_call_events(connection, turn, calls, (), 0.0))


def record(connection: apsw.Connection, event: TimelineEvent) -> None:
    """Record an ended call outside any turn or in addition to its answer."""
    if was_turned_away(event.status, event.usage, event.cost):
        return
    usage, session, (sender, task) = event.usage or Usage(), event.session or "", whose(event.classification)
    values = (event.turn, session, event.name, sender, task, event.at, *tokens_of(usage), event.cost)
    connection.execute(_RECORD, values)
    _add(connection, event.at, (session, event.name, sender, task), usage, event.cost)


def with_call_events(
    connection: apsw.Connection, turn: TurnId, calls: Sequence[ModelCallRow], events: Sequence[TimelineEvent], at: float
) -> Sequence[TimelineEvent]:
    """Return the events, adding the sender class to calls of the turn and one event for each call without.

    Every ended call is in the timeline, in the order of their ends.
    """
    if not calls:
        return events
    left = list(reversed(calls))
    told = [
        _with_call(event, left.pop()) if left and event.kind is EventKind.MODEL and event.turn == turn else event
        for event in events
    ]
    if not left:
        return told
    trace, span, session = all_rows(connection, "SELECT trace_id, span_id, session FROM turns WHERE id = ?", (turn,))[0]
    return (
        *told,
        *(
            TimelineEvent(
                new_event_id(), TraceId(trace), new_span_id(), SpanId(span), at if call.at is None else call.at,
                EventKind.MODEL, call.model, call.status, session=SessionKey(session), turn=turn,
                classification=call.sender, usage=call.usage, cost=call.cost,
            )
            for call in reversed(left)
        ),
    )  # fmt: skip


def _with_call(event: TimelineEvent, call: ModelCallRow) -> TimelineEvent:
    return replace(event, classification=call.sender, cost=call.cost if event.cost is None else event.cost)


def tokens_of(usage: Usage) -> tuple[int, ...]:
    """Return a usage as column values."""
    return usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning


def _sender_of(connection: apsw.Connection, turn: TurnId) -> str:
    return least_trusted(SenderClass(row[0]) for row in all_rows(connection, _SENDERS, (turn,))).value


def _settle(connection: apsw.Connection, id: int, session: str, call: ModelCallRow) -> None:
    usage = call.usage or Usage()
    connection.execute(_SETTLE, (call.model, *tokens_of(usage), call.cost, id))
    _add(connection, call.at or 0.0, (session, call.model, call.sender, CHAT), usage, call.cost)


def _add(connection: apsw.Connection, at: float, key: tuple[Any, ...], usage: Usage, cost: int | None) -> None:
    connection.execute(_ADD, (int(at // HOUR), *key, cost or 0, cost is None, *tokens_of(usage)))
