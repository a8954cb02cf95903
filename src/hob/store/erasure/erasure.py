"""Erasure: the content is deleted, facts and a tombstone stay, and no copy is left in this file or its log.

A tombstone is also written to a text file next to the database, so that a restore applies it even if the database that
held it is lost. Earlier backups contain the content until they are deleted; restoring one erases it again.
"""

import asyncio
import glob
import json
import logging
import re
import shutil
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import apsw

from hob.core.errors import InvalidRequest, StoreError, StoreFull
from hob.core.ids import SessionKey, TraceId, TurnId
from hob.core.messages import POLLED_CHANNELS
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.blobs import blob_path, drop_unknown_blobs
from hob.store.database.faults import store_errors
from hob.store.database.part import DatabaseAccess, StorePart
from hob.store.database.rows import Row, all_rows, find_row
from hob.store.erasure.chat_history import erase_typed
from hob.store.erasure.copies import Copies, blobs_of, erase_in
from hob.store.erasure.quotes import Quotes, quotes_of
from hob.store.erasure.selection import Selection, newest_of, select_content, select_turns, tombstones_of
from hob.store.erasure.tombstones import OLD_FILES, add_tombstones, apply_tombstones, erase_unused, write_tombstones

log = logging.getLogger(__name__)

# A message merged into a turn cannot be separated from it, so the whole turn is erased.
_TURNS_OF_TRACE = """
    INSERT OR IGNORE INTO doomed_turns SELECT id FROM turns WHERE trace_id = :key
        UNION SELECT turn FROM inbox WHERE trace_id = :key AND turn IS NOT NULL
"""
# The messages of a retried turn belong to its successor, but it has a reply of its own.
_RETRIED = """
    INSERT OR IGNORE INTO doomed_turns WITH RECURSIVE found(id) AS (SELECT id FROM doomed_turns UNION
        SELECT old.id FROM found JOIN turns new USING (id)
        JOIN turns old ON old.session = new.session AND old.retried_by = new.id) SELECT id FROM found
"""
_TURNS_OF_SESSION = "INSERT OR IGNORE INTO doomed_turns SELECT id FROM turns WHERE session = :key"
_TRACES = """
    INSERT OR IGNORE INTO doomed_traces SELECT trace_id FROM turns WHERE id IN doomed_turns
        UNION SELECT trace_id FROM inbox WHERE turn IN doomed_turns
"""
_TRACES_OF_SESSION = "INSERT OR IGNORE INTO doomed_traces SELECT trace_id FROM inbox WHERE session = :key"
_SCOPE_OF_SESSION = (_TURNS_OF_SESSION, _TRACES, _TRACES_OF_SESSION)
_CONTENT = (
    "SELECT text FROM inbox WHERE trace_id IN doomed_traces",
    "SELECT body FROM inbox WHERE trace_id IN doomed_traces",
    "SELECT content FROM timeline WHERE trace_id IN doomed_traces",
    "SELECT body FROM steps WHERE turn IN doomed_turns",
    "SELECT reply FROM turns WHERE id IN doomed_turns",
    "SELECT line FROM turns WHERE id IN doomed_turns",
    "SELECT question FROM turns WHERE id IN doomed_turns",
    "SELECT text FROM outbox WHERE turn IN doomed_turns OR trace_id IN doomed_traces",
    "SELECT extra FROM outbox WHERE turn IN doomed_turns OR trace_id IN doomed_traces",
    "SELECT text FROM transcript WHERE turn IN doomed_turns",
    "SELECT extra FROM transcript WHERE turn IN doomed_turns",
    "SELECT shown FROM approvals WHERE turn IN doomed_turns",
    "SELECT question FROM approvals WHERE turn IN doomed_turns",
    "SELECT bound FROM approvals WHERE turn IN doomed_turns",
    "SELECT g.bound FROM grants g JOIN approvals a USING (id) WHERE a.turn IN doomed_turns",
    "SELECT detail FROM audit WHERE turn IN doomed_turns OR trace_id IN doomed_traces",
    "SELECT planned FROM undo_log WHERE turn IN doomed_turns",
    "SELECT outcome FROM undo_log WHERE turn IN doomed_turns",
    "SELECT body FROM self_messages WHERE turn IN doomed_turns",
    "SELECT body FROM late_results WHERE turn IN doomed_turns",
    "SELECT label FROM subagents WHERE turn IN doomed_turns",
    "SELECT body FROM file_changes WHERE turn IN doomed_turns",
    "SELECT body FROM command_changes WHERE turn IN doomed_turns",
    "SELECT text FROM commands WHERE turn IN doomed_turns",
    "SELECT text FROM memory_items WHERE turn IN doomed_turns",
    "SELECT text FROM working_notes WHERE turn IN doomed_turns",
    "SELECT value FROM plugin_records WHERE turn IN doomed_turns",
)
_CONTENT_OF_SESSION = (
    "SELECT content FROM timeline WHERE session = :key",
    "SELECT text FROM transcript WHERE session = :key",
    "SELECT extra FROM transcript WHERE session = :key",
    "SELECT text FROM summaries WHERE session = :key",
    "SELECT title FROM sessions WHERE key = :key",
    "SELECT text FROM memory_items WHERE scope = :key",
    "SELECT text FROM memory_items WHERE session = :key",
    "SELECT text FROM working_notes WHERE session = :key",
    "SELECT value FROM plugin_records WHERE session = :key",
)
_CONTENT_OF_ITEMS = ("SELECT text FROM memory_items WHERE id IN (SELECT value FROM json_each(:key))",)
# An answer that waits to be fetched may never be. One that is being sent ends within a day; older ones are of a channel
# that is gone.
_SENDING = (
    f"state IN ('ready', 'sending') AND channel NOT IN ({', '.join(map(repr, sorted(POLLED_CHANNELS)))})"
    " AND created > :now - 172800"
)
_OPEN = (
    "SELECT 1 FROM inbox WHERE trace_id IN doomed_traces AND state = 'waiting' UNION ALL SELECT 1 FROM turns"  # noqa: S608
    " WHERE id IN doomed_turns AND state IN ('ready', 'running', 'parked') UNION ALL SELECT 1 FROM outbox"
    f" WHERE (turn IN doomed_turns OR trace_id IN doomed_traces) AND {_SENDING}"
)
# Of a person: `:key` is JSON of `senders` (as in the inbox) and of `addresses`, `target` their id.
_SENDERS = "(SELECT value FROM json_each(:key, '$.senders'))"
_ADDRESSES = "(SELECT value FROM json_each(:key, '$.addresses'))"
_TRACES_OF_PERSON = f"INSERT OR IGNORE INTO doomed_traces SELECT trace_id FROM inbox WHERE sender IN {_SENDERS}"  # noqa: S608
_TURNS_OF_PERSON = (
    f"INSERT OR IGNORE INTO doomed_turns SELECT turn FROM inbox WHERE sender IN {_SENDERS} AND turn IS NOT NULL"  # noqa: S608
    " UNION SELECT id FROM turns WHERE trace_id IN doomed_traces"
)
_CONTENT_OF_PERSON = (
    f"SELECT content FROM timeline WHERE kind = 'system' AND sender_id IN {_ADDRESSES}",  # noqa: S608
    f"SELECT text FROM outbox WHERE channel || ':' || account || ':' || chat IN {_SENDERS}",  # noqa: S608
    f"SELECT extra FROM outbox WHERE channel || ':' || account || ':' || chat IN {_SENDERS}",  # noqa: S608
    f"SELECT value FROM plugin_records WHERE person IN {_SENDERS} OR person IN {_ADDRESSES}"  # noqa: S608
    " OR person = :key ->> '$.target'",
    "SELECT a.detail FROM audit a JOIN content c ON c.id = a.detail WHERE c.text IS NOT NULL AND ("
    "CASE WHEN json_valid(c.text) THEN c.text ->> '$.target' = :key ->> '$.target' ELSE 0 END"
    " OR EXISTS (SELECT 1 FROM json_each(:key, '$.named') w WHERE c.text || ' ' GLOB w.value))",
)
_TYPED = (
    "SELECT text FROM content WHERE text IS NOT NULL AND id IN doomed"
    " AND id IN (SELECT text FROM inbox UNION SELECT text FROM memory_items)"
)
_BEGIN_ELSEWHERE = "INSERT OR IGNORE INTO unfinished_erasures (turn) VALUES (?)"
_END_ELSEWHERE = "DELETE FROM unfinished_erasures WHERE turn = ?"
_LOG = TurnId("")
"""Stands in the table of unfinished erasures for the database's log."""


