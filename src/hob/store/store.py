"""The store: opened and closed as a block."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import apsw

from hob.core.clock import Clock
from hob.core.errors import StoreDamaged, StoreError
from hob.core.ids import SessionKey
from hob.core.lazy import Lazy
from hob.core.memory import MemoryLayer
from hob.core.values import dataclass
from hob.store.approvals import StoredApprovals
from hob.store.audit.audit import AuditLog
from hob.store.backup.export import Export
from hob.store.blobs import FileBlobs
from hob.store.canvas import StoredCanvas
from hob.store.database.check import OK, PENDING, DamageCheck
from hob.store.database.database import OpenedDatabase, check_note, connect, open_database
from hob.store.database.disk import SIDES, free_bytes
from hob.store.database.faults import close_quietly
from hob.store.database.part import DatabaseAccess
from hob.store.database.readers import Readers
from hob.store.database.rows import all_rows
from hob.store.database.writer import Writer
from hob.store.decisions import PolicyDecisions
from hob.store.erasure.erasure import Erasure
from hob.store.erasure.person_data import StoredPersonData
from hob.store.erasure.retention import Retention
from hob.store.followers import StoredFollowers
from hob.store.imports import Imports
from hob.store.memory.expertise import StoredExpertise
from hob.store.memory.facts import StoredFacts
from hob.store.memory.goals import StoredGoals
from hob.store.memory.items import StoredItems
from hob.store.memory.layers import KeptLayer
from hob.store.memory.lifecycle import MemoryLifecycle
from hob.store.memory.memories import StoredMemories
from hob.store.memory.search import StoredIndex
from hob.store.memory.transfer import MemoryTransfer
from hob.store.memory.vectors import StoredVectors
from hob.store.memory.work import StoredWork
from hob.store.memory.working_notes import StoredWorkingNotes
from hob.store.messages.channel_state import StoredChannelState
from hob.store.messages.inbox import Inbox
from hob.store.messages.outbox import Outbox
from hob.store.messages.results import Results
from hob.store.messages.transcript import StoredTranscript
from hob.store.people import StoredPeople
from hob.store.plugin_records import PluginRecords
from hob.store.sessions import StoredSessions
from hob.store.settings import StoreSettings
from hob.store.spending.ledger import StoredLedger
from hob.store.stored_settings import StoredSettings
from hob.store.subagents import StoredSubagents
from hob.store.tasks import Tasks
from hob.store.timeline import Timeline
from hob.store.tools.command_log import StoredCommandLog
from hob.store.tools.file_changes import StoredFileChanges
from hob.store.tools.open_groups import StoredOpenGroups
from hob.store.tools.tainted_writes import StoredTaintedWrites
from hob.store.tools.undo_log import StoredUndoLog
from hob.store.turns.journal import StoredJournal
from hob.store.turns.late_results import StoredLateResults
from hob.store.turns.requests import StoredRequests
from hob.store.turns.turns import TurnRows

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """Health of the database. `check` is `ok`, `pending` or a description of damage; sizes in bytes."""

    queue: int
    last_error: str | None
    check: str
    size: int
    free: int

    @property
    def writable(self) -> bool:
        """Whether the last write succeeded and nothing prevents the next."""
        return self.problem is None

    @property
    def problem(self) -> str | None:
        """The current problem, or None."""
        return self.last_error if self.check in {PENDING, OK} else self.check


class Store:
    """Everything Hob remembers. Every writing method is durable when it returns."""

    def __init__(
        self,
        opened: OpenedDatabase,
        home: Path,
        settings: StoreSettings,
        clock: Clock,
        vfs: str | None,
        carried: Collection[str] = (),
    ) -> None:
        loop = asyncio.get_running_loop()
        self._home = home
        self._carried = carried
        self._path, self._connection = opened.path, opened.connection
        self._connect = partial(connect, opened.path, settings, vfs, writes=False)
        self._check = check = DamageCheck(self._connect, check_note(opened.path))
        self._writer = Writer(opened.connection, loop, settings.group, check)
        self._readers = Readers(self._connect, loop, settings.readers, check)
        self._access = access = DatabaseAccess(self._writer, self._readers, clock)
        self._clock = clock
        self._closed = False
        self.run_id = opened.run
        self.unclean = opened.unclean
        self.inbox = Inbox(access, opened.run)
        self.turns = TurnRows(access, opened.run, opened.unclean)
        self.journal = StoredJournal(access)
        self.requests = StoredRequests(access)
        self.transcript = StoredTranscript(access)
        self.outbox = Outbox(access)
        self.results = Results(access)
        self.tasks = Tasks(access)
        self.timeline = Timeline(access)
        self.ledger = StoredLedger(access)
        self.channel_state = StoredChannelState(access)
        self.audit = AuditLog(access, home)
        self.settings = StoredSettings(access, self.audit)
        self.open_groups = StoredOpenGroups(access, opened.connection)
        self.sessions = StoredSessions(access, self.audit, self.open_groups)
        self.approvals = StoredApprovals(access, self.audit)
        self.decisions = PolicyDecisions(access, self.audit)
        self.people = StoredPeople(access, self.audit)
        self.blobs = FileBlobs(access, home / "blobs")
        self.erasure = Erasure(access, home, partial(connect, opened.path, settings, vfs, writes=True))
        self.retention = Retention(access, home)
        self._backing_up = asyncio.Lock()
        self.person_data = StoredPersonData(access)
        self.imports = Imports(access)
        self._open_memory(access)
        self.tainted_writes = StoredTaintedWrites(access)
        self.command_log = StoredCommandLog(access)
        self.file_changes = StoredFileChanges(access)
        self.undo_log = StoredUndoLog(access)
        self.followers = StoredFollowers(access)
        self.late_results = StoredLateResults(access)
        self.subagents = StoredSubagents(access)
        self.canvas = StoredCanvas(self.records_of("canvas"), clock)
        self._export = Export(access)

    def _open_memory(self, access: DatabaseAccess) -> None:
        self.items = StoredItems(access)
        self.facts = StoredFacts(access)
        self.goals = StoredGoals(access)
        self.memory_carrier = MemoryTransfer(access, self.items, self.facts, self.goals)
        self.memory_work = StoredWork(access)
        self.expertise = StoredExpertise(access, self.timeline)
        self.memory_index = StoredIndex(access)
        self.memory_vectors = StoredVectors(access)
        self.memory_lifecycle = MemoryLifecycle(access)
        self.memories = StoredMemories(access)
        self.working_notes = StoredWorkingNotes(access)

    @property
    def commits(self) -> int:
        """Number of transactions committed since the store was opened."""
        return self._writer.commits

    @property
    def damage(self) -> str | None:
        """The damage found in the database, or None; after damage nothing is written."""
        return self._check.damage

    @property
    def problem(self) -> str | None:
        """The current problem of the database, or None."""
        return self._writer.last_error if self._check.damage is None else self._check.damage

    async def began(self) -> float:
        """Return when this home was first used (Unix seconds)."""
        sql = "SELECT began FROM runs ORDER BY id LIMIT 1"
        return float((await self._readers.read(lambda connection: all_rows(connection, sql)))[0][0])

    def health(self) -> StoreHealth:
        """Return the health of the database without querying it."""
        size = sum(part.stat().st_size for side in ("", *SIDES) if (part := self._beside(side)).exists())
        return StoreHealth(
            self._writer.waiting, self._writer.last_error, self._check.state, size, free_bytes(self._home)
        )

    async def backup(self, file: Path, *, force: bool = False) -> None:
        """Write a consistent copy, including blobs, to one file while Hob continues; one backup at a time.

        Raises InvalidRequest if the file exists (unless forced), StoreFull and other StoreErrors; then no file is left.
        """
        async with self._backing_up:
            await asyncio.to_thread(self._back_up, file, force=force)

    def _back_up(self, file: Path, *, force: bool) -> None:
        try:
            _back_up()(self._connect, self._home, file, self._carried, force=force)
        except StoreDamaged as error:  # a backup reads everything, so it is often the first to find damage
            raise self._check.found(str(error.__cause__ or error)) from error

    def records_of(self, feature: str) -> PluginRecords:
        """Return the records of a feature without its own tables."""
        return PluginRecords(self._access, feature)

    def layer(self, layer: MemoryLayer) -> KeptLayer:
        """Return the contents of a plug-in's memory layer."""
        return KeptLayer(self.items, self._clock, layer)

    def export_session(self, key: SessionKey) -> AsyncIterator[str]:
        """Yield one session as JSON lines, metadata first. Raises NotFound."""
        return self._export.session(key)

    def export_all(self) -> AsyncIterator[str]:
        """Yield every session as JSON lines, each with its metadata first."""
        return self._export.everything()

    def _beside(self, side: str) -> Path:
        return self._path.with_name(self._path.name + side)

    def start(self) -> None:
        """Start the threads; called by `open_store`."""
        self._writer.start()
        self._check.start()

    async def close(self) -> None:
        """Finish queued writes, record the clean end, checkpoint the log. If that fails, the end counts as unclean."""
        if self._closed:
            return
        try:
            sql = "UPDATE runs SET ended = ? WHERE id = ?"
            at = self._clock.now().timestamp()
            await self._writer.write(lambda c: c.execute(sql, (at, self.run_id)).fetchall())
        except StoreError as error:
            _log.warning("the clean end could not be noted: %s", error)
        await self._end(checkpoint=True)

    async def abandon(self) -> None:
        """Stop as in a crash: record nothing and lose what was not committed. For recovery tests."""
        if not self._closed:
            await self._end(checkpoint=False)

    async def _end(self, *, checkpoint: bool) -> None:
        self._closed = True
        await self._check.stop()
        await self._writer.stop()
        await self._readers.stop()
        try:
            if checkpoint:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._connection.close()
        except apsw.Error as error:
            _log.warning("the log could not be folded into the database: %s", error)
        finally:
            close_quietly(self._connection)


