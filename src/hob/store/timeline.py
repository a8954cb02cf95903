"""The timeline: an append-only log of events, read by trace, session, kind and time."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import apsw

from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, TraceId
from hob.core.messages import MediaType
from hob.core.models import Usage
from hob.core.values import dataclass
from hob.store.codec import load_label
from hob.store.database.part import StorePart, snapshot
from hob.store.database.rows import all_rows, marks
from hob.store.erasure.content import ContentWriter, WriteConnection

VERSION = 1
_kind, _type = cache(EventKind), cache(MediaType)

_INSERT = (
    "INSERT INTO timeline (version, event_id, trace_id, span_id, parent_span_id, at, kind, name, status, type, session,"
    " turn, sender_id, sender_name, classification, authorized, origin, trust, content, media, seconds, input_tokens,"
    " output_tokens, cache_read, cache_write, reasoning, cost)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SELECT = (
    "SELECT t.seq, event_id, trace_id, span_id, parent_span_id, at, kind, name, status, type, session, turn, sender_id,"
    " sender_name, classification, authorized, origin, trust, c.text, media, seconds, input_tokens, output_tokens,"
    " cache_read, cache_write, reasoning, cost, c.erased FROM timeline t LEFT JOIN content c ON c.id = t.content"
)

_NEWEST = "SELECT coalesce(max(seq), 0) FROM timeline"
_AT = "SELECT at FROM timeline WHERE seq >= ? ORDER BY seq LIMIT 1"
_KINDS = (
    "SELECT kind, count(DISTINCT CASE kind WHEN 'turn' THEN turn ELSE seq END) FROM timeline WHERE seq >= ?"
    " AND (kind = 'tool' OR kind = 'turn' AND classification NOT IN ('ready', 'running', 'parked')) GROUP BY kind"
)
_BEGINS = (
    "SELECT trace_id FROM timeline WHERE trace_id >= :id AND trace_id < :end"
    " UNION SELECT trace_id FROM inbox WHERE id = :id UNION SELECT trace_id FROM turns WHERE id = :id LIMIT 2"
)


@dataclass(frozen=True, slots=True)
class Followed:
    """Events with their positions, and the position up to which nothing else matches."""

    events: tuple[tuple[int, TimelineEvent], ...]
    upto: int


LOOKED_THROUGH = 20_000


_WRONG = (
    "(kind IN ('model', 'tool') AND status <> 'ok' OR kind = 'outbound' AND status = 'error'"
    " OR kind = 'turn' AND classification IN ('failed', 'set_aside')"
    " OR kind = 'delivery' AND status IN ('parked', 'undeliverable'))"
)


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """A page of events, newest first; `before` continues with older ones, None at the end. `newest` is the last
    position.
    """

    events: tuple[tuple[int, TimelineEvent], ...]
    before: int | None
    newest: int


@dataclass(frozen=True, slots=True)
class TimelineFilter:
    """Filter for events; empty fields match everything. `cost` is a minimum in micro-dollars."""

    kinds: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    trace: str = ""
    sender: str = ""
    name: str = ""
    text: str = ""
    errors: bool = False
    tainted: bool = False
    authorized: bool | None = None
    cost: int = 0

    def sql(self) -> tuple[str, tuple[Any, ...]]:
        """Return the WHERE clause and its values."""
        found: list[tuple[str, tuple[Any, ...]]] = []
        if self.kinds:
            found.append((f"kind IN ({marks(self.kinds)})", self.kinds))
        if self.sessions:
            found.append((f"+session IN ({marks(self.sessions)})", self.sessions))
        if self.trace:
            found.append(("trace_id = ?", (self.trace,)))
        if self.sender:
            found.append(("? IN (sender_id, sender_name)", (self.sender,)))
        if self.name:
            found.append(("name = ?", (self.name,)))
        if self.text:
            found.append(("instr(lower(coalesce(c.text, '') || ' ' || name), lower(?)) > 0", (self.text,)))
        if self.errors:
            found.append((_WRONG, ()))
        if self.tainted:
            found.append(("trust = 'untrusted'", ()))
        if self.authorized is not None:
            found.append(("authorized = ?", (self.authorized,)))
        if self.cost:
            found.append(("cost >= ?", (self.cost,)))
        return "".join(f" AND {sql}" for sql, _ in found), tuple(value for _, values in found for value in values)


def write_events(
    connection: apsw.Connection,
    content_writer: ContentWriter,
    events: Iterable[TimelineEvent],
    session: SessionKey | None = None,
) -> None:
    """Append events; those without a session get this one."""
    events = tuple(events)
    if isinstance(connection, WriteConnection):
        connection.happened |= {event.kind for event in events}
    for event in events:
        usage = event.usage
        label = event.label
        connection.execute(
            _INSERT,
            (
                VERSION, event.id, event.trace, event.span, event.parent, event.at, event.kind.value, event.name,
                event.status, event.type.value, event.session or session, event.turn, event.sender_id,
                event.sender_name, event.classification, event.authorized,
                None if label is None else label.origin.value, None if label is None else label.trust.value,
                content_writer.maybe(event.text), event.media, event.seconds,
                None if usage is None else usage.input, None if usage is None else usage.output,
                None if usage is None else usage.cache_read, None if usage is None else usage.cache_write,
                None if usage is None else usage.reasoning, event.cost,
            ),
        )  # fmt: skip


def _load(row: Sequence[Any]) -> TimelineEvent:
    (_, id, trace, span, parent, at, kind, name, status, media_type, session, turn, sender_id, sender_name,
     classification, authorized, origin, trust, text, media, seconds, *usage, cost, erased) = row  # fmt: skip
    return TimelineEvent(
        id=id,
        trace=trace,
        span=span,
        parent=parent,
        at=at,
        kind=_kind(kind),
        name=name,
        status=status,
        type=_type(media_type),
        session=session,
        turn=turn,
        sender_id=sender_id,
        sender_name=sender_name,
        classification=classification,
        authorized=bool(authorized),
        label=None if origin is None else load_label(origin, trust),
        text=text or "",
        media=media,
        seconds=seconds,
        usage=None if usage[0] is None else Usage(*usage),
        cost=cost,
        erased=erased,
    )


class Timeline(StorePart):
    """Events in commit order."""

    async def add(self, events: Sequence[TimelineEvent]) -> None:
        """Append these events in one transaction."""
        await self._writer.write(lambda connection: write_events(connection, ContentWriter(connection), events))

    async def trace(self, trace: TraceId) -> tuple[TimelineEvent, ...]:
        """Return all events of a trace, oldest first."""
        sql = f"{_SELECT} WHERE trace_id = ? ORDER BY t.seq"
        return tuple(_load(row) for row in await self._rows(sql, (trace,)))

    async def begins(self, text: str) -> tuple[TraceId, ...]:
        """Return traces whose ids have this prefix or that contain this message or turn id; at most two, enough to
        detect ambiguity.
        """
        values = {"id": text, "end": f"{text}\U0010ffff"}
        rows = await self._rows(_BEGINS, values)
        return tuple(TraceId(trace) for (trace,) in rows)

    async def latest(self, limit: int, session: SessionKey | None = None) -> tuple[TimelineEvent, ...]:
        """Return the last events, of one session if given, oldest first."""
        where, values = ("", [limit]) if session is None else ("WHERE session = ?", [session, limit])
        sql = f"{_SELECT} {where} ORDER BY t.seq DESC LIMIT ?"
        rows = await self._rows(sql, values)
        return tuple(_load(row) for row in reversed(rows))

    @snapshot
    def counts(self, connection: apsw.Connection, since: float) -> dict[str, int]:
        """Count the turns and tool calls (`turn`, `tool`) ended since then (Unix seconds). Raises StoreErrors."""
        first, last = 0, all_rows(connection, _NEWEST)[0][0] + 1
        while first < last:  # binary search: events are appended in order of time
            middle = (first + last) // 2
            rows = all_rows(connection, _AT, (middle,))
            first, last = (middle + 1, last) if rows and rows[0][0] < since else (first, middle)
        return dict(all_rows(connection, _KINDS, (first,)))

    @property
    def commits(self) -> int:
        """A number that grows with each commit; while it stays the same, reads give the same result."""
        return self._writer.commits

    async def newest(self) -> int:
        """Return the position of the last event, or 0."""
        rows: Sequence[tuple[int]] = await self._rows(_NEWEST)
        return rows[0][0]

    async def follow(
        self, after: int, limit: int, *, sessions: Sequence[str] = (), kinds: Sequence[str] = ()
    ) -> "Followed":
        """Return the next events after a position, of these sessions and kinds if given."""
        where, values = "t.seq > ?", (after, *sessions, *kinds, limit)
        if sessions:
            where += f" AND session IN ({marks(sessions)})"
        if kinds:
            where += f" AND kind IN ({marks(kinds)})"
        sql = f"{_SELECT} WHERE {where} ORDER BY t.seq LIMIT ?"

        def read(connection: apsw.Connection) -> tuple[list[Any], int]:
            (newest,) = all_rows(connection, _NEWEST)[0]  # same snapshot, so no other event can be in between
            return all_rows(connection, sql, values), newest

        rows, newest = await self._readers.read(read)
        events = tuple((row[0], _load(row)) for row in rows)
        return Followed(events, events[-1][0] if len(events) == limit else max(after, newest))

    @snapshot
    def page(
        self, connection: apsw.Connection, before: int | None, limit: int, wanted: "TimelineFilter"
    ) -> "TimelinePage":
        """Return the newest matching events before a position (None: the end), newest first, and where to continue.

        At most `LOOKED_THROUGH` events are examined per call, so with few matches a page may be short or empty and
        still continue.
        """
        where, values = wanted.sql()
        newest = all_rows(connection, _NEWEST)[0][0]
        end = newest + 1 if before is None else min(before, newest + 1)
        floor = max(0, end - 1 - LOOKED_THROUGH)
        sql = f"{_SELECT} WHERE t.seq < ? AND t.seq > ?{where} ORDER BY t.seq DESC LIMIT ?"
        rows = all_rows(connection, sql, (end, floor, *values, limit))
        upto = rows[-1][0] if len(rows) == limit else floor + 1
        return TimelinePage(tuple((row[0], _load(row)) for row in rows), upto if upto > 1 else None, newest)

    @contextmanager
    def news(self, kinds: Collection[str] = ()) -> Iterator[asyncio.Event]:
        """Yield an event that is set after each commit, of these kinds if given."""
        committed = asyncio.Event()

        def look(happened: frozenset[str]) -> None:
            if not kinds or not happened.isdisjoint(kinds):
                committed.set()

        with self._writer.watched(look):
            yield committed