@dataclass(frozen=True, slots=True)
class ErasurePerson:
    """A person in the store: `senders` as in the inbox, `addresses` as people write them, `id` or empty."""

    senders: tuple[str, ...]
    addresses: tuple[str, ...]
    id: str = ""

    def key(self) -> str:
        """Return the JSON for a statement."""
        named = [f"*{glob.escape(address)}[^0-9A-Za-z_]*" for address in self.addresses]  # not 23, if 2 is asked for
        whose = {"senders": self.senders, "addresses": self.addresses, "named": named}
        return json.dumps({**whose, "target": self.id or None})


_InCopies = Callable[[], tuple[Sequence[Row], set[str]]]
ErasureParticipant = Callable[[Collection[TurnId]], Awaitable[object]]
"""Erases its data of these turns outside the database; idempotent."""


class Erasure(StorePart):
    """Erases messages. Work in progress cannot be erased yet."""

    def __init__(
        self,
        access: DatabaseAccess,
        home: Path,
        connect_writing: Callable[[], apsw.Connection],
        participants: Sequence[ErasureParticipant] = (),
    ) -> None:
        """`participants` erase their own data too."""
        super().__init__(access)
        self._access = access
        self._home = home
        self._connect = connect_writing
        self._participants = participants

    def with_participants(self, participants: Sequence[ErasureParticipant]) -> "Erasure":
        """Return a copy with these participants, called after each erasure."""
        return Erasure(self._access, self._home, self._connect, participants)

    async def erase_trace(self, trace: TraceId, reason: str) -> int:
        """Erase one message and everything that resulted from it; return the number of texts.

        A turn that also worked on other messages is erased with them, and so is every summary of it. Raises
        InvalidRequest while any of it is in progress, StoreError if a copy may be left in the log (repeat the call
        then).
        """
        scope = (_TURNS_OF_TRACE, _RETRIED, _TRACES, "INSERT OR IGNORE INTO doomed_traces VALUES (:key)")
        return await self._erase(Selection(trace, scope, _CONTENT), reason)

    async def erase_session(self, session: SessionKey, reason: str) -> int:
        """Erase everything said in a session, and its title; return the number of texts. Raises as above."""
        return await self._erase(Selection(session, _SCOPE_OF_SESSION, (*_CONTENT, *_CONTENT_OF_SESSION)), reason)

    async def erase_person(
        self,
        whose: ErasurePerson,
        reason: str,
        session: SessionKey | None,
        copies: Copies,
        names: re.Pattern[str] | None = None,
    ) -> int:
        """Erase everything these senders said, its results, and whatever names them; return the number of texts.

        A turn that also worked on other people's messages is erased with them. Includes their `session`, if given,
        memories and notes that contain `names`, and the `copies`. Raises as above.
        """
        scope = (_TRACES_OF_PERSON, _TURNS_OF_PERSON, _RETRIED, _TRACES)
        asked = [Selection(whose.key(), scope, (*_CONTENT, *_CONTENT_OF_PERSON), names)]
        if session is not None:
            asked.append(Selection(session, _SCOPE_OF_SESSION, (*_CONTENT, *_CONTENT_OF_SESSION)))
        at = self._clock.now().timestamp()
        elsewhere = partial(erase_in, copies, partial(_erase_in_copy, asked, at, reason))
        pieces = await self._erase(asked[0], reason, elsewhere)
        return pieces + (await self.erase_session(session, reason) if session is not None else 0)

    async def erase_items(self, ids: Sequence[str], reason: str) -> int:
        """Erase these memory items and what was derived from them; return the number of texts. Raises as above."""
        return await self._erase(Selection(json.dumps(list(ids)), (), _CONTENT_OF_ITEMS), reason)

    async def add_tombstones(self, tombstones: Sequence[bytes], reason: str) -> None:
        """Keep memories with these tombstones from being stored again. Raises StoreErrors."""
        rows: list[Row] = [(-1, tombstone) for tombstone in tombstones]

        def job(connection: apsw.Connection) -> None:
            write_tombstones(self._home, rows, at := self._now(), reason)
            add_tombstones(connection, ((*row, at, reason) for row in rows))

        with _full_disk(self._home):
            await self._writer.write(job)

    async def quotes(self, texts: Sequence[str]) -> Quotes:
        """Return the messages that repeat one of these texts. Raises StoreErrors."""
        return await self._readers.read(lambda connection: quotes_of(connection, texts))

    async def _erase(self, asked: Selection, reason: str, elsewhere: _InCopies | None = None) -> int:
        at = self._clock.now().timestamp()

        def look(connection: apsw.Connection) -> frozenset[TurnId]:
            select_turns(connection, asked)
            if find_row(connection, _OPEN, {"now": at}) is not None:
                raise InvalidRequest(translatable("Some of this is still being worked on or sent; stop it first."))
            return frozenset(TurnId(row[0]) for row in all_rows(connection, "SELECT id FROM doomed_turns"))

        turns = await self._writer.write(look)
        in_copies = None if elsewhere is None else await asyncio.to_thread(elsewhere)

        def job(connection: apsw.Connection) -> int:
            look(connection)
            texts, blobs = select_content(connection, asked)
            tombstones = tombstones_of(connection, texts, blobs)
            if in_copies is not None:
                tombstones += [tombstone for tombstone in in_copies[0] if tombstone not in tombstones]
            when = max(at, newest_of(connection, blobs))
            erase_typed(self._home, (row[0] for row in all_rows(connection, _TYPED)))
            write_tombstones(self._home, tombstones, when, reason)
            add_tombstones(connection, ((*tombstone, when, reason) for tombstone in tombstones))
            erased = apply_tombstones(connection, when)
            erase_unused(connection, at)
            connection.executemany(_BEGIN_ELSEWHERE, [(turn,) for turn in (*turns, _LOG)])
            for blob in erased:
                blob_path(self._home / "blobs", blob).unlink(missing_ok=True)
            if in_copies is not None:
                drop_unknown_blobs(self._home / "blobs", blobs_of(connection) | in_copies[1])
            return len(texts) + len(erased)

        with _full_disk(self._home):
            pieces = await self._writer.write(job)
        await self._run_participants(turns)
        await self._empty_log()
        return pieces

    async def finish(self) -> None:
        """Complete, outside the database, erasures that an earlier process began. Raises the participants' errors."""
        sql = "SELECT turn FROM unfinished_erasures"
        unfinished = await self._writer.write(lambda c: frozenset(TurnId(row[0]) for row in all_rows(c, sql)))
        if turns := unfinished - {_LOG}:
            await self._run_participants(turns)
        if unfinished:
            try:
                await self._empty_log()
            except StoreError as error:
                log.warning("%s", error)

    async def _empty_log(self) -> None:
        """Leave no copy of what was erased beside the database. Raises StoreError while the log is in use."""
        await asyncio.to_thread(shutil.rmtree, self._home / OLD_FILES, ignore_errors=True)
        await asyncio.to_thread(self._checkpoint)
        await self._writer.write(lambda c: c.execute(_END_ELSEWHERE, (_LOG,)).fetchall())

    async def _run_participants(self, turns: Collection[TurnId]) -> None:
        for forget in self._participants:
            await forget(turns)
        await self._writer.write(lambda c: c.executemany(_END_ELSEWHERE, [(turn,) for turn in turns]).fetchall())

    def _checkpoint(self) -> None:
        with store_errors(), closing(self._connect()) as connection:
            row = find_row(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
        if row is None or row[0]:
            raise StoreError(
                translatable("The content is erased, but the log is in use and may still hold a copy; do it again.")
            )


@contextmanager
def _full_disk(home: Path) -> Iterator[None]:
    """Raise errors with files beside the database as StoreFull."""
    try:
        yield
    except OSError as error:
        raise StoreFull(
            translatable("{file} cannot be written: {reason}.", file=error.filename or home, reason=error.strerror)
        ) from error


def _erase_in_copy(asked: Sequence[Selection], at: float, reason: str, connection: apsw.Connection) -> list[Row]:
    tombstones: list[Row] = []
    for each in asked:
        select_turns(connection, each)
        tombstones += tombstones_of(connection, *select_content(connection, each))
        add_tombstones(connection, ((*tombstone, at, reason) for tombstone in tombstones))
        apply_tombstones(connection, at)
    erase_unused(connection, at)
    return tombstones
