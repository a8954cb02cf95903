"""The audit log: decisions, approvals, refusals and limits, stored so that tampering is detected."""

import hashlib
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from hob.core.clock import Clock
from hob.core.errors import InvalidRequest, NotFound
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.audit.chain import BREAK, EMPTY, ChainCheck, Checked, Head, Sealed, seal
from hob.store.database.database import NAME, connect
from hob.store.database.faults import store_errors
from hob.store.database.part import DatabaseAccess, StorePart
from hob.store.database.reading import shared
from hob.store.database.rows import Row, all_rows, find_row
from hob.store.database.writer import Job
from hob.store.erasure.content import ContentWriter
from hob.store.settings import StoreSettings

T = TypeVar("T")

HEAD_FILE = "audit.head"
_HEAD_BYTES = 96
_FACTS = "at, kind, name, outcome, rule, sender, turn, trace_id"
_OF_A = "a.at, kind, name, outcome, rule, sender, turn, trace_id"
_INSERT = (
    f"INSERT INTO audit (seq, {_FACTS}, detail, sealed, previous, hash)"  # noqa: S608 - constants
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_LAST = "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1"
_HASH = "SELECT hash FROM audit WHERE seq = ?"
_SHOW = f"SELECT seq, {_OF_A}, c.text, a.hash FROM audit a"  # noqa: S608
_WANTED = (
    "a.kind = ?",
    "a.seq < ?",
    "instr(lower(concat_ws(' ', name, outcome, rule, sender, c.text)), lower(?))",
)
"""Conditions on the kind, the number and the text of an entry."""
_WHOLE = (
    f"SELECT seq, {_OF_A}, sealed, previous, a.hash, c.text, c.salt, t.at IS NOT NULL FROM audit a"  # noqa: S608
    " LEFT JOIN content c ON c.id = a.detail LEFT JOIN tombstones t ON t.content = a.detail AND t.hash = a.sealed"
    " ORDER BY seq"
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One audited event. `detail` is the part that may have to be erased; the rest is kept forever.

    `sender` is a class (owner, member, stranger) or `hob`, never a name. A time of 0 means now.
    """

    kind: str
    name: str
    outcome: str
    rule: str = ""
    sender: str = ""
    turn: str = ""
    trace: str = ""
    detail: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A stored entry with its number and the beginning of its hash. An erased detail is None."""

    seq: int
    entry: AuditEntry
    detail: str | None
    hash: str


class AuditLog(StorePart):
    """Appends and verifies. The head is stored in `audit.head` of the home and is never ahead of the log."""

    def __init__(self, access: DatabaseAccess, home: Path) -> None:
        super().__init__(access)
        self._file = home / HEAD_FILE
        self._last: Head | None = None
        """The last entry this process wrote, which is not the end of the log if its transaction was rolled back."""
        self._noted = 0

    async def add(self, *entries: AuditEntry) -> None:
        """Append the entries in this order; durable when it returns."""
        await self.write(lambda _: None, lambda _: entries)

    async def write(self, job: Job[T], entries: Callable[[T], Iterable[AuditEntry]]) -> T:
        """Run a writer job, and append the entries for its result in the same transaction.

        If the log lacks entries that the head names (an older backup was restored, or the log was cut), an entry that
        says so comes first, and the loss stays visible forever.
        """
        now = self._now()

        def both(connection: apsw.Connection) -> tuple[T, Head | None]:
            result = job(connection)
            told = tuple(entries(result))
            return result, self._append(connection, told, now) if told else None

        result, head = await self._writer.write(both)
        if head is not None and head.count > self._noted:  # another writer's entries may already be covered
            self._noted = head.count
            write_head(self._file, head)
        return result

    def _append(self, connection: apsw.Connection, entries: Sequence[AuditEntry], now: float) -> Head:
        content_writer = ContentWriter(connection)
        last = _head(connection)
        if last != self._last:
            last = _record_loss(connection, content_writer, last, self._file, now)
        for entry in entries:
            last = _append(connection, content_writer, last, entry, now)
        self._last = last
        return last

    async def latest(self, limit: int, kind: str = "", *, before: int = 0, text: str = "") -> tuple[AuditRow, ...]:
        """Return the newest entries, the newest last: of this kind, older than this number, containing this text."""
        return await self._readers.read(lambda connection: _load_latest(connection, limit, kind, before, text))

    async def verify(self) -> Checked:
        """Verify every entry and the head: about a second per 100,000 entries, while others read and write."""
        # read first: entries added meanwhile are newer than the head, which is not an error
        kept = read_head(self._file)
        return await self._readers.read(lambda connection: check_log(connection, kept))


class AuditedPart(StorePart):
    """A part of the store whose changes are audited."""

    def __init__(self, access: DatabaseAccess, audit: AuditLog) -> None:
        super().__init__(access)
        self._audit = audit


def show_audit(home: Path, limit: int, kind: str = "") -> tuple[AuditRow, ...]:
    """Return the newest entries of this home's log, even while another process has it open. Raises NotFound,
    StoreError.
    """
    with _opened(home) as connection:
        return _load_latest(connection, limit, kind)


def append_audit(home: Path, clock: Clock, *entries: AuditEntry) -> bool:
    """Append to this home's log, even while another process has it open; durable when it returns.

    For commands that change things outside the database. Returns False if there is no log yet. Raises StoreErrors.
    """
    try:
        with _opened(home, writes=True) as connection:
            keep, now = ContentWriter(connection), clock.now().timestamp()
            last = _record_loss(connection, keep, _head(connection), home / HEAD_FILE, now)
            for entry in entries:
                last = _append(connection, keep, last, entry, now)
            connection.execute("COMMIT")
    except NotFound:
        return False
    write_head(home / HEAD_FILE, last)
    return True


def verify_audit(home: Path, noted: str | None = None) -> Checked:
    """Verify this home's log independently of a running Hob. Raises NotFound, StoreError, InvalidRequest.

    `noted` is a head stored elsewhere; it replaces the one next to the database.
    """
    if noted is None:
        kept = read_head(home / HEAD_FILE)
    else:
        try:
            kept = Head.parse(noted)
        except ValueError:
            raise InvalidRequest(
                translatable("a head is a number, a colon and hex digits, as `hob audit verify` prints it")
            ) from None
    with _opened(home) as connection:
        return check_log(connection, kept)


@contextmanager
def _opened(home: Path, *, writes: bool = False) -> Iterator[apsw.Connection]:
    path = home / NAME
    if not path.exists():
        raise NotFound(translatable("there is no Hob in {home} yet", home=home))
    opening = closing(connect(path, StoreSettings(), None, writes=True)) if writes else shared(path)
    with store_errors(), opening as connection:
        connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        if find_row(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'audit'") is None:
            raise NotFound(translatable("this database has no audit log yet; the next start of Hob makes one"))
        yield connection


def _load_latest(
    connection: apsw.Connection, limit: int, kind: str, before: int = 0, text: str = ""
) -> tuple[AuditRow, ...]:
    wanted = {each: value for each, value in zip(_WANTED, (kind, before, text), strict=True) if value}
    where = " AND ".join(wanted) or "TRUE"
    sql = f"{_SHOW} LEFT JOIN content c ON c.id = a.detail WHERE {where} ORDER BY seq DESC LIMIT ?"
    return tuple(_row(row) for row in reversed(all_rows(connection, sql, (*wanted.values(), limit))))


def check_log(connection: apsw.Connection, kept: Head | None) -> Checked:
    """Verify every entry of the log, and the stored head."""
    check = ChainCheck(kept)
    for seq, *facts, detail, previous, sealed, text, salt, tombstone in connection.execute(_WHOLE):
        problem = _detail_problem(detail, text, salt, bool(tombstone))
        check.look(Sealed(seq, tuple(facts), detail, previous, sealed), problem=problem, erased=text is None)
    return check.finish()


def _append(
    connection: apsw.Connection, content_writer: ContentWriter, last: Head, entry: AuditEntry, now: float
) -> Head:
    detail = content_writer(entry.detail)
    row = find_row(connection, "SELECT hash FROM content WHERE id = ?", (detail,))
    assert row is not None  # noqa: S101 - it was written a moment ago
    e = entry
    facts = (e.at or now, e.kind, e.name, e.outcome, e.rule, e.sender, e.turn, e.trace)
    sealed = seal(last, facts, row[0])
    connection.execute(_INSERT, (sealed.seq, *facts, detail, sealed.detail, sealed.previous, sealed.hash))
    return Head(sealed.seq, sealed.hash)


def _head(connection: apsw.Connection) -> Head:
    row = find_row(connection, _LAST)
    return Head(*row) if row else EMPTY


def _record_loss(
    connection: apsw.Connection, content_writer: ContentWriter, last: Head, file: Path, now: float
) -> Head:
    """If the log lacks entries that the head names, append an entry that says so and return the new head."""
    lost = _find_loss(connection, last, read_head(file))
    return (
        _append(connection, content_writer, last, AuditEntry(*BREAK, sender="hob", detail=lost), now) if lost else last
    )


def _find_loss(connection: apsw.Connection, last: Head, kept: Head | None) -> str:
    """Return what the head names and the log lacks; empty if nothing."""
    if kept is None:
        return f"the head was missing; {last.count} entries were there" if last.count else ""
    if kept.count == 0:
        return ""
    row = find_row(connection, _HASH, (kept.count,))
    if row is not None and row[0] == kept.hash:
        return ""
    return f"the head named {kept.count} entries up to {kept.hash.hex()}; {last.count} were there"


def _detail_problem(sealed: bytes, text: str | None, salt: bytes | None, erased: bool) -> str:
    if text is None or salt is None:
        return "" if erased else "its detail is gone, and was not erased"
    return "" if hashlib.sha256(salt + text.encode()).digest() == sealed else "its detail was changed"


def _row(row: Row) -> AuditRow:
    seq, at, kind, name, outcome, rule, sender, turn, trace, detail, sealed = row
    entry = AuditEntry(kind, name, outcome, rule, sender, turn, trace, detail or "", at)
    return AuditRow(seq, entry, detail, sealed.hex())


def read_head(file: Path) -> Head | None:
    """Return the stored head; None if it is missing or unreadable."""
    try:
        return Head.parse(file.read_text("ascii"))
    except (OSError, ValueError):
        return None


def write_head(file: Path, head: Head) -> None:
    """Store the head over the old one: 96 bytes in one sector are written entirely or not at all.

    Not flushed to disk: after a power failure it may name an older entry, never a missing one.
    """
    line = str(head).ljust(_HEAD_BYTES - 1) + "\n"
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.pwrite(handle, line.encode(), 0)
        finally:
            os.close(handle)
    except OSError as error:  # the entries are safe; an older head only covers fewer of them
        _log.warning("%s cannot be written: %s", file, error.strerror)
