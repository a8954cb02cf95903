"""The inbox: accepted messages and their states."""

import hashlib
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import apsw

from hob.core.errors import Busy, BusyScope, InvalidRequest
from hob.core.events.timeline import TimelineEvent
from hob.core.ids import InboundId, OutboxId, SessionKey, SpanId, TraceId, TurnId, new_span_id, new_turn_id
from hob.core.messages import Attachment, Inbound, Outbound, OutboundKind
from hob.core.ports.accept import Accepted
from hob.core.states import InboxState, TaskState, TurnState
from hob.core.translation.language import translatable
from hob.core.turns import Session, Turn
from hob.core.values import dataclass
from hob.store.codec import INBOUND_VERSION, dump_inbound, load_inbound
from hob.store.database.part import DatabaseAccess, StorePart, transaction
from hob.store.database.rows import all_rows, find_row, marks
from hob.store.erasure.content import ContentWriter
from hob.store.messages.outbox import write_outbounds
from hob.store.sessions import chosen_session, load_session, touch_session
from hob.store.tasks import add_task, follow_turn, give_to_turn
from hob.store.timeline import write_events
from hob.store.turns.turns import add_turn, end_turn, with_end

T = TypeVar("T")
MESSAGE, LANE_COMMAND, ARRIVAL_COMMAND = 0, 1, 2
"""Kinds of messages: for a turn, a command run in order, a command answered on arrival."""
_RETRY_SECONDS = 10.0
_HOUR = 3600.0

_INSERT = (
    "INSERT INTO inbox (id, version, session, sender, trace_id, span_id, state, turn, command, at, not_before, hops,"
    " sender_class, text, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_FIRST_WITH_KEY = (
    "SELECT i.id, i.trace_id, i.session, i.command, c.text FROM dedup d JOIN inbox i ON i.id = d.inbound"
    " LEFT JOIN turns t ON t.id = i.turn AND i.command = 2 LEFT JOIN content c ON c.id = t.reply WHERE d.hash = ?"
)
_SELECT_WAITING = (
    "SELECT i.seq, i.session, i.not_before, i.command, i.version, c.text, b.text FROM inbox i"
    " JOIN content c ON c.id = i.text JOIN content b ON b.id = i.body WHERE i.state = 'waiting' AND i.session = ?"
)
_SELECT_INBOUND = (
    "SELECT i.version, c.text, b.text FROM inbox i JOIN content c ON c.id = i.text JOIN content b ON b.id = i.body"
    " WHERE i.id = ? AND c.text IS NOT NULL AND b.text IS NOT NULL"
)
_ATTACHED = (
    "SELECT i.version, b.text FROM inbox i JOIN content b ON b.id = i.body WHERE i.trace_id = ? AND b.text IS NOT NULL"
)
_WAITING_SPANS = "SELECT id, span_id FROM inbox WHERE state = 'waiting' AND session = ?"
_COUNTS = (
    "SELECT (SELECT count(*) FROM inbox WHERE state = 'waiting' AND session = ?),"
    " (SELECT count(*) FROM inbox WHERE state = 'waiting' AND sender = ?),"
    " (SELECT count(*) FROM inbox WHERE state = 'waiting')"
)


