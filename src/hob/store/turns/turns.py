"""Turns: the work on one or more messages, and crash recovery with quarantine."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import apsw

from hob.core.errors import NotFound
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, SpanId, TraceId, TurnId, new_event_id, new_span_id, new_turn_id, outbox_id
from hob.core.messages import Inbound, Outbound, OutboundKind
from hob.core.states import TURN_MOVES, TurnState
from hob.core.translation.language import translatable
from hob.core.turns import Parked, Turn, WaitsFor
from hob.core.values import dataclass
from hob.store.codec import load_inbound
from hob.store.database.part import DatabaseAccess, StorePart, transaction
from hob.store.database.rows import Row, all_rows, find_row, marks
from hob.store.database.state_moves import check_move
from hob.store.erasure.content import ContentWriter
from hob.store.messages.outbox import revive, write_outbounds
from hob.store.spending.model_calls import settle_unfinished
from hob.store.tasks import follow_turn, give_to_turn
from hob.store.timeline import write_events

MAX_ATTEMPTS = 3
Say = Callable[[TurnId], str]
"""Returns the message that tells a sender about a quarantined turn."""

_OPEN = "state IN ('ready', 'running', 'parked')"
_INDEXED = "turns t INDEXED BY turns_open"  # ordering by `seq` makes SQLite scan all turns instead
_INSERT = "INSERT INTO turns (id, session, trace_id, span_id, state, run, created) VALUES (?, ?, ?, ?, ?, ?, ?)"
_SELECT = (
    "SELECT t.id, session, trace_id, span_id, state, position, attempts, waits_for, l.text, created, ended,"
    " reason, kind, c.text, retried_by, q.text FROM turns t LEFT JOIN content c ON c.id = t.reply"
    " LEFT JOIN content l ON l.id = t.line LEFT JOIN content q ON q.id = t.question"
)
_INBOUNDS = (
    "SELECT i.version, c.text, b.text FROM inbox i JOIN content c ON c.id = i.text JOIN content b ON b.id = i.body"
    " WHERE i.turn = ? AND b.text IS NOT NULL"
)
# Progress of a turn `t`. A resumed turn repeats the request whose reply it never received; that step alone is not
# progress, or a message that crashes Hob during the request would never be quarantined.
_FAILED = (
    "SELECT DISTINCT t.id, t.seq FROM turns t JOIN inbox i ON i.turn = t.id JOIN content c ON c.id = i.body"
    " WHERE t.state = 'failed' AND t.reason = ? AND t.retried_by IS NULL AND c.text IS NOT NULL ORDER BY t.seq"
)
_PROGRESS = (
    "(SELECT count(*) FROM steps s WHERE s.turn = t.id AND NOT (kind = 'model_asked' AND EXISTS (SELECT 1 FROM steps e"
    " WHERE e.turn = s.turn AND e.n = s.n - 1 AND e.kind = 'model_asked')))"
)
# Turns waiting for people who have already answered; only a crash can have left them parked.
_STEP = "SELECT 1 FROM steps s JOIN content c ON c.id = s.body WHERE s.turn = t.id AND s.kind IN"
_ANSWERED_BUT_PARKED = (
    f"SELECT t.id FROM {_INDEXED} WHERE t.{_OPEN} AND t.state = 'parked' AND ("  # noqa: S608 - constants
    " t.waits_for = 'approval' AND ("
    "  NOT EXISTS (SELECT 1 FROM approvals a WHERE a.turn = t.id AND a.state = 'open')"
    "  OR EXISTS (SELECT 1 FROM approvals a WHERE a.turn = t.id AND a.state IN ('allowed', 'denied', 'expired')"
    f"   AND NOT EXISTS ({_STEP} ('approval_answered') AND json_extract(c.text, '$.approval') = a.id)))"
    " OR t.waits_for = 'answer' AND EXISTS (SELECT 1 FROM inbox i WHERE i.turn = t.id AND i.steered = 1"
    f"  AND NOT EXISTS ({_STEP} ('user_answered', 'steered') AND json_extract(c.text, '$.inbound') = i.id))"
    " OR t.waits_for IN ('child', 'client') AND EXISTS (SELECT 1 FROM late_results r WHERE r.turn = t.id"
    f"  AND NOT EXISTS ({_STEP} ('tool_received') AND json_extract(c.text, '$.result.call') = r.call))"
    ") ORDER BY t.seq"
)
_SUSPECTED = (
    "SELECT id FROM turns WHERE state = 'set_aside' AND sure = 0 AND retried_by IS NULL"
    " AND attempts BETWEEN ? AND ? ORDER BY seq"
)
# Open work of a restored backup whose texts were erased since, or lost to damage: nothing is left to work on.
_ERASED_MESSAGES = (
    "SELECT i.id, i.session, i.trace_id, i.span_id FROM inbox i INDEXED BY inbox_waiting WHERE i.state = 'waiting'"
    " AND EXISTS (SELECT 1 FROM content c WHERE c.id IN (i.body, i.text) AND c.text IS NULL) ORDER BY i.seq"
)
_ERASED_TURNS = (
    f"SELECT t.id FROM {_INDEXED} WHERE t.{_OPEN} AND ("  # noqa: S608 - constants
    "NOT EXISTS (SELECT 1 FROM inbox i WHERE i.turn = t.id)"
    " OR EXISTS (SELECT 1 FROM inbox i JOIN content c ON c.id IN (i.body, i.text)"
    "  WHERE i.turn = t.id AND c.text IS NULL)"
    " OR EXISTS (SELECT 1 FROM steps s JOIN content c ON c.id = s.body WHERE s.turn = t.id AND c.text IS NULL))"
)
# Steps after the last finished work of a turn, which a retry does not copy.
_NOT_RETRIED = frozenset({"model_asked", "model_failed", "waited", "cancelled", "stopped", "said"})


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A stored turn. `position` is the number of its journalled steps."""

    id: TurnId
    session: SessionKey
    trace: TraceId
    span: SpanId
    state: TurnState
    position: int
    attempts: int
    waits_for: WaitsFor | None
    line: str
    created: float
    ended: float | None
    reason: str
    kind: OutboundKind | None
    reply: str
    retried_by: TurnId | None
    question: str


