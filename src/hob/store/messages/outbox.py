"""The outbox: messages to send, their attempts and results."""

from collections.abc import Collection, Sequence
from math import inf
from typing import Any

import apsw

from hob.core.errors import NotFound
from hob.core.events.timeline import TimelineEvent
from hob.core.ids import InboundId, OutboxId, SessionKey, TraceId, TurnId
from hob.core.messages import INTERNAL_CHANNEL, POLLED_CHANNELS, Address, Outbound, OutboundKind
from hob.core.states import OUTBOX_MOVES, OutboxState
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.codec import dump_form, load_form
from hob.store.database.part import StorePart, snapshot, transaction
from hob.store.database.rows import all_rows, find_row, marks
from hob.store.database.state_moves import check_move
from hob.store.erasure.content import ContentWriter
from hob.store.followers import Effect
from hob.store.timeline import write_events
from hob.store.titles import title_of

_INSERT = (
    "INSERT INTO outbox (id, turn, trace_id, channel, account, chat, thread, chunk, kind, previews, state, next_at,"
    " created, text, extra) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'ready', ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
)
_COLUMNS = (
    "o.id, o.turn, o.trace_id, o.channel, o.account, o.chat, o.thread, o.chunk, o.kind, o.previews, o.state,"
    " o.attempts, o.repeats, o.created, o.reason, o.receipt, c.text, x.text"
)
_TABLES = "outbox o JOIN content c ON c.id = o.text LEFT JOIN content x ON x.id = o.extra"
_INDEXED = "outbox o INDEXED BY outbox_open JOIN content c ON c.id = o.text LEFT JOIN content x ON x.id = o.extra"
_OPEN = "state IN ('ready', 'sending')"
_FETCHED_CHANNELS = tuple(sorted(POLLED_CHANNELS))
_UNFETCHED = (
    "SELECT i.id, i.session, n.state, c.text, min(o.created),"
    " substr(i.sender, 1, instr(i.sender, ':') - 1) <> o.channel FROM outbox o JOIN turns n ON n.id = o.turn"
    " JOIN inbox i ON i.seq = (SELECT min(seq) FROM inbox WHERE turn = o.turn)"
    " LEFT JOIN tasks t ON t.id = i.id LEFT JOIN content c ON c.id = t.title"
    " WHERE o.state IN ('ready', 'sending') AND o.channel = ? GROUP BY i.id ORDER BY max(o.seq) DESC LIMIT ?"
)
_ENDED = "SELECT t.id FROM inbox i JOIN turns t ON t.id = i.turn WHERE i.id = ? AND t.ended IS NOT NULL"
_HEADS = f"SELECT min(seq) FROM outbox WHERE {_OPEN} AND channel = ? AND account = ? GROUP BY chat, thread"  # noqa: S608
_SENT = (
    f"SELECT {_COLUMNS}, coalesce(q.text, s.text) FROM {_TABLES}"  # noqa: S608
    " LEFT JOIN inbox i ON i.id = json_extract(x.text, '$.about') LEFT JOIN content q ON q.id = i.text"
    " LEFT JOIN outbox p ON p.id = json_extract(x.text, '$.about') LEFT JOIN content s ON s.id = p.text"
    f" WHERE o.channel IN ({marks(_FETCHED_CHANNELS)})"
)
# ids of a reply have one part less
_SENT_BESIDE = f"{_SENT} AND o.turn = ? AND o.id GLOB o.turn || '.*.*' ORDER BY o.seq"
_MOVE = (
    "UPDATE outbox SET state = ?, attempts = ?, repeats = ?, next_at = ?, reason = ?, receipt = ?, ended = ?"
    " WHERE id = ?"
)


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One outgoing chunk."""

    outbound: Outbound
    state: OutboxState
    attempts: int
    repeats: int
    created: float
    reason: str
    receipt: str


@dataclass(frozen=True, slots=True)
class SentBeside:
    """A message to the API or the terminal beside its turn's reply. `quoted` is the text of the message it answers."""

    outbound: Outbound
    quoted: str = ""


@dataclass(frozen=True, slots=True)
class OutboxCounts:
    """Counts of undelivered messages; `oldest_age` is the age in seconds of the oldest open row.

    `unread` counts those that wait to be fetched; the others do not include them.
    """

    open: int
    oldest_age: float
    unread: int
    dead: int
    parked: int