@dataclass(frozen=True, slots=True)
class InboxLimits:
    """Limits on waiting messages: per session, per sender, in total; and on self-made messages per hour.

    None means unlimited; the settings of the queues (`bus`) give the usual values.
    """

    session_queue: int = sys.maxsize
    sender: int = sys.maxsize
    total: int = sys.maxsize
    self_made_per_hour: int = sys.maxsize


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message no turn has claimed. `not_before` is when its debounce ends (Unix seconds)."""

    inbound: Inbound
    session: SessionKey
    seq: int
    not_before: float
    command: bool


@dataclass(frozen=True, slots=True)
class InboxCounts:
    """The number of waiting messages, and since when the oldest waits (Unix seconds)."""

    waiting: int
    sessions: int
    oldest: float | None


def _sender_key(inbound: Inbound) -> str:
    return f"{inbound.origin.channel}:{inbound.origin.account}:{inbound.sender.id}"


def _key_hash(channel: str, account: str, key: str) -> bytes:
    """Return the hash by which a message key is remembered forever: SHA-256 of channel, account and key, separated by
    NULs.
    """
    return hashlib.sha256("\0".join((channel, account, key)).encode("utf-8", "surrogatepass")).digest()


def _hash_of(inbound: Inbound) -> bytes:
    return _key_hash(inbound.origin.channel, inbound.origin.account, inbound.key)


def _find_first(connection: apsw.Connection, seal: bytes) -> Accepted | None:
    """Return the first message with this key, which makes a second one a duplicate."""
    row = find_row(connection, _FIRST_WITH_KEY, (seal,))
    if row is None:
        return None
    id, trace, session, command, answer = row
    return Accepted(
        InboundId(id), TraceId(trace), SessionKey(session), True, answer if command == ARRIVAL_COMMAND else None
    )


def check_limits(
    connection: apsw.Connection, inbound: Inbound, session: SessionKey, limits: InboxLimits, at: float
) -> None:
    """Raise Busy if one more message would exceed a limit."""
    row = find_row(connection, _COUNTS, (session, _sender_key(inbound)))
    in_session, of_sender, in_all = row or (0, 0, 0)
    for scope, count, limit in (
        (BusyScope.LANE, in_session, limits.session_queue),
        (BusyScope.SENDER, of_sender, limits.sender),
        (BusyScope.TOTAL, in_all, limits.total),
    ):
        if count >= limit:
            raise Busy(scope, _RETRY_SECONDS)
    if inbound.hops > 0:
        sql = "SELECT count(*), min(at) FROM inbox WHERE hops > 0 AND at > ?"
        made, first = find_row(connection, sql, (at - _HOUR,)) or (0, None)
        if made >= limits.self_made_per_hour:
            raise Busy(BusyScope.SELF, max(1.0, (at if first is None else first) + _HOUR - at))


def claim_rows(
    connection: apsw.Connection, inbounds: Sequence[InboundId], turn: TurnId, at: float, *, steered: bool
) -> None:
    """Assign waiting messages to a turn. The caller has checked within this transaction that they are waiting."""
    connection.execute(
        f"UPDATE inbox SET state = 'claimed', turn = ?, steered = ? WHERE id IN ({marks(inbounds)})",  # noqa: S608
        (turn, steered, *inbounds),
    )
    give_to_turn(connection, inbounds, turn, at)


def load_waiting(row: Sequence[Any]) -> Waiting:
    """Load a waiting message from a row."""
    seq, session, not_before, command, version, text, body = row
    return Waiting(
        load_inbound(version, text or "", body), SessionKey(session), seq, not_before, command == LANE_COMMAND
    )


def waiting_rows(connection: apsw.Connection, session: SessionKey) -> tuple[Waiting, ...]:
    """Return the waiting messages of a session, oldest first."""
    return tuple(load_waiting(row) for row in all_rows(connection, f"{_SELECT_WAITING} ORDER BY i.seq", (session,)))


class Inbox(StorePart):
    """The accepted messages."""

    def __init__(self, access: DatabaseAccess, run: int) -> None:
        super().__init__(access)
        self._run = run

    @transaction
    def accept(
        self,
        connection: apsw.Connection,
        inbound: Inbound,
        *,
        session: SessionKey,
        limits: InboxLimits,
        not_before: float = 0.0,
        command: bool = False,
        event: TimelineEvent,
    ) -> Accepted:
        """Store the message durably, unless its key was accepted before.

        It goes to the session it names, otherwise to the one its chat was switched to, otherwise to `session`. Raises
        Busy, InvalidRequest, StoreFull and other StoreErrors; then nothing was written.
        """
        at = self._now()
        seal = _hash_of(inbound)
        first = _find_first(connection, seal)
        if first is not None:
            return first
        goal = chosen_session(connection, inbound, session)
        check_limits(connection, inbound, goal, limits, at)
        content_writer = ContentWriter(connection)
        kind = LANE_COMMAND if command else MESSAGE
        self._put(connection, content_writer, inbound, goal, seal, event, kind, None, at, not_before)
        return Accepted(inbound.id, inbound.trace, goal, queued=True)

    @transaction
    def answered(
        self,
        connection: apsw.Connection,
        inbound: Inbound,
        *,
        session: SessionKey,
        answer: str,
        event: TimelineEvent,
        reply_event: TimelineEvent,
    ) -> Accepted:
        """Store a command that was answered on arrival, so that the same key always gets the same answer.

        Raises the same as `accept` except Busy: a command that needs no turn does not wait.
        """
        at = self._now()
        seal = _hash_of(inbound)
        first = _find_first(connection, seal)
        if first is not None:
            return first
        goal = chosen_session(connection, inbound, session)
        content_writer = ContentWriter(connection)
        turn = Turn(new_turn_id(), goal, inbound.trace, event.span, (inbound,))
        add_turn(connection, turn, TurnState.RUNNING, self._run, at)
        self._put(connection, content_writer, inbound, goal, seal, event, ARRIVAL_COMMAND, turn.id, at, 0.0)
        end_turn(connection, turn.id, TurnState.DONE, at, content_writer(answer), OutboundKind.REPLY)
        follow_turn(connection, turn.id, TurnState.DONE, at)
        events = with_end((reply_event,), turn.id, turn.trace, turn.span, TurnState.DONE, at)
        write_events(connection, content_writer, events, goal)
        return Accepted(inbound.id, inbound.trace, goal, answer=answer)

    @transaction
    def join(
        self, connection: apsw.Connection, inbound: Inbound, *, session: SessionKey, turn: TurnId, event: TimelineEvent
    ) -> Accepted | None:
        """Store a message that joins a parked turn as the answer it waits for; return None if the turn does not wait.

        Raises the same as `accept` except Busy.
        """
        at = self._now()
        seal = _hash_of(inbound)
        first = _find_first(connection, seal)
        if first is not None:
            return first
        sql = "SELECT session FROM turns WHERE id = ? AND state = 'parked' AND waits_for = 'answer'"
        row = find_row(connection, sql, (turn,))
        if row is None:
            return None
        goal = SessionKey(row[0])
        self._put(connection, ContentWriter(connection), inbound, goal, seal, event, MESSAGE, None, at, 0.0)
        claim_rows(connection, [inbound.id], turn, at, steered=True)
        return Accepted(inbound.id, inbound.trace, goal)

    async def _write(self, job: Callable[[apsw.Connection], T]) -> T:
        try:
            return await self._writer.write(job)
        except UnicodeEncodeError as error:
            raise InvalidRequest(
                translatable("A name or an id in the message is not valid text: {reason}.", reason=error.reason)
            ) from error

    def _put(
        self, connection: apsw.Connection, content_writer: ContentWriter, inbound: Inbound, session: SessionKey,
        seal: bytes, event: TimelineEvent, command: int, turn: TurnId | None, at: float, not_before: float,
    ) -> None:  # fmt: skip
        text = content_writer(inbound.text)
        state = InboxState.WAITING if turn is None else InboxState.SETTLED
        task = TaskState.PENDING if turn is None else TaskState.RUNNING
        connection.execute("INSERT INTO dedup (hash, inbound) VALUES (?, ?)", (seal, inbound.id))
        connection.execute(
            _INSERT,
            (
                inbound.id, INBOUND_VERSION, session, _sender_key(inbound), inbound.trace, event.span, state.value,
                turn, command, at, not_before, inbound.hops, inbound.sender.cls.value, text,
                content_writer(dump_inbound(inbound)),
            ),
        )  # fmt: skip
        add_task(connection, inbound.id, session, inbound.trace, task, text, at)
        if turn is not None:
            connection.execute("UPDATE tasks SET turn = ? WHERE id = ?", (turn, inbound.id))
        if event.session != session:  # the event was created before the chat's switch was known
            event = replace(event, session=session)
        write_events(connection, content_writer, (event,))
        touch_session(connection, content_writer, session, inbound.origin.key(), inbound.text, at, inbound.trace)

    async def find_key(self, channel: str, account: str, key: str) -> Accepted | None:
        """Return how the first message with this key was accepted."""
        seal = _key_hash(channel, account, key)
        return await self._readers.read(lambda connection: _find_first(connection, seal))

    async def find_inbound(self, id: InboundId) -> Inbound | None:
        """Return the message as it was accepted; None if nothing of it is left."""
        return await self._find(lambda row: load_inbound(*row), _SELECT_INBOUND, (id,))

    async def attached(self, traces: Collection[TraceId]) -> Mapping[TraceId, tuple[Attachment, ...]]:
        """Return the files of the messages that began these traces."""

        def read(connection: apsw.Connection) -> Mapping[TraceId, tuple[Attachment, ...]]:
            found: dict[TraceId, tuple[Attachment, ...]] = {}
            for trace in traces:
                for version, body in all_rows(connection, _ATTACHED, (trace,)):
                    found[trace] = found.get(trace, ()) + load_inbound(version, "", body).attachments
            return found

        return await self._readers.read(read) if traces else {}

    async def waiting(self, session: SessionKey) -> tuple[Waiting, ...]:
        """Return the session's unclaimed messages, oldest first."""
        return await self._readers.read(lambda connection: waiting_rows(connection, session))

    async def queue(self, session: SessionKey) -> tuple[Session, tuple[Waiting, ...]]:
        """Return the session and its unclaimed messages, oldest first, in one snapshot."""
        return await self._readers.read(lambda c: (load_session(c, session), waiting_rows(c, session)))

    async def busy_sessions(self) -> tuple[SessionKey, ...]:
        """Return the sessions with waiting messages, the longest waiting first."""
        sql = "SELECT session FROM inbox WHERE state = 'waiting' GROUP BY session ORDER BY min(seq)"
        return tuple(SessionKey(row[0]) for row in await self._rows(sql))

    @transaction
    def claim(self, connection: apsw.Connection, session: SessionKey, inbounds: Sequence[InboundId]) -> Turn:
        """Start a turn with these waiting messages. Raises InvalidRequest if one of them does not wait here."""
        at = self._now()
        sql = f"{_SELECT_WAITING} AND i.id IN ({marks(inbounds)}) ORDER BY i.seq"
        rows = all_rows(connection, sql, (session, *inbounds))
        chosen = tuple(load_waiting(row).inbound for row in rows)
        if not chosen or len(chosen) != len(set(inbounds)):
            raise InvalidRequest(translatable("A message that was to be claimed does not wait in this conversation."))
        turn = Turn(new_turn_id(), session, chosen[0].trace, new_span_id(), chosen)
        add_turn(connection, turn, TurnState.RUNNING, self._run, at)
        claim_rows(connection, inbounds, turn.id, at, steered=False)
        return turn

    @transaction
    def settle_command(
        self,
        connection: apsw.Connection,
        waiting: Waiting,
        answer: str,
        outbounds: Sequence[Outbound],
        events: Sequence[TimelineEvent],
    ) -> None:
        """Store the answer of a queued command and the messages to send; idempotent."""
        at = self._now()
        inbound = waiting.inbound
        row = find_row(connection, "SELECT state, span_id FROM inbox WHERE id = ?", (inbound.id,))
        if row is None or row[0] != InboxState.WAITING:
            return
        content_writer = ContentWriter(connection)
        turn = Turn(new_turn_id(), waiting.session, inbound.trace, row[1], (inbound,))
        self._settle(connection, content_writer, turn, TurnState.DONE, answer, outbounds, events, at)

    def _settle(
        self, connection: apsw.Connection, content_writer: ContentWriter, turn: Turn, state: TurnState, reply: str,
        outbounds: Sequence[Outbound], events: Sequence[TimelineEvent], at: float, reason: str = "",
    ) -> None:  # fmt: skip
        """End a waiting message at once, in a turn that never ran."""
        ids = [inbound.id for inbound in turn.inbounds]
        kind = OutboundKind.REPLY if state is TurnState.DONE else OutboundKind.NOTICE
        add_turn(connection, turn, TurnState.RUNNING, self._run, at)
        claim_rows(connection, ids, turn.id, at, steered=False)
        connection.execute("UPDATE inbox SET state = 'settled' WHERE turn = ?", (turn.id,))
        end_turn(connection, turn.id, state, at, content_writer(reply), kind, reason)
        follow_turn(connection, turn.id, state, at, reason)
        write_outbounds(connection, content_writer, outbounds, at, turn.id)
        told = with_end(events, turn.id, turn.trace, turn.span, state, at, reason)
        write_events(connection, content_writer, told, turn.session)

    @transaction
    def cancel_waiting(
        self,
        connection: apsw.Connection,
        session: SessionKey,
        reason: str,
        only: Collection[InboundId] | None = None,
        *,
        text: str = "",
    ) -> tuple[InboundId, ...]:
        """Cancel the session's waiting messages (or only these) with a reason; return which.

        Each sender is sent the text.
        """
        at = self._now()
        keep, ids = ContentWriter(connection), []
        spans: dict[str, SpanId] = dict(all_rows(connection, _WAITING_SPANS, (session,)))
        for inbound in (row.inbound for row in waiting_rows(connection, session)):
            if only is not None and inbound.id not in only:
                continue
            ids.append(inbound.id)
            turn = Turn(new_turn_id(), session, inbound.trace, spans[inbound.id], (inbound,))
            notice = Outbound(
                OutboxId(f"{turn.id}.end"), inbound.origin, text, OutboundKind.NOTICE, turn.id, inbound.trace
            )
            pending = (notice,) if text else ()
            self._settle(connection, keep, turn, TurnState.CANCELLED, text, pending, (), at, reason)
        return tuple(ids)

    async def first_of(self, turn: TurnId) -> InboundId | None:
        """Return the message a turn began with; None if it was erased."""
        sql = "SELECT id FROM inbox WHERE turn = ? ORDER BY seq LIMIT 1"
        return await self._find(lambda row: InboundId(row[0]), sql, (turn,))

    async def counts(self) -> InboxCounts:
        """Count the waiting messages. Those of paused sessions do not count towards the age."""
        sql = (
            "SELECT count(*), count(DISTINCT i.session), min(i.at) FILTER (WHERE NOT coalesce(s.paused, 0))"
            " FROM inbox i LEFT JOIN sessions s ON s.key = i.session WHERE i.state = 'waiting'"
        )
        row = await self._row(sql)
        return InboxCounts(*(row or (0, 0, None)))