@dataclass(frozen=True, slots=True)
class Recovered:
    """Result of the recovery, oldest first. Suspects must run one at a time; `has_suspected`: see `retry_suspected`."""

    quarantine: tuple[TurnId, ...] = ()
    ready: tuple[TurnId, ...] = ()
    set_aside: tuple[TurnId, ...] = ()
    has_suspected: bool = False


@dataclass(frozen=True, slots=True)
class TurnCounts:
    """Counts of turns that have not ended. Some of the `parked` ones wait for people: for approval or an answer."""

    ready: int
    running: int
    parked: int
    for_approval: int
    for_answer: int


def add_turn(connection: apsw.Connection, turn: Turn, state: TurnState, run: int | None, at: float) -> None:
    """Add a new turn."""
    connection.execute(_INSERT, (turn.id, turn.session, turn.trace, turn.span, state.value, run, at))


def end_turn(
    connection: apsw.Connection,
    turn: TurnId,
    state: TurnState,
    at: float,
    reply: int | None,
    kind: OutboundKind,
    reason: str = "",
) -> None:
    """Write the turn's last state. The caller has checked the move."""
    connection.execute(
        "UPDATE turns SET state = ?, ended = ?, run = NULL, reply = ?, kind = ?, reason = ?, line = NULL,"
        " question = NULL, waits_for = NULL, wake_at = NULL WHERE id = ?",
        (state.value, at, reply, kind.value, reason, turn),
    )
    # a turn cancelled while waiting for approval no longer needs it
    ended = "UPDATE approvals SET state = 'expired', note = 'its turn has ended' WHERE turn = ? AND state = 'open'"
    connection.execute(ended, (turn,))


