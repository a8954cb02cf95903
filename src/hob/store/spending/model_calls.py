"""One row per model call: what is held back for it while it is open, what it cost when it has ended.

Every ended call of a turn stands in the timeline with its cost and the class of the sender it counts for: spending is
rebuilt from that.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import apsw

from hob.core.errors import MAY_COST, ModelFault
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, SpanId, TraceId, TurnId, new_event_id, new_span_id
from hob.core.models import Usage
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied
from hob.core.trust.labels import SenderClass, least_known
from hob.core.values import dataclass
from hob.store.database.rows import all_rows, find_row
from hob.store.erasure.content import ContentWriter
from hob.store.timeline import write_events

HOUR = 3600
CHAT = "chat"
"""The task of what was asked in a turn."""

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
_FREE_FAULTS = _FAULTS - MAY_COST


@dataclass(frozen=True, slots=True)
class ModelCallRow:
    """How one call of a model ended, as the timeline is to tell it. `at` is when it was asked, None if it never was."""

    model: str
    status: str
    usage: Usage | None
    cost: int | None
    at: float | None
    sender: str


def was_turned_away(status: str, usage: Usage | None, cost: int | None) -> bool:
    """Whether nothing is pending for a call that failed: it does not count as one."""
    return usage is None and (status in _FAULTS if cost == 0 else cost is None and status in _FREE_FAULTS)


def is_extra(classification: str) -> bool:
    """Whether a call of a turn was made beside the one that the journal tells of. It names its task, as those outside
    any turn do."""
    return "/" in classification


def whose(classification: str) -> tuple[str, str]:
    """Sender class and task, as the timeline has them of a call. Older events tell nothing: they were the owner's."""
    sender, _, task = classification.partition("/")
    return sender or SenderClass.OWNER.value, task or CHAT


def chain_of(models: Sequence[str]) -> str:
    """The models that may answer, as their column holds them."""
    return "\n".join(models) if len(models) > 1 else ""


def reserve(connection: apsw.Connection, turn: TurnId, session: str, step: ModelAsked, at: float) -> None:
    """The worst case of a call that is about to be made counts from now on."""
    chain, sender = chain_of(step.models), _sender_of(connection, turn)
    connection.execute(_RESERVE, (turn, session, step.model, chain, sender, at, step.reserved))


def class_open_calls(connection: apsw.Connection, turn: TurnId) -> None:
    """Somebody joined the turn: what it has open counts for the least known of its senders from now on."""
    sql = "UPDATE usage SET sender = ? WHERE turn = ? AND settled = 0"
    connection.execute(sql, (_sender_of(connection, turn), turn))


def settle(connection: apsw.Connection, turn: TurnId, step: ModelReplied | ModelFailed) -> ModelCallRow:
    """The newest open call's real cost takes the place of its reservation.

    Where no one knows what it cost (the answer was cut, the server does not count) the reservation stays as its cost:
    a limit must not give back what may have been spent.
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
    """Calls of an ended turn of which no one saw the end (cancelled, crashed) cost what was held back for them."""
    calls = []
    for id, session, sender, at, asked, reserved in all_rows(connection, _OPEN_CALLS, (turn,)):
        calls.append(ModelCallRow(asked, "unknown_outcome", None, reserved, at, sender))
        _settle(connection, id, session, calls[-1])
    write_events(connection, ContentWriter(connection), with_call_events(connection, turn, calls, (), 0.0))


def record(connection: apsw.Connection, event: TimelineEvent) -> None:
    """A call made outside any turn or beside its answer, whose end the event tells."""
    if was_turned_away(event.status, event.usage, event.cost):
        return
    usage, session, (sender, task) = event.usage or Usage(), event.session or "", whose(event.classification)
    values = (event.turn, session, event.name, sender, task, event.at, *tokens_of(usage), event.cost)
    connection.execute(_RECORD, values)
    _add(connection, event.at, (session, event.name, sender, task), usage, event.cost)


def with_call_events(
    connection: apsw.Connection, turn: TurnId, calls: Sequence[ModelCallRow], events: Sequence[TimelineEvent], at: float
) -> Sequence[TimelineEvent]:
    """The events, those of the turn's ended calls with their sender class, and one more for each call that has none.

    Every ended call stands in the timeline, in the order in which they ended.
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
    """A usage as the columns that hold it."""
    return usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning


def _sender_of(connection: apsw.Connection, turn: TurnId) -> str:
    return least_known(SenderClass(row[0]) for row in all_rows(connection, _SENDERS, (turn,))).value


def _settle(connection: apsw.Connection, id: int, session: str, call: ModelCallRow) -> None:
    usage = call.usage or Usage()
    connection.execute(_SETTLE, (call.model, *tokens_of(usage), call.cost, id))
    _add(connection, call.at or 0.0, (session, call.model, call.sender, CHAT), usage, call.cost)


def _add(connection: apsw.Connection, at: float, key: tuple[Any, ...], usage: Usage, cost: int | None) -> None:
    connection.execute(_ADD, (int(at // HOUR), *key, cost or 0, cost is None, *tokens_of(usage)))