@Lazy
def _back_up() -> Callable[..., None]:
    from hob.store.backup.backup import back_up

    return back_up


@Lazy
def _import_line_files() -> Callable[[apsw.Connection, Path, float], None]:
    from hob.store.backup.line_files import import_line_files

    return import_line_files


@asynccontextmanager
async def open_store(
    home: Path,
    settings: StoreSettings,
    clock: Clock,
    *,
    vfs: str | None = None,
    mask: Callable[[str], str] = str,
    carried: Collection[str] = (),
) -> AsyncIterator[Store]:
    """Open the store of this home for the duration of the block. The caller owns the home (one process at a time).

    Every text is passed through `mask` before it is stored. Backups include the files and folders `carried` of the
    home. Raises StoreDamaged (the file was moved aside; the message names the newest backup), StoreTooNew, StoreFull,
    other StoreErrors.
    """
    opened = await asyncio.to_thread(open_database, home, settings, clock.now(), vfs)
    opened.connection.mask = mask
    try:
        if any((home / "tools").glob("*.jsonl")) or any((home / "tools").glob("notes/*.json")):
            await asyncio.to_thread(_import_line_files(), opened.connection, home, clock.now().timestamp())
    except StoreError:
        close_quietly(opened.connection)
        raise
    store = Store(opened, home, settings, clock, vfs, carried)
    store.start()
    try:
        await store.memory_index.complete()
        yield store
    finally:
        await store.close()