def with_end(
    events: Sequence[TimelineEvent],
    turn: TurnId,
    trace: str,
    span: str,
    state: TurnState,
    at: float,
    reason: str = "",
) -> Sequence[TimelineEvent]:
    """Return the events, with the end in the last event about the turn or command; append one if there is none."""
    status = reason or "ok"
    for place in range(len(events) - 1, -1, -1):
        event = events[place]
        if event.kind in (EventKind.TURN, EventKind.COMMAND):
            if (event.classification, event.status, event.turn) == (state, status, turn):
                return events
            event = replace(event, classification=state.value, status=status, turn=turn)
            return (*events[:place], event, *events[place + 1 :])
    return (*events, _move_event(turn, trace, span, state, at, status))


def _move_event(
    turn: TurnId, trace: str, span: str, state: TurnState, at: float, status: str = "ok", text: str = ""
) -> TimelineEvent:
    return TimelineEvent(
        new_event_id(), TraceId(trace), new_span_id(), SpanId(span), at, EventKind.TURN, state.value, status,
        turn=turn, classification=state.value, text=text,
    )  # fmt: skip


def turn_row(connection: apsw.Connection, turn: TurnId, columns: str) -> Row:
    """Return these columns of a turn. Raises NotFound."""
    row = find_row(connection, f"SELECT {columns} FROM turns t WHERE id = ?", (turn,))  # noqa: S608
    if row is None:
        raise NotFound(translatable("There is no turn {turn}.", turn=turn))
    return row


def move_turn(
    connection: apsw.Connection,
    turn: TurnId,
    new: TurnState,
    at: float,
    content_writer: ContentWriter | None = None,
    reason: str = "",
    text: str = "",
) -> None:
    """Move the turn and its tasks and record that. Raises NotFound, IllegalMove."""
    state, trace, span, session = turn_row(connection, turn, "state, trace_id, span_id, session")
    check_move(TURN_MOVES, TurnState(state), new, f"The turn {turn}")
    connection.execute("UPDATE turns SET state = ? WHERE id = ?", (new.value, turn))
    follow_turn(connection, turn, new, at, reason)
    event = _move_event(turn, trace, span, new, at, reason or "ok", text)
    write_events(connection, content_writer or ContentWriter(connection), (event,), session)


def load_inbounds(connection: apsw.Connection, turn: TurnId, *, steered: bool) -> tuple[Inbound, ...]:
    """Return the messages a turn began with, or also those that joined it later; in order."""
    sql = f"{_INBOUNDS} {'' if steered else 'AND i.steered = 0'} ORDER BY i.seq"
    return tuple(load_inbound(version, text or "", body) for version, text, body in all_rows(connection, sql, (turn,)))


def _load(row: Sequence[Any]) -> TurnRow:
    (id, session, trace, span, state, position, attempts, waits_for, line, created, ended, reason, kind,
     reply, retried_by, question) = row  # fmt: skip
    return TurnRow(
        TurnId(id), SessionKey(session), TraceId(trace), SpanId(span), TurnState(state), position, attempts,
        None if waits_for is None else WaitsFor(waits_for), line or "", created, ended, reason,
        None if kind is None else OutboundKind(kind), reply or "", retried_by, question or "",
    )  # fmt: skip


def wake_turn(connection: apsw.Connection, turn: TurnId, at: float) -> bool:
    """Make a parked turn ready; return whether it is ready now."""
    row = find_row(connection, "SELECT state FROM turns WHERE id = ?", (turn,))
    if row is None or row[0] != TurnState.PARKED:
        return row is not None and row[0] == TurnState.READY
    move_turn(connection, turn, TurnState.READY, at)
    sql = "UPDATE turns SET waits_for = NULL, wake_at = NULL, line = NULL, question = NULL WHERE id = ?"
    connection.execute(sql, (turn,))
    return True


def _release(connection: apsw.Connection, turn: TurnId, at: float) -> None:
    move_turn(connection, turn, TurnState.READY, at)
    connection.execute("UPDATE turns SET run = NULL, attempts = 0, crash_position = NULL WHERE id = ?", (turn,))


