"""Questions for approval, their answers, and grants for repeated use."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import apsw

from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import ApprovalId, CallId, SessionKey, SpanId, TraceId, TurnId, new_event_id, new_span_id
from hob.core.messages import POLLED_CHANNELS, Address
from hob.core.states import APPROVAL_MOVES, ApprovalState
from hob.core.values import dataclass
from hob.store.audit.audit import AuditedPart, AuditEntry
from hob.store.database.rows import all_rows, changed, find_row
from hob.store.database.state_moves import check_move
from hob.store.database.writer import Job
from hob.store.erasure.content import ContentWriter
from hob.store.timeline import write_events

_INSERT = (
    "INSERT INTO approvals (id, turn, call, tool, hash, session, state, reason, asked, expires, shown, rule, requester,"
    " bound, remaining, question) VALUES (?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SELECT = (
    "SELECT a.id, turn, call, tool, a.hash, session, state, reason, asked, expires, c.text, answered, answered_by,"
    " rule, requester, b.text, remaining, scope, note, q.text"
    " FROM approvals a JOIN content c ON c.id = a.shown LEFT JOIN content b ON b.id = a.bound"
    " LEFT JOIN content q ON q.id = a.question"
)
_OPEN_OR_UNUSED = (
    "SELECT seq FROM approvals WHERE state = 'open' UNION ALL SELECT seq FROM approvals WHERE state = 'allowed'"
)
_GRANTS = (
    "SELECT g.id, g.session, g.tool, g.hash, g.requester, b.text, g.given, g.given_by"
    " FROM grants g LEFT JOIN content b ON b.id = g.bound"
)


@dataclass(frozen=True, slots=True)
class Bound:
    """Further conditions of an approval: the directory, and files by path with the SHA-256 of their content."""

    directory: str = ""
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Approval:
    """One question, bound to one call of a turn and its exact arguments by `hash`. `shown` is the text the owner reads.

    `question` holds the values `shown` was made from; None if they were erased or an older Hob asked. `bound` is None
    if it was erased. `remaining` is the running time in seconds for which the question stays valid, as last noted; None
    for older questions. `asked`, `expires` and `answered` are wall-clock times.
    """

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
    rule: str = ""
    requester: str = ""
    bound: Bound | None = Bound()
    remaining: float | None = None
    scope: str = "once"
    note: str = ""
    question: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """Approval for every identical call; in every session if `session` is None."""

    id: ApprovalId
    session: SessionKey | None
    tool: str
    hash: str
    requester: str
    bound: Bound | None
    given: float
    by: str


AuditRecorder = Callable[[Approval], AuditEntry]
"""Returns the audit entries of a question, given its new state."""


def _load(row: Sequence[Any]) -> Approval:
    id, turn, call, tool, command, session, state, reason, asked, expires, shown, answered, by, *more = row
    rule, requester, bound, remaining, scope, note, question = more
    return Approval(
        ApprovalId(id), TurnId(turn), CallId(call), tool, command, SessionKey(session), reason, asked, expires,
        shown or "", ApprovalState(state), answered, by, rule, requester, _load_bound(bound), remaining, scope, note,
        None if question is None else json.loads(question),
    )  # fmt: skip


def _load_grant(row: Sequence[Any]) -> Grant:
    id, session, tool, command, requester, bound, given, by = row
    where = None if session is None else SessionKey(session)
    return Grant(ApprovalId(id), where, tool, command, requester, _load_bound(bound), given, by)


_OF_TURN = f"{_SELECT} WHERE turn = ? ORDER BY a.seq"


def _load_bound(text: str | None) -> Bound | None:
    if text is None:
        return None
    directory, files = json.loads(text)
    return Bound(directory, tuple((path, sealed) for path, sealed in files))


def _dump_bound(bound: Bound | None) -> str:
    return json.dumps([bound.directory, bound.files] if bound is not None else ["", []], ensure_ascii=False)


class StoredApprovals(AuditedPart):
    """Questions and their answers. Each answer is used at most once.

    A `record`, if given, writes the audit log in the same transaction.
    """

    async def _write_audited(self, record: AuditRecorder | None, job: Job[Approval | None]) -> Approval | None:
        return await self._audit.write(job, lambda found: () if record is None or found is None else (record(found),))

    async def put(self, approval: Approval, record: AuditRecorder | None = None) -> ApprovalId:
        """Store a question. If this call has an open question or an unused approval, return its id instead."""
        standing = approval.id

        def job(connection: apsw.Connection) -> Approval | None:
            nonlocal standing
            sql = (
                "SELECT id FROM approvals WHERE turn = ? AND call = ? AND hash = ? AND state IN ('open', 'allowed')"
                " ORDER BY seq DESC"
            )
            row = find_row(connection, sql, (approval.turn, approval.call, approval.hash))
            if row is not None:
                standing = ApprovalId(row[0])
                return None
            content_writer, question = ContentWriter(connection), approval.question
            connection.execute(
                _INSERT,
                (
                    approval.id, approval.turn, approval.call, approval.tool, approval.hash, approval.session,
                    approval.reason, approval.asked, approval.expires, content_writer(approval.shown), approval.rule,
                    approval.requester, content_writer(_dump_bound(approval.bound)), approval.remaining,
                    None if question is None else content_writer(json.dumps(question, ensure_ascii=False)),
                ),
            )  # fmt: skip
            return approval

        await self._write_audited(record, job)
        return standing

    async def find(self, id: str) -> Approval | None:
        """Return a question, or None."""
        return await self._find(_load, f"{_SELECT} WHERE a.id = ?", (id,))

    async def of_turn(self, turn: TurnId) -> tuple[Approval, ...]:
        """Return all questions of a turn, oldest first."""
        return tuple(_load(row) for row in await self._rows(_OF_TURN, (turn,)))

    async def is_last_message(self, approval: Approval, chat: Address) -> bool:
        """Whether this chat was shown the question, as the last thing said in its session and sent to the chat, and its
        turn has sent no message there, which may ask something too. Polled channels fetch their questions.
        """

        def is_last(connection: apsw.Connection) -> bool:
            last = "coalesce((SELECT max(seq) FROM inbox WHERE turn = ?), 0)"
            written = f"SELECT 1 FROM inbox WHERE seq > {last} AND session = ?"  # noqa: S608
            later = find_row(connection, written, (approval.turn, approval.session))
            sent = (
                "SELECT 1 FROM outbox WHERE channel = ? AND account = ? AND chat = ? AND thread = ? AND created > ?"
                " AND turn IS NOT ? LIMIT 1"
            )
            to = (chat.channel, chat.account, chat.chat, chat.thread)
            other = find_row(connection, sent, (*to, approval.asked, approval.turn))
            own = (
                "SELECT kind = 'reply' FROM outbox WHERE (channel, account, chat, thread) = (?, ?, ?, ?)"
                " AND (created >= ? OR kind = 'reply') AND turn = ?"
            )
            beside = [row[0] for row in all_rows(connection, own, (*to, approval.asked, approval.turn))]
            shown = bool(beside) or chat.channel in POLLED_CHANNELS
            return shown and not any(beside) and later is None and other is None

        return await self._readers.read(is_last)

    async def open(self, session: SessionKey | None = None) -> tuple[Approval, ...]:
        """Return the unanswered questions, of one session if given, oldest first."""
        where, values = ("", ()) if session is None else ("AND session = ?", (session,))
        open_ones = f"SELECT seq FROM approvals WHERE state = 'open' {where}"  # noqa: S608
        sql = f"{_SELECT} WHERE a.seq IN ({open_ones}) ORDER BY a.seq"
        return tuple(_load(row) for row in await self._rows(sql, values))

    async def newest(self, turn: TurnId, call: CallId, command: str) -> Approval | None:
        """Return the last question about exactly this call, in any state."""
        sql = f"{_SELECT} WHERE turn = ? AND call = ? AND a.hash = ? ORDER BY a.seq DESC LIMIT 1"
        return await self._find(_load, sql, (turn, call, command))

    async def standing(self) -> tuple[Approval, ...]:
        """Return the open questions and the unused approvals, oldest first."""
        sql = f"{_SELECT} WHERE a.seq IN ({_OPEN_OR_UNUSED}) ORDER BY a.seq"
        return tuple(_load(row) for row in await self._rows(sql))

    async def answer(
        self,
        id: ApprovalId,
        allowed: bool,
        by: str,
        *,
        scope: str = "once",
        remaining: float | None = None,
        record: AuditRecorder | None = None,
    ) -> Approval | None:
        """Answer an open question; return None if it is no longer open. Of two concurrent answers one wins.

        An approval is valid for `remaining` more seconds, if given. The scopes `session` and `always` also create a
        grant.
        """
        at = self._now()
        state = ApprovalState.ALLOWED if allowed else ApprovalState.DENIED

        def job(connection: apsw.Connection) -> Approval | None:
            row = find_row(connection, f"{_SELECT} WHERE a.id = ? AND state = 'open'", (id,))
            if row is None:
                return None
            sql = (
                "UPDATE approvals SET state = ?, answered = ?, answered_by = ?, scope = ?,"
                " remaining = coalesce(?, remaining) WHERE id = ?"
            )
            connection.execute(sql, (state.value, at, by, scope, remaining, id))
            if allowed and scope != "once":
                _add_grant(connection, _load(row), None if scope == "always" else row[5], at, by)
            answered = _load(all_rows(connection, f"{_SELECT} WHERE a.id = ?", (id,))[0])
            _tell(connection, answered, at)
            return answered

        return await self._write_audited(record, job)

    async def use(self, id: ApprovalId, command: str, record: AuditRecorder | None = None) -> bool:
        """Use the approval for exactly this command hash; return False if it was denied, used, or is for another."""

        def job(connection: apsw.Connection) -> Approval | None:
            sql = "UPDATE approvals SET state = 'used' WHERE id = ? AND hash = ? AND state = 'allowed'"
            spent = changed(connection, sql, (id, command))
            return _load(all_rows(connection, f"{_SELECT} WHERE a.id = ?", (id,))[0]) if spent else None

        return await self._write_audited(record, job) is not None

    async def expire(self, id: ApprovalId, note: str = "", record: AuditRecorder | None = None) -> None:
        """Expire a question or an unused approval. Raises IllegalMove if it was denied or used."""
        at = self._now()

        def job(connection: apsw.Connection) -> Approval | None:
            row = find_row(connection, f"{_SELECT} WHERE a.id = ?", (id,))
            if row is None:
                return None
            found = _load(row)
            check_move(APPROVAL_MOVES, found.state, ApprovalState.EXPIRED, f"The approval {id}")
            connection.execute("UPDATE approvals SET state = 'expired', note = ? WHERE id = ?", (note, id))
            expired = replace(found, state=ApprovalState.EXPIRED, note=note)
            if found.state is ApprovalState.OPEN:  # what becomes of an unused approval, the refused call tells
                _tell(connection, expired, at)
            return expired

        await self._write_audited(record, job)

    async def note_remaining(self, seconds: Mapping[ApprovalId, float]) -> None:
        """Store the remaining validity of these, so that a restart neither extends nor shortens it."""
        rows = [(left, id) for id, left in seconds.items()]
        sql = "UPDATE approvals SET remaining = ? WHERE id = ? AND state IN ('open', 'allowed')"
        await self._writer.write(lambda connection: connection.executemany(sql, rows).fetchall())

    async def grants(self, command: str | None = None) -> tuple[Grant, ...]:
        """Return the valid grants, for one command hash if given, oldest first."""
        where, values = ("", ()) if command is None else (" AND g.hash = ?", (command,))
        sql = f"{_GRANTS} WHERE revoked IS NULL{where} ORDER BY g.seq"
        return tuple(_load_grant(row) for row in await self._rows(sql, values))

    async def revoke(self, id: str, *entries: AuditEntry) -> bool:
        """Revoke a grant and write the audit log in the same transaction; return False if there is no such grant."""
        at = self._now()
        sql = "UPDATE grants SET revoked = ? WHERE id = ? AND revoked IS NULL"
        return bool(await self._audit.write(lambda c: changed(c, sql, (at, id)), lambda n: entries if n else ()))


def _add_grant(connection: apsw.Connection, asked: Approval, session: str | None, at: float, by: str) -> None:
    sql = (
        "INSERT INTO grants (id, session, tool, hash, requester, bound, given, given_by)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    )
    bound = ContentWriter(connection)(_dump_bound(asked.bound))
    connection.execute(sql, (asked.id, session, asked.tool, asked.hash, asked.requester, bound, at, by))


def _tell(connection: apsw.Connection, approval: Approval, at: float) -> None:
    """Write into the timeline how a question ended."""
    row = find_row(connection, "SELECT trace_id, span_id FROM turns WHERE id = ?", (approval.turn,))
    if row is not None:
        event = TimelineEvent(
            new_event_id(), TraceId(row[0]), new_span_id(), SpanId(row[1]), at, EventKind.APPROVAL, approval.tool,
            approval.state.value, session=approval.session, turn=approval.turn,
        )  # fmt: skip
        write_events(connection, ContentWriter(connection), (event,))