@dataclass(frozen=True, slots=True)
class Unfetched:
    """A message whose reply or question has not been fetched. `state` is its turn's, `title` the first line of its
    text; `unasked` means that no one asked there, e.g. a result of autonomous work.
    """

    inbound: InboundId
    session: SessionKey
    state: str
    title: str
    created: float
    unasked: bool


@dataclass(frozen=True, slots=True)
class OutboxAge:
    """The oldest open row, with the reason of its last failed attempt. `created` is in Unix seconds."""

    id: OutboxId
    channel: str
    created: float
    reason: str


def write_outbounds(
    connection: apsw.Connection,
    content_writer: ContentWriter,
    outbounds: Sequence[Outbound],
    at: float,
    turn: TurnId | None = None,
) -> None:
    """Queue these messages; those without a turn get this one. Existing rows are not changed.

    Messages to `INTERNAL_CHANNEL` are dropped except questions for approval, which a person answers.
    """
    for outbound in outbounds:
        to = outbound.to
        if to.channel == INTERNAL_CHANNEL and not outbound.buttons:
            continue
        connection.execute(
            _INSERT,
            (
                outbound.id, outbound.turn or turn, outbound.trace, to.channel, to.account, to.chat, to.thread,
                outbound.chunk, outbound.kind.value, outbound.previews, at, at, content_writer(outbound.text),
                content_writer.maybe(dump_form(outbound)),
            ),
        )  # fmt: skip


def _load(row: Sequence[Any]) -> OutboxRow:
    (id, turn, trace, channel, account, chat, thread, chunk, kind, previews, state, attempts, repeats,
     created, reason, receipt, text, form) = row  # fmt: skip
    outbound = Outbound(
        id=OutboxId(id),
        to=Address(channel, chat, account, thread),
        text=text or "",
        kind=OutboundKind(kind),
        turn=None if turn is None else TurnId(turn),
        trace=TraceId(trace),
        chunk=chunk,
        previews=bool(previews),
    )
    return OutboxRow(load_form(outbound, form), OutboxState(state), attempts, repeats, created, reason, receipt)


