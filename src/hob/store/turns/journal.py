"""The journal of a turn's steps, and the turn's end."""

from collections.abc import Collection, Sequence

import apsw

from hob.core.errors import NotFound
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import InboundId, SessionKey, SpanId, TraceId, TurnId, new_event_id, new_span_id
from hob.core.messages import Inbound
from hob.core.models import ModelRequest
from hob.core.states import FINAL_TURNS, TURN_MOVES, TurnState
from hob.core.steps import (
    VERSION,
    ModelAsked,
    ModelFailed,
    ModelReplied,
    Steered,
    Step,
    ToolIntended,
    Transcribed,
    command_hash,
    dump_step,
    load_step,
    step_kind,
)
from hob.core.translation.language import translatable
from hob.core.trust.labels import Origin
from hob.core.turns import Finish
from hob.store.database.part import DatabaseAccess, StorePart, transaction
from hob.store.database.rows import all_rows, marks
from hob.store.database.state_moves import IllegalMove, check_move
from hob.store.erasure.content import ContentWriter
from hob.store.messages.inbox import claim_rows, waiting_rows
from hob.store.messages.outbox import write_outbounds
from hob.store.messages.transcript import write_entries
from hob.store.sessions import name_by_speech
from hob.store.spending.model_calls import (
    ModelCallRow,
    class_open_calls,
    reserve,
    settle,
    settle_unfinished,
    with_call_events,
)
from hob.store.tasks import follow_turn
from hob.store.timeline import write_events
from hob.store.turns.requests import PartHashes, keep_request
from hob.store.turns.turns import end_turn, turn_row, with_end

_INSERT = "INSERT INTO steps (turn, n, kind, version, hash, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
_ADVANCE = "UPDATE turns SET position = position + ? WHERE id = ? RETURNING position, session, state, trace_id"
_LOAD = (
    "SELECT kind, version, c.text FROM steps s JOIN content c ON c.id = s.body"
    " WHERE turn = ? AND n >= ? AND c.text IS NOT NULL ORDER BY n"
)


def write_steps(
    connection: apsw.Connection,
    content_writer: ContentWriter,
    turn: TurnId,
    steps: Sequence[Step],
    at: float,
    request: tuple[ModelRequest, PartHashes] | None = None,
) -> tuple[SessionKey, Sequence[ModelCallRow]]:
    """Append steps and update the bookkeeping; return the turn's session and the model calls that ended.

    Raises NotFound, IllegalMove.
    """
    rows = all_rows(connection, _ADVANCE, (len(steps), turn))
    if not rows:
        raise NotFound(translatable("There is no turn {turn}.", turn=turn))
    position, session, state, trace = rows[0]
    if TurnState(state) in FINAL_TURNS:
        raise IllegalMove(translatable("The turn {turn} is {state}; its journal is closed.", turn=turn, state=state))
    calls: list[ModelCallRow] = []
    for n, step in enumerate(steps, position - len(steps)):
        command = command_hash(step.call) if isinstance(step, ToolIntended) else None
        connection.execute(_INSERT, (turn, n, step_kind(step), VERSION, command, at, content_writer(dump_step(step))))
        if isinstance(step, ModelAsked):
            reserve(connection, turn, session, step, at)
            if request is not None:
                keep_request(connection, request[1], turn, session, n, request[0], at)
        elif isinstance(step, ModelReplied | ModelFailed):
            calls.append(settle(connection, turn, step))
        elif isinstance(step, Transcribed) and step.label.origin is not Origin.FILE:
            name_by_speech(connection, content_writer, session, step.text, at, trace)
    return SessionKey(session), calls


