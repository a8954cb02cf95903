"""Questions whether something may be done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from hob.core.clock import Clock
from hob.core.ids import ApprovalId, CallId, SessionKey, TurnId
from hob.core.states import APPROVAL_MOVES, ApprovalState
from hob.store.content import Keep
from hob.store.moves import check_move
from hob.store.readers import Readers
from hob.store.rows import all_rows, find_row
from hob.store.writer import Writer

_INSERT = (
    "INSERT INTO approvals (id, turn, call, tool, hash, session, state, reason, asked, expires, shown)"
    " VALUES (?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, ?)"
)
_SELECT = (
    "SELECT a.id, turn, call, tool, a.hash, session, state, reason, asked, expires, c.text, answered, answered_by"
    " FROM approvals a JOIN content c ON c.id = a.shown"
)


@dataclass(frozen=True, slots=True)
class Approval:
    """One question, bound to one call of a turn and its exact arguments by `hash`. `shown` is what the owner reads."""

    id: ApprovalId
    turn: TurnId
    call: CallId
    tool: str
    hash: str
    session: SessionKey
    reason: str
    asked: float
    expires: float
    shown: str
    state: ApprovalState = ApprovalState.OPEN
    answered: float | None = None
    by: str = ""


def _load(row: Sequence[Any]) -> Approval:
    id, turn, call, tool, command, session, state, reason, asked, expires, shown, answered, by = row
    return Approval(
        ApprovalId(id), TurnId(turn), CallId(call), tool, command, SessionKey(session), reason, asked, expires,
        shown or "", ApprovalState(state), answered, by,
    )  # fmt: skip


class Approvals:
    """The questions and their answers. Each answer is used at most once."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock

    async def put(self, approval: Approval) -> ApprovalId:
        """Ask; the same call of the same turn is asked once, then this gives the first question's id."""

        def job(connection: apsw.Connection) -> ApprovalId:
            sql = "SELECT id FROM approvals WHERE turn = ? AND call = ? AND hash = ?"
            row = find_row(connection, sql, (approval.turn, approval.call, approval.hash))
            if row is not None:
                return ApprovalId(row[0])
            connection.execute(
                _INSERT,
                (
                    approval.id, approval.turn, approval.call, approval.tool, approval.hash, approval.session,
                    approval.reason, approval.asked, approval.expires, Keep(connection)(approval.shown),
                ),
            )  # fmt: skip
            return approval.id

        return await self._writer.write(job)

    async def find(self, id: str) -> Approval | None:
        """One question."""
        row = await self._readers.read(lambda c: find_row(c, f"{_SELECT} WHERE a.id = ?", (id,)))
        return None if row is None else _load(row)

    async def open(self, session: SessionKey | None = None) -> tuple[Approval, ...]:
        """The unanswered questions, of one session if given, oldest first."""
        where, values = ("", ()) if session is None else ("AND session = ?", (session,))
        sql = f"{_SELECT} WHERE state = 'open' {where} ORDER BY a.seq"
        return tuple(_load(row) for row in await self._readers.read(lambda c: all_rows(c, sql, values)))

    async def answer(self, id: ApprovalId, allowed: bool, by: str) -> Approval | None:
        """Answer an open question; None if it is not open (any more)."""
        at = self._clock.now().timestamp()
        state = ApprovalState.ALLOWED if allowed else ApprovalState.DENIED

        def job(connection: apsw.Connection) -> Approval | None:
            row = find_row(connection, f"{_SELECT} WHERE a.id = ? AND state = 'open'", (id,))
            if row is None:
                return None
            sql = "UPDATE approvals SET state = ?, answered = ?, answered_by = ? WHERE id = ?"
            connection.execute(sql, (state.value, at, by, id))
            return _load(all_rows(connection, f"{_SELECT} WHERE a.id = ?", (id,))[0])

        return await self._writer.write(job)

    async def use(self, id: ApprovalId, command: str) -> bool:
        """Spend the leave on exactly this command hash; False if it was not given, not for this, or spent."""

        def job(connection: apsw.Connection) -> bool:
            sql = "UPDATE approvals SET state = 'used' WHERE id = ? AND hash = ? AND state = 'allowed'"
            connection.execute(sql, (id, command))
            return connection.changes() > 0

        return await self._writer.write(job)

    async def expire(self, id: ApprovalId) -> None:
        """The question or the unused leave is void. Raises IllegalMove when it was denied or used."""

        def job(connection: apsw.Connection) -> None:
            row = find_row(connection, "SELECT state FROM approvals WHERE id = ?", (id,))
            if row is not None:
                check_move(APPROVAL_MOVES, ApprovalState(row[0]), ApprovalState.EXPIRED, f"The approval {id}")
                connection.execute("UPDATE approvals SET state = 'expired' WHERE id = ?", (id,))

        await self._writer.write(job)