class Outbox(StorePart):
    """The messages to send; within a chat one open row at a time."""

    async def enqueue(self, outbounds: Sequence[Outbound], events: Sequence[TimelineEvent] = ()) -> None:
        """Queue messages outside of any turn; a known id changes nothing."""
        await self._writer.write(self.on_pending(outbounds, events))

    def on_pending(self, outbounds: Sequence[Outbound], events: Sequence[TimelineEvent] = ()) -> Effect:
        """Return a job that queues them within another transaction."""
        at = self._now()

        def write(connection: apsw.Connection) -> None:
            content_writer = ContentWriter(connection)
            write_outbounds(connection, content_writer, outbounds, at)
            write_events(connection, content_writer, events)

        return write

    async def next(self, channel: str, account: str, now: float, latest: float = inf) -> tuple[OutboxRow, ...]:
        """Return the oldest open row of each chat and thread if it is ready and due; oldest first.

        One that would be due after `latest` is due now: the clock was ahead when that was written.
        """
        sql = (
            f"SELECT {_COLUMNS} FROM {_TABLES} WHERE o.seq IN ({_HEADS}) AND state = 'ready'"  # noqa: S608
            " AND (next_at <= ? OR next_at > ?) ORDER BY o.seq"
        )
        rows = await self._rows(sql, (channel, account, now, latest))
        return tuple(_load(row) for row in rows)

    async def next_due(self, channel: str, account: str) -> float | None:
        """Return when the next row becomes due, of those that wait only for a time."""
        sql = f"SELECT min(next_at) FROM outbox WHERE seq IN ({_HEADS}) AND state = 'ready'"  # noqa: S608
        return await self._time(sql, (channel, account))

    async def sending(self, id: OutboxId) -> None:
        """Mark a row as being sent."""
        await self._writer.write(lambda connection: _move(connection, id, OutboxState.SENDING))

    @transaction
    def sent(
        self, connection: apsw.Connection, id: OutboxId, receipt: str = "", event: TimelineEvent | None = None
    ) -> None:
        """Mark a row as received by the channel."""
        at = self._now()
        _move(connection, id, OutboxState.SENT, reason="", receipt=receipt, ended=at)
        write_events(connection, ContentWriter(connection), () if event is None else (event,))

    @transaction
    def skipped(self, connection: apsw.Connection, id: OutboxId, reason: str, event: TimelineEvent) -> None:
        """Mark a row as skipped permanently."""
        at = self._now()
        _move(connection, id, OutboxState.SKIPPED, reason=reason, ended=at)
        write_events(connection, ContentWriter(connection), (event,))

    @transaction
    def failed(
        self,
        connection: apsw.Connection,
        id: OutboxId,
        reason: str,
        next_at: float | None,
        event: TimelineEvent | None = None,
    ) -> None:
        """Record a failed attempt; retry at `next_at`, or never if None."""
        at = self._now()
        if next_at is None:
            _move(connection, id, OutboxState.DEAD, reason=reason, ended=at, attempts=1)
        else:
            _move(connection, id, OutboxState.READY, reason=reason, next_at=next_at, attempts=1)
        write_events(connection, ContentWriter(connection), () if event is None else (event,))

    async def unfinished_sends(self) -> tuple[OutboxRow, ...]:
        """Return rows that were being sent when Hob last ended; whether they arrived is unknown."""
        sql = f"SELECT {_COLUMNS} FROM {_INDEXED} WHERE {_OPEN} AND state = 'sending' ORDER BY o.seq"  # noqa: S608
        return tuple(_load(row) for row in await self._rows(sql))

    async def again(self, id: OutboxId) -> None:
        """Make such a row ready again under the same id, counting the attempt."""
        await self._writer.write(lambda connection: _move(connection, id, OutboxState.READY, repeats=1, next_at=0.0))

    @transaction
    def park(self, connection: apsw.Connection, id: OutboxId, reason: str, event: TimelineEvent | None = None) -> None:
        """Park a row rather than send it twice; `revive` sends it."""
        _move(connection, id, OutboxState.PARKED, reason=reason)
        write_events(connection, ContentWriter(connection), () if event is None else (event,))

    @transaction
    def revive(self, connection: apsw.Connection, id: OutboxId) -> bool:
        """Make a dead or parked row ready again; return False if it is neither."""
        return revive(connection, id)

    async def picked_up(self, turn: TurnId, channels: Collection[str]) -> None:
        """Mark the turn's reply as fetched: ready rows of these fetching channels count as sent."""
        at = self._now()
        await self._writer.write(lambda connection: _mark_fetched(connection, turn, channels, at))

    @transaction
    def handed_over(self, connection: apsw.Connection, inbound: InboundId, channels: Collection[str]) -> None:
        """Mark a message's reply as fetched; nothing changes if its turn has not ended."""
        at = self._now()
        row = find_row(connection, _ENDED, (inbound,))
        if row is not None:
            _mark_fetched(connection, row[0], channels, at)

    async def expire(self, channel: str, before: float) -> int:
        """Drop messages that have waited to be fetched since before (Unix seconds); return how many. Raises
        StoreErrors.

        Their results stay; only the notice that they are waiting is removed.
        """
        sql = f"SELECT id FROM outbox WHERE {_OPEN} AND channel = ? AND created < ? LIMIT 500"  # noqa: S608
        at, expired = self._now(), 0

        def job(connection: apsw.Connection) -> int:
            ids = [id for (id,) in all_rows(connection, sql, (channel, before))]
            for id in ids:
                _move(connection, id, OutboxState.SENDING)
                _move(connection, id, OutboxState.SENT, reason="nobody fetched it", ended=at)
            return len(ids)

        while some := await self._writer.write(job):
            expired += some
        return expired

    async def find(self, id: OutboxId) -> OutboxRow | None:
        """Return a row, or None."""
        sql = f"SELECT {_COLUMNS} FROM {_TABLES} WHERE o.id = ?"  # noqa: S608
        return await self._find(_load, sql, (id,))

    async def unfetched(self, channel: str, limit: int = 50) -> tuple[Unfetched, ...]:
        """Return the newest messages with replies to fetch, oldest first."""
        rows = await self._rows(_UNFETCHED, (channel, limit))
        return tuple(
            Unfetched(InboundId(id), SessionKey(session), state, title_of(title), created, bool(unasked))
            for id, session, state, title, created, unasked in reversed(rows)
        )

    async def find_sent(self, id: OutboxId) -> SentBeside | None:
        """Return a message to the API or the terminal, or None."""
        return await self._find(_load_sent, f"{_SENT} AND o.id = ?", (*_FETCHED_CHANNELS, id))

    @snapshot
    def sent_beside(self, connection: apsw.Connection, turns: Collection[TurnId]) -> tuple[SentBeside, ...]:
        """Return what these turns sent to the API or the terminal beside their replies, oldest first."""
        return tuple(sent for turn in turns for sent in find_sent_beside(connection, turn))

    async def stuck(self, limit: int = 50) -> tuple[OutboxRow, ...]:
        """Return dead and parked rows, newest first."""
        sql = (
            f"SELECT {_COLUMNS} FROM {_TABLES} WHERE state IN ('dead', 'parked')"  # noqa: S608
            " ORDER BY o.seq DESC LIMIT ?"
        )
        return tuple(_load(row) for row in await self._rows(sql, (limit,)))

    async def oldest(self) -> OutboxAge | None:
        """Return the row that has waited longest to be sent, or None. Rows to be fetched do not count."""
        sql = (
            f"SELECT id, channel, created, reason FROM outbox INDEXED BY outbox_open WHERE {_OPEN}"  # noqa: S608
            f" AND channel NOT IN ({marks(_FETCHED_CHANNELS)}) ORDER BY created LIMIT 1"
        )
        return await self._find(lambda row: OutboxAge(*row), sql, _FETCHED_CHANNELS)

    @snapshot
    def counts(self, connection: apsw.Connection) -> OutboxCounts:
        """Count the undelivered messages."""
        now = self._now()
        fetched = f"channel IN ({marks(_FETCHED_CHANNELS)})"
        sql = (
            f"SELECT count(*) FILTER (WHERE NOT {fetched}), min(created) FILTER (WHERE NOT {fetched}),"  # noqa: S608
            f" count(*) FILTER (WHERE {fetched}) FROM outbox WHERE {_OPEN}"
        )
        count, oldest, unread = find_row(connection, sql, _FETCHED_CHANNELS * 3) or (0, None, 0)
        sql = (
            "SELECT count(*) FILTER (WHERE state = 'dead'), count(*) FILTER (WHERE state = 'parked')"
            " FROM outbox WHERE state IN ('dead', 'parked')"
        )
        dead, parked = find_row(connection, sql) or (0, 0)
        return OutboxCounts(count, 0.0 if oldest is None else max(0.0, now - oldest), unread, dead, parked)


