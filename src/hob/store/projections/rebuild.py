"""Comparing tasks, spending and sessions with the timeline, and rebuilding them (architecture, promise 6).

Erased data stays erased: rows refer to content whose text is gone, and an erased title counts as none.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest, NotFound, StoreTooNew
from hob.core.models import Usage
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.database.database import NAME, connect
from hob.store.database.faults import store_errors
from hob.store.database.migration import back_up_aside, migrations, version_of
from hob.store.database.reading import shared
from hob.store.database.rows import Row, all_rows, marks
from hob.store.projections.projections import (
    CallStep,
    ProjectedEvent,
    ProjectedFacts,
    ProjectedMessage,
    TurnFact,
    project,
)
from hob.store.settings import StoreSettings

_TOKENS = ("input_tokens", "output_tokens", "cache_read", "cache_write", "reasoning")
TABLES: Mapping[str, tuple[str, ...]] = {
    "tasks": (
        "seq", "id", "inbound", "turn", "session", "trace_id", "state", "title", "reason", "created", "updated",
    ),
    "usage": (
        "turn", "session", "model", "chain", "sender", "task", "at", "reserved", "settled", *_TOKENS, "cost",
    ),
    "spending": ("hour", "session", "model", "sender", "task", "cost", "unknown", *_TOKENS, "calls"),
    "sessions": (
        "key", "chat", "title", "model", "mode", "thinking", "permission", "autonomy", "paused", "archived",
        "entries", "since", "created", "updated",
    ),
    "chats": ("chat", "session"),
}  # fmt: skip
"""The rebuilt columns. `usage.id` is left out: it only orders the rows."""
_KEYS = {
    "tasks": ("id",),
    "usage": ("turn", "at"),
    "spending": ("hour", "session", "model", "sender", "task"),
}  # else the first column

# An erased title counts as none: the live table has NULL there.
_EVENTS = (
    "SELECT t.seq, kind, name, status, at, span_id, parent_span_id, session, turn, classification,"
    " CASE WHEN c.text IS NULL THEN NULL ELSE t.content END, cost,"
    " input_tokens, output_tokens, cache_read, cache_write, reasoning"
    " FROM timeline t LEFT JOIN content c ON c.id = t.content"
    " WHERE kind IN ('inbound', 'turn', 'command', 'steer', 'model', 'session') ORDER BY t.seq"
)
_MESSAGES = "SELECT seq, id, session, trace_id, span_id, turn, at, text, sender_class FROM inbox ORDER BY seq"
_TURNS = "SELECT id, session, created, ended FROM turns"
_ENTRIES = "SELECT session, turn, max(n) FROM transcript GROUP BY session, turn"
# A retried turn begins with its predecessor's steps, whose calls were already paid for.
_CALLS = (
    "WITH copied(turn, n, body) AS (SELECT o.retried_by, s.n, s.body FROM turns o JOIN steps s ON s.turn = o.id"
    " WHERE o.retried_by IS NOT NULL) SELECT s.turn, s.kind = 'model_asked', s.at,"
    " coalesce(CASE WHEN s.kind = 'model_asked' THEN c.text ->> 'model' END, ''),"
    " CASE WHEN s.kind = 'model_asked' THEN c.text ->> 'reserved' END,"
    " CASE WHEN s.kind = 'model_asked' THEN c.text -> 'models' END"
    " FROM turns t JOIN steps s ON s.turn = t.id JOIN content c ON c.id = s.body"
    " WHERE s.kind IN ('model_asked', 'model_replied', 'model_failed')"
    " AND (s.turn, s.n, s.body) NOT IN (SELECT turn, n, body FROM copied) ORDER BY t.seq, s.n"
)


@dataclass(frozen=True, slots=True)
class Compared:
    """Comparison of one table: `missing` rows are absent, `wrong` rows should not exist; a changed row is both.

    `rows` is the expected number.
    """

    table: str
    rows: int
    missing: tuple[Row, ...]
    wrong: tuple[Row, ...]

    @property
    def differences(self) -> int:
        """Number of differing rows."""
        return max(len(self.missing), len(self.wrong))

    def lines(self) -> Iterator[str]:
        """Return each difference by the row's key, with the differing columns. Titles appear as row numbers."""
        columns = TABLES[self.table]
        places = [columns.index(name) for name in _KEYS.get(self.table, columns[:1])]
        wrong = {tuple(row[place] for place in places): row for row in self.wrong}
        missing = {tuple(row[place] for place in places): row for row in self.missing}
        for key in {**wrong, **missing}:
            name = " ".join(str(part) for part in key)
            old, new = wrong.get(key), missing.get(key)
            if old is None or new is None:
                yield f"{name}: {'is missing' if old is None else 'ought not to be there'}"
                continue
            changed = (
                f"{column} {was!r}, ought to be {should!r}"
                for column, was, should in zip(columns, old, new, strict=True)
                if was != should
            )
            yield f"{name}: {'; '.join(changed)}"


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The comparison, and the backup made before tables were changed; None if nothing was changed."""

    compared: tuple[Compared, ...]
    backup: Path | None


def compare(connection: apsw.Connection) -> tuple[Compared, ...]:
    """Compare each table with the facts. Changes nothing; the caller has a transaction open."""
    meant = project(_load_facts(connection))
    found = []
    for table, columns in TABLES.items():
        is_there = Counter(all_rows(connection, f"SELECT {', '.join(columns)} FROM {table}"))  # noqa: S608
        ought = Counter(meant[table])
        missing, wrong = (ought - is_there).elements(), (is_there - ought).elements()
        found.append(Compared(table, len(meant[table]), tuple(missing), tuple(wrong)))
    return tuple(found)


def check_projections(home: Path) -> tuple[Compared, ...]:
    """Compare in one snapshot, while the owner of the home continues. Raises NotFound and StoreErrors."""
    with _opened(home, writes=False) as connection:
        connection.execute("BEGIN")
        return compare(connection)


def rebuild_projections(home: Path, follower: str = "") -> Rebuilt:
    """Rebuild the differing tables in one transaction, after a backup into `backups/`.

    This timeline follower starts over. The caller owns the home and nothing else uses it. Raises NotFound and
    StoreErrors; then nothing was changed.
    """
    with _opened(home, writes=True) as connection:
        connection.execute("DELETE FROM followers WHERE name = ?", (follower,))
        compared = compare(connection)
        if not any(table.differences for table in compared):
            return Rebuilt(compared, None)
        backup = back_up_aside(connection, home, "rebuild", SystemClock().now(), StoreSettings().upgrade_backups)
        connection.execute("BEGIN IMMEDIATE")
        _rewrite(connection, [table.table for table in compared if table.differences])
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return Rebuilt(compared, backup)


def _rewrite(connection: apsw.Connection, tables: list[str]) -> None:
    meant = project(_load_facts(connection))
    for table in tables:
        columns = TABLES[table]
        connection.execute(f"DELETE FROM {table}")  # noqa: S608
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks(columns)})"  # noqa: S608
        connection.executemany(sql, meant[table])


def _load_facts(connection: apsw.Connection) -> ProjectedFacts:
    return ProjectedFacts(
        events=_events(connection),
        messages=[ProjectedMessage(*row) for row in all_rows(connection, _MESSAGES)],
        turns={id: TurnFact(*rest) for id, *rest in all_rows(connection, _TURNS)},
        calls=[CallStep(turn, bool(asked), *rest) for turn, asked, *rest in all_rows(connection, _CALLS)],
        entries={(session, turn): last for session, turn, last in all_rows(connection, _ENTRIES)},
    )


def _events(connection: apsw.Connection) -> Iterator[ProjectedEvent]:
    for row in connection.execute(_EVENTS):
        usage = None if row[12] is None else Usage(*row[12:])
        yield ProjectedEvent(usage, *row[:12])


@contextmanager
def _opened(home: Path, *, writes: bool) -> Iterator[apsw.Connection]:
    # Not `open_store`: this is not a run of Hob, and the last end must not look clean because of it.
    path = home / NAME
    if not path.is_file():
        raise NotFound(translatable("There is no database in {home}.", home=home))
    opening = closing(connect(path, StoreSettings(), None, writes=True)) if writes else shared(path)
    with store_errors(), opening as connection:
        version, known = version_of(connection), len(migrations())
        if version > known:
            raise StoreTooNew(translatable("{path} was written by a newer Hob; upgrade Hob first.", path=path))
        if version < known:
            raise InvalidRequest(
                translatable("{path} was written by an older Hob; start this one once, that upgrades it.", path=path)
            )
        yield connection