class StoredJournal(StorePart):
    """Implements the port `Journal`."""

    def __init__(self, access: DatabaseAccess) -> None:
        super().__init__(access)
        self._hashes = PartHashes()

    async def load_steps(self, turn: TurnId, since: int = 0) -> tuple[Step, ...]:
        """Return the turn's steps in order, without the first `since`; erased ones are omitted."""
        rows = await self._rows(_LOAD, (turn, since))
        return tuple(load_step(kind, version, text) for kind, version, text in rows)

    async def step(self, turn: TurnId, n: int) -> Step | None:
        """Return the step at this position of the turn, or None."""
        rows = await self._rows(f"{_LOAD} LIMIT 1 OFFSET ?", (turn, 0, n))
        return load_step(*rows[0]) if rows else None

    async def erased(self, turns: Collection[TurnId]) -> float | None:
        """Return when steps of these turns were last erased (Unix seconds), or None."""
        sql = f"SELECT max(c.erased) FROM steps s JOIN content c ON c.id = s.body WHERE s.turn IN ({marks(turns)})"  # noqa: S608
        return await self._time(sql, tuple(turns))

    @transaction
    def append(
        self,
        connection: apsw.Connection,
        turn: TurnId,
        steps: Sequence[Step],
        events: Sequence[TimelineEvent] = (),
        request: ModelRequest | None = None,
    ) -> None:
        """Append steps and timeline events in one transaction, with their reservations and settlements."""
        at = self._now()
        content_writer = ContentWriter(connection)
        given = None if request is None else (request, self._hashes)
        session, calls = write_steps(connection, content_writer, turn, steps, at, given)
        write_events(connection, content_writer, with_call_events(connection, turn, calls, events, at), session)

    @transaction
    def steer(self, connection: apsw.Connection, turn: TurnId, inbounds: Collection[InboundId]) -> tuple[Inbound, ...]:
        """Claim these messages, up to the first that may not join, and journal a `Steered` step for each."""
        at = self._now()
        (session,) = turn_row(connection, turn, "session")
        joined: list[Inbound] = []
        for waiting in waiting_rows(connection, SessionKey(session)):
            if waiting.command or waiting.inbound.id not in inbounds:
                break
            joined.append(waiting.inbound)
        if joined:
            claim_rows(connection, [inbound.id for inbound in joined], turn, at, steered=True)
            class_open_calls(connection, turn)
            steps = [Steered(each.id, each.text, each.label, each.quoted, each.attachments) for each in joined]
            content_writer = ContentWriter(connection)
            session, _ = write_steps(connection, content_writer, turn, steps, at)
            write_events(connection, content_writer, _join_events(connection, joined, turn, at), session)
        return tuple(joined)

    @transaction
    def finish(self, connection: apsw.Connection, finish: Finish) -> None:
        """Write the turn's end in one transaction; idempotent."""
        at = self._now()
        turn = finish.turn
        state, trace, span = turn_row(connection, turn, "state, trace_id, span_id")
        old = TurnState(state)
        if old in FINAL_TURNS:
            return
        check_move(TURN_MOVES, old, finish.state, f"The turn {turn}")
        if finish.state not in FINAL_TURNS:
            raise IllegalMove(translatable("A turn does not finish as {state}.", state=finish.state))
        content_writer = ContentWriter(connection)
        events = with_end(finish.events, turn, trace, span, finish.state, at, finish.reason)
        if finish.steps:
            _, calls = write_steps(connection, content_writer, turn, finish.steps, at)
            events = with_call_events(connection, turn, calls, events, at)
        write_entries(connection, content_writer, finish.session, finish.entries, at, hidden=finish.hidden)
        write_outbounds(connection, content_writer, finish.outbounds, at, turn)
        end_turn(connection, turn, finish.state, at, content_writer.maybe(finish.reply), finish.kind, finish.reason)
        connection.execute("UPDATE inbox SET state = 'settled' WHERE turn = ?", (turn,))
        follow_turn(connection, turn, finish.state, at, finish.reason)
        write_events(connection, content_writer, events, finish.session)
        settle_unfinished(connection, turn)


def _join_events(
    connection: apsw.Connection, inbounds: Sequence[Inbound], turn: TurnId, at: float
) -> Sequence[TimelineEvent]:
    ids = [inbound.id for inbound in inbounds]
    sql = f"SELECT trace_id, span_id FROM inbox WHERE id IN ({marks(ids)}) ORDER BY seq"  # noqa: S608
    return [
        TimelineEvent(
            new_event_id(), TraceId(trace), new_span_id(), SpanId(span), at, EventKind.STEER, inbound.origin.channel,
            turn=turn, classification=TurnState.RUNNING.value,
        )
        for inbound, (trace, span) in zip(inbounds, all_rows(connection, sql, ids), strict=True)
    ]  # fmt: skip