def find_sent_beside(connection: apsw.Connection, turn: str) -> tuple[SentBeside, ...]:
    """Return what a turn sent to the API or the terminal beside its reply."""
    return tuple(_load_sent(row) for row in all_rows(connection, _SENT_BESIDE, (*_FETCHED_CHANNELS, turn)))


def _load_sent(row: Sequence[Any]) -> SentBeside:
    return SentBeside(_load(row[:-1]).outbound, row[-1] or "")


def _mark_fetched(connection: apsw.Connection, turn: TurnId, channels: Collection[str], at: float) -> None:
    sql = f"SELECT id FROM outbox WHERE turn = ? AND state = 'ready' AND channel IN ({marks(channels)})"  # noqa: S608
    for (id,) in all_rows(connection, sql, (turn, *channels)):
        _move(connection, id, OutboxState.SENDING)
        _move(connection, id, OutboxState.SENT, ended=at)


def _move(
    connection: apsw.Connection,
    id: OutboxId,
    new: OutboxState,
    *,
    attempts: int = 0,
    repeats: int = 0,
    next_at: float | None = None,
    reason: str | None = None,
    receipt: str = "",
    ended: float | None = None,
) -> None:
    sql = "SELECT state, attempts, repeats, next_at, reason FROM outbox WHERE id = ?"
    row = find_row(connection, sql, (id,))
    if row is None:
        raise NotFound(translatable("There is no outgoing message {id}.", id=id))
    old, had_attempts, had_repeats, had_next, had_reason = row
    check_move(OUTBOX_MOVES, OutboxState(old), new, f"The outgoing message {id}")
    connection.execute(
        _MOVE,
        (
            new.value, had_attempts + attempts, had_repeats + repeats, had_next if next_at is None else next_at,
            had_reason if reason is None else reason, receipt, ended, id,
        ),
    )  # fmt: skip


def revive(connection: apsw.Connection, id: str) -> bool:
    """Make a dead or parked row ready again."""
    row = find_row(connection, "SELECT state FROM outbox WHERE id = ?", (id,))
    if row is None or row[0] not in {OutboxState.DEAD, OutboxState.PARKED}:
        return False
    _move(connection, OutboxId(id), OutboxState.READY, next_at=0.0)
    connection.execute("UPDATE outbox SET attempts = 0 WHERE id = ?", (id,))
    return True