class TurnRows(StorePart):
    """The turns and their states."""

    def __init__(self, access: DatabaseAccess, run: int, unclean: bool) -> None:
        super().__init__(access)
        self._run = run
        self._unclean = unclean

    @transaction
    def start(self, connection: apsw.Connection, turn: TurnId) -> Turn:
        """Start a turn that is ready, or that a failed write left running. Raises NotFound, IllegalMove, StoreErrors.

        Returns it with its opening and joined messages.
        """
        at = self._now()
        if turn_row(connection, turn, "state")[0] == TurnState.RUNNING:
            _release(connection, turn, at)
        move_turn(connection, turn, TurnState.RUNNING, at)
        connection.execute("UPDATE turns SET run = ? WHERE id = ?", (self._run, turn))
        sql = "SELECT session, trace_id, span_id, attempts FROM turns WHERE id = ?"
        session, trace, span, attempts = all_rows(connection, sql, (turn,))[0]
        inbounds = load_inbounds(connection, turn, steered=False)
        everybody = load_inbounds(connection, turn, steered=True)
        joined = tuple(inbound for inbound in everybody if inbound not in inbounds)
        return Turn(turn, SessionKey(session), TraceId(trace), SpanId(span), inbounds, attempts, joined)

    @transaction
    def release(self, connection: apsw.Connection, turn: TurnId) -> None:
        """Release a running turn, as a clean shutdown does: its attempts start over."""
        _release(connection, turn, self._now())

    @transaction
    def park(self, connection: apsw.Connection, turn: TurnId, parked: Parked) -> None:
        """Park the running turn; with `until`, only time wakes it."""
        at = self._now()
        move_turn(connection, turn, TurnState.PARKED, at)
        content_writer = ContentWriter(connection)
        line, question = content_writer.maybe(parked.line), content_writer.maybe(parked.question)
        connection.execute(
            "UPDATE turns SET run = NULL, attempts = 0, crash_position = NULL,"
            " waits_for = ?, wake_at = ?, line = ?, question = ? WHERE id = ?",
            (parked.on.value, parked.until, line, question, turn),
        )
        write_outbounds(connection, content_writer, parked.outbounds, at)

    @transaction
    def wake(self, connection: apsw.Connection, turn: TurnId) -> bool:
        """Make a parked turn ready; return whether it is ready now."""
        return wake_turn(connection, turn, self._now())

    async def due(self, now: float) -> tuple[TurnId, ...]:
        """Return parked turns whose time has come, oldest first."""
        sql = f"SELECT id FROM {_INDEXED} WHERE {_OPEN} AND state = 'parked' AND wake_at <= ? ORDER BY seq"  # noqa: S608
        return tuple(TurnId(row[0]) for row in await self._rows(sql, (now,)))

    async def parked(self, on: Collection[WaitsFor], session: SessionKey | None = None) -> tuple[TurnId, ...]:
        """Return turns waiting for one of these, of one session if given, oldest first."""
        where, values = ("", ()) if session is None else (" AND session = ?", (session,))
        sql = (
            f"SELECT id FROM {_INDEXED} WHERE {_OPEN} AND state = 'parked' AND waits_for IN ({marks(on)}){where}"  # noqa: S608
            " ORDER BY seq"
        )
        values = (*(each.value for each in on), *values)
        return tuple(TurnId(row[0]) for row in await self._rows(sql, values))

    async def unfinished_since(self, until: float) -> tuple[TurnId, ...]:
        """Return turns started until then (Unix seconds) that are neither running nor ended, oldest first."""
        sql = f"SELECT id FROM {_INDEXED} WHERE {_OPEN} AND state IN ('ready', 'parked') AND created <= ? ORDER BY seq"  # noqa: S608
        return tuple(TurnId(row[0]) for row in await self._rows(sql, (until,)))

    async def unfinished(self, session: SessionKey) -> tuple[TurnId, ...]:
        """Return the session's turns that are neither running nor ended, oldest first."""
        sql = f"SELECT id FROM {_INDEXED} WHERE {_OPEN} AND state IN ('ready', 'parked') AND session = ? ORDER BY seq"  # noqa: S608
        return tuple(TurnId(row[0]) for row in await self._rows(sql, (session,)))

    async def answered_but_parked(self) -> tuple[TurnId, ...]:
        """Return parked turns whose people have answered, oldest first: the process ended before it could wake them."""
        return tuple(TurnId(row[0]) for row in await self._rows(_ANSWERED_BUT_PARKED))

    async def next_wake(self) -> float | None:
        """Return when the next parked turn wakes by time, or None."""
        sql = f"SELECT min(wake_at) FROM turns WHERE {_OPEN} AND state = 'parked'"  # noqa: S608
        return await self._time(sql)

    async def find(self, id: str) -> TurnRow | None:
        """Return a turn by its id or by the id of one of its messages."""
        sql = f"{_SELECT} WHERE t.id = coalesce((SELECT turn FROM inbox WHERE id = ?), ?)"  # noqa: S608
        return await self._find(_load, sql, (id, id))

    async def latest(self, session: SessionKey | None, at_most: int) -> tuple[TurnId, ...]:
        """Return the newest turns, of one session or of all, newest first."""
        of_session = "SELECT id FROM turns WHERE session = ? ORDER BY seq DESC LIMIT ?"
        of_all = "SELECT id FROM turns WHERE seq > (SELECT max(seq) FROM turns) - ? ORDER BY seq DESC"
        sql, values = (of_session, (session, at_most)) if session is not None else (of_all, (at_most,))
        return tuple(row[0] for row in await self._rows(sql, values))

    async def traces(self, turns: Collection[TurnId]) -> Mapping[TurnId, TraceId]:
        """Return the trace of each of these turns."""
        sql = f"SELECT id, trace_id FROM turns WHERE id IN ({marks(turns)})"  # noqa: S608
        rows = await self._rows(sql, tuple(turns))
        return {TurnId(id): TraceId(trace) for id, trace in rows}

    async def hops(self, turn: TurnId) -> int:
        """Return the longest chain of self-made messages between the turn and a person."""
        return (await self._find(itemgetter(0), "SELECT max(hops) FROM inbox WHERE turn = ?", (turn,))) or 0

    async def opening(self, turn: TurnId) -> str:
        """Return the opening text of a turn; empty if erased."""
        sql = "SELECT c.text FROM inbox i JOIN content c ON c.id = i.text WHERE turn = ? ORDER BY i.seq LIMIT 1"
        return await self._find(itemgetter(0), sql, (turn,)) or ""

    async def counts(self) -> TurnCounts:
        """Count the turns that have not ended."""
        sql = f"SELECT state, waits_for, count(*) FROM turns WHERE {_OPEN} GROUP BY state, waits_for"  # noqa: S608
        found: Counter[str] = Counter()
        for state, waits_for, count in await self._rows(sql):
            found.update({state: count, f"{state} {waits_for}": count})
        for_approval, for_answer = (found[f"parked {on.value}"] for on in (WaitsFor.APPROVAL, WaitsFor.ANSWER))
        return TurnCounts(found["ready"], found["running"], found["parked"], for_approval, for_answer)

    @transaction
    def recover(self, connection: apsw.Connection, say: Say) -> Recovered:
        """Recover from earlier processes in one transaction (the attempt rule of promise 2).

        A turn found running after an unclean end counts one more attempt, or its first if it made progress since the
        last such end; three attempts quarantine it, and `say(turn)` is sent to its senders. A clean end resets all
        attempts; an unclean one resets those of turns it did not find running.
        """
        at = self._now()
        cleared = f"UPDATE turns SET attempts = 0, crash_position = NULL WHERE {_OPEN} AND attempts > 0"  # noqa: S608
        connection.execute(f"{cleared} AND state != 'running'" if self._unclean else cleared)
        sql = (
            f"SELECT t.id, r.ended IS NULL FROM {_INDEXED} LEFT JOIN runs r ON r.id = t.run WHERE {_OPEN}"  # noqa: S608
            " AND state = 'running' AND run IS NOT ? ORDER BY t.seq"
        )
        aside = []
        for id, crashed in all_rows(connection, sql, (self._run,)):
            turn = TurnId(id)
            if not crashed:
                move_turn(connection, turn, TurnState.READY, at)
            elif _record_defect(connection, turn, say, at) is TurnState.SET_ASIDE:
                aside.append(turn)
        sql = (
            f"SELECT id, attempts > 0 AND {_PROGRESS} = crash_position FROM {_INDEXED}"  # noqa: S608
            f" WHERE {_OPEN} AND state = 'ready' ORDER BY seq"
        )
        found = [(TurnId(id), bool(suspect)) for id, suspect in all_rows(connection, sql)]
        return Recovered(
            quarantine=tuple(turn for turn, suspect in found if suspect),
            ready=tuple(turn for turn, suspect in found if not suspect),
            set_aside=tuple(aside),
            has_suspected=find_row(connection, _SUSPECTED, (0, MAX_ATTEMPTS + 1)) is not None,
        )

    async def record_defect(self, turn: TurnId, say: Say, *, sure: bool = True) -> TurnState:
        """Count a defect of Hob in a running turn as an unclean end; return READY or SET_ASIDE.

        `sure` means that nothing else can be the cause, so that three attempts are final.
        """
        at = self._now()
        return await self._writer.write(lambda connection: _record_defect(connection, turn, say, at, sure=sure))

    @transaction
    def retry_suspected(self, connection: apsw.Connection, *, last: bool = False) -> tuple[TurnId, ...]:
        """Retry turns quarantined after unclean ends of the process; return the new turns.

        Another such end at the same place quarantines them again. `last` retries those, for the last time.
        """
        at = self._now()
        fewest, maximum = (MAX_ATTEMPTS + 1,) * 2 if last else (0, MAX_ATTEMPTS)
        made = [_retry(connection, id, at) for (id,) in all_rows(connection, _SUSPECTED, (fewest, maximum))]
        new = tuple(turn for turn in made if turn is not None)
        sql = f"UPDATE turns AS t SET attempts = ?, sure = ?, crash_position = {_PROGRESS} WHERE id = ?"  # noqa: S608
        connection.executemany(sql, [(maximum, last, turn) for turn in new])
        return new

    async def failed_for(self, reason: str) -> tuple[TurnId, ...]:
        """Return turns that failed for this reason, neither retried nor erased, oldest first. Scans all turns."""
        return tuple(TurnId(id) for id, _ in await self._rows(_FAILED, (reason,)))

    async def retry(self, id: str) -> TurnId | None:
        """Retry a failed or quarantined turn, given its id, or that of a message or chunk.

        It becomes a new turn with the same messages and finished steps, so that no tool call is repeated. An
        undeliverable chunk is sent again, and its turn is returned. Returns None if there is nothing to retry.
        """
        at = self._now()
        return await self._writer.write(lambda connection: _retry(connection, id, at))


