"""The results of messages: replies, costs, and what a turn waits for."""

import apsw

from hob.core.ids import ApprovalId, InboundId, SessionKey, TraceId, TurnId
from hob.core.messages import OutboundKind
from hob.core.models import Usage
from hob.core.states import InboxState
from hob.core.turns import WaitsFor
from hob.core.values import dataclass
from hob.store.database.part import StorePart, snapshot
from hob.store.database.rows import all_rows, find_row
from hob.store.messages.outbox import SentBeside, find_sent_beside
from hob.store.spending.ledger import turn_spending

_RESULT = (
    "SELECT i.id, i.session, i.trace_id, i.state, i.at, i.ended, i.reason, t.id, t.state, c.text, t.kind, t.reason,"
    " t.ended, q.text, t.waits_for"
    " FROM inbox i LEFT JOIN turns t ON t.id = i.turn LEFT JOIN content c ON c.id = t.reply"
    " LEFT JOIN content q ON q.id = t.question WHERE i.id = ?"
)
# Most replies have none, so their bodies need not be parsed.
_REMARKS = (
    "SELECT r.value FROM steps s JOIN content c ON c.id = s.body, json_each(c.text, '$.remarks') r"
    " WHERE s.turn = ? AND s.kind IN ('model_asked', 'model_replied', 'model_failed', 'tool_received')"
    ' AND instr(c.text, \'"remarks":["\')'
    " ORDER BY s.n, r.key"
)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a message. `state` is its turn's, or `waiting`, or `cancelled` if it had no turn.

    `merged_into` is the first message of its turn, if that is another. `cost` is in micro-dollars, None if unknown.
    `picked_up` means that no part of the reply waits to be sent or fetched. `notes` are remarks that are not part of
    the reply. While people are asked, `question` is the text and `approvals` are the open ones. `for_client` means that
    it waits for results of the client's own tools. `sent` are messages to the client beside the reply.
    """

    id: InboundId
    session: SessionKey
    trace: TraceId
    turn: TurnId | None
    state: str
    reply: str
    kind: OutboundKind | None
    reason: str
    usage: Usage
    cost: int | None
    merged_into: InboundId | None
    created: float
    ended: float | None
    picked_up: bool
    notes: tuple[str, ...] = ()
    question: str = ""
    approvals: tuple[ApprovalId, ...] = ()
    for_client: bool = False
    sent: tuple[SentBeside, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether this is the final outcome."""
        return self.ended is not None


class Results(StorePart):
    """The results of accepted messages."""

    @snapshot
    def find(self, connection: apsw.Connection, inbound: InboundId) -> Result | None:
        """Return the current result of a message."""
        row = find_row(connection, _RESULT, (inbound,))
        if row is None:
            return None
        (
            id,
            session,
            trace,
            state,
            created,
            cancelled,
            why,
            turn,
            turn_state,
            reply,
            kind,
            reason,
            ended,
            question,
            waits_for,
        ) = row
        if turn is None:
            state = "cancelled" if state == InboxState.SETTLED else state
            return Result(
                InboundId(id), SessionKey(session), TraceId(trace), None, state, "", None, why, Usage(), None, None,
                created, cancelled, True,
            )  # fmt: skip
        first = find_row(connection, "SELECT id FROM inbox WHERE turn = ? ORDER BY seq LIMIT 1", (turn,))
        pending = find_row(connection, "SELECT 1 FROM outbox WHERE turn = ? AND state IN ('ready', 'sending')", (turn,))
        spent = turn_spending(connection, turn)
        return Result(
            id=InboundId(id),
            session=SessionKey(session),
            trace=TraceId(trace),
            turn=TurnId(turn),
            state=turn_state,
            reply=reply or "",
            kind=None if kind is None else OutboundKind(kind),
            reason=reason,
            usage=spent.usage,
            cost=None if spent.unknown_calls else spent.cost,
            merged_into=None if first is None or first[0] == id else InboundId(first[0]),
            created=created,
            ended=ended,
            picked_up=pending is None and ended is not None,
            notes=tuple(dict.fromkeys(row[0] for row in all_rows(connection, _REMARKS, (turn,)))),
            question=question or "",
            approvals=_open_approvals(connection, turn) if question else (),
            for_client=waits_for == WaitsFor.CLIENT,
            sent=find_sent_beside(connection, turn),
        )


def _open_approvals(connection: apsw.Connection, turn: str) -> tuple[ApprovalId, ...]:
    sql = "SELECT id FROM approvals WHERE turn = ? AND state = 'open' ORDER BY seq"
    return tuple(ApprovalId(row[0]) for row in all_rows(connection, sql, (turn,)))