def cancel_erased(connection: apsw.Connection, at: float) -> None:
    """Cancel open work whose texts are erased; no one is told."""
    for id, session, trace, span in all_rows(connection, _ERASED_MESSAGES):
        turn = Turn(new_turn_id(), SessionKey(session), TraceId(trace), SpanId(span), ())
        add_turn(connection, turn, TurnState.READY, None, at)
        connection.execute("UPDATE inbox SET state = 'claimed', turn = ? WHERE id = ?", (turn.id, id))
        give_to_turn(connection, (id,), turn.id, at)
    for (id,) in all_rows(connection, _ERASED_TURNS):
        move_turn(connection, id, TurnState.CANCELLED, at, reason="erased")
        end_turn(connection, id, TurnState.CANCELLED, at, None, OutboundKind.NOTICE, "erased")
        settle_unfinished(connection, id)
        connection.execute("UPDATE inbox SET state = 'settled' WHERE turn = ?", (id,))


def _record_defect(connection: apsw.Connection, turn: TurnId, say: Say, at: float, *, sure: bool = False) -> TurnState:
    place, crash_position, attempts = turn_row(connection, turn, f"{_PROGRESS}, crash_position, attempts")
    attempts = attempts + 1 if place == crash_position else 1
    sql = "UPDATE turns SET attempts = ?, sure = max(sure, ?), crash_position = ? WHERE id = ?"
    connection.execute(sql, (attempts, sure, place, turn))
    if attempts >= MAX_ATTEMPTS:
        _quarantine(connection, turn, say(turn), at)
        return TurnState.SET_ASIDE
    move_turn(connection, turn, TurnState.READY, at)
    connection.execute("UPDATE turns SET run = NULL WHERE id = ?", (turn,))
    return TurnState.READY


def _quarantine(connection: apsw.Connection, turn: TurnId, text: str, at: float) -> None:
    reason = f"ended uncleanly {MAX_ATTEMPTS} times at the same step"
    content_writer = ContentWriter(connection)
    move_turn(connection, turn, TurnState.SET_ASIDE, at, content_writer, TurnState.SET_ASIDE.value, text)
    end_turn(connection, turn, TurnState.SET_ASIDE, at, content_writer(text), OutboundKind.ERROR, reason)
    settle_unfinished(connection, turn)
    connection.execute("UPDATE inbox SET state = 'settled' WHERE turn = ?", (turn,))
    (trace,) = all_rows(connection, "SELECT trace_id FROM turns WHERE id = ?", (turn,))[0]
    inbounds = load_inbounds(connection, turn, steered=True)
    addresses = dict.fromkeys(inbound.origin for inbound in inbounds)
    outbounds = [
        Outbound(outbox_id(turn, chunk), to, text, OutboundKind.ERROR, turn, trace)
        for chunk, to in enumerate(addresses)
    ]
    write_outbounds(connection, content_writer, outbounds, at)


def _retry(connection: apsw.Connection, id: str, at: float) -> TurnId | None:
    row = find_row(connection, "SELECT turn FROM outbox WHERE id = ?", (id,))
    if row is not None:
        return TurnId(row[0]) if revive(connection, id) and row[0] is not None else None
    found = _find_retriable(connection, id)
    if found is None or not load_inbounds(connection, TurnId(found[0]), steered=True):  # unknown or erased
        return None
    old, session, trace = found
    new = Turn(new_turn_id(), SessionKey(session), TraceId(trace), new_span_id(), ())
    add_turn(connection, new, TurnState.READY, None, at)
    steps = all_rows(connection, "SELECT n, kind, version, hash, at, body FROM steps WHERE turn = ? ORDER BY n", (old,))
    while steps and steps[-1][1] in _NOT_RETRIED:
        steps.pop()
    for n, kind, version, command, when, body in steps:
        sql = "INSERT INTO steps (turn, n, kind, version, hash, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
        connection.execute(sql, (new.id, n, kind, version, command, when, body))
    connection.execute("UPDATE turns SET position = ? WHERE id = ?", (len(steps), new.id))
    connection.execute("UPDATE turns SET retried_by = ? WHERE id = ?", (new.id, old))
    # the new turn writes the messages again, where they are answered
    sql = "UPDATE transcript SET hidden = 1 WHERE session = ? AND turn = ?"
    connection.execute(sql, (session, old))
    connection.execute("UPDATE inbox SET turn = ? WHERE turn = ?", (new.id, old))
    connection.execute("UPDATE tasks SET turn = ? WHERE turn = ?", (new.id, old))
    follow_turn(connection, new.id, TurnState.READY, at)
    event = _move_event(new.id, new.trace, new.span, TurnState.READY, at)
    write_events(connection, ContentWriter(connection), (event,), new.session)
    return new.id


def _find_retriable(connection: apsw.Connection, id: str) -> Row | None:
    sql = (
        "SELECT id, session, trace_id FROM turns WHERE id = coalesce((SELECT turn FROM inbox WHERE id = ?), ?)"
        " AND state IN ('failed', 'set_aside') AND retried_by IS NULL"
    )
    return find_row(connection, sql, (id, id))
