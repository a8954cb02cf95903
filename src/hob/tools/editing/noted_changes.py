"""File changes, recorded before they are made; a call makes all of its changes or none."""

import asyncio
import os
from collections.abc import Sequence

from hob.core.clock import Clock
from hob.core.errors import ToolFailed, ToolRefused
from hob.core.ids import CallId, TurnId, digest
from hob.core.ports.tools import Blobs
from hob.core.undo import FileChange, FileVersion
from hob.core.values import dataclass
from hob.tools.editing.atomic_write import NO_FILE_HASH, ExistingFile, missing_folders, remove, remove_folders, replace
from hob.tools.editing.diffs import diff
from hob.tools.filesystem.paths import Roots
from hob.tools.undo.changes import FileChangesPort


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A file to change: its current state and its new content (None for no file). Without a mode it keeps its own."""

    found: ExistingFile
    after: bytes | None
    mode: int | None = None

    @property
    def path(self) -> str:
        """The real path."""
        return self.found.place.path

    @property
    def new_hash(self) -> str:
        """Hash of the new content."""
        return NO_FILE_HASH if self.after is None else digest(self.after)

    def diff(self) -> str:
        """Return the change for people."""
        return diff(self.found.data, self.after, self.path)


class NotedChanges:
    """The only way to change files: store old contents, record each change, then make the changes, all or none."""

    def __init__(self, roots: Roots, blobs: Blobs, changes: FileChangesPort, clock: Clock) -> None:
        self._roots = roots
        self._blobs = blobs
        self._changes = changes
        self._clock = clock
        self.lock = asyncio.Lock()
        """Held while files are changed."""

    async def make(self, planned: Sequence[PlannedChange], turn: TurnId, call: CallId) -> None:
        """Make these changes. Raises FileChanged, ToolFailed, StoreFull; changes already made are then reverted."""
        async with self.lock:
            notes = [await self._note(each, turn, call) for each in planned]
            await self._changes.add(notes)
            await asyncio.to_thread(self._make, planned, notes)

    async def _note(self, planned: PlannedChange, turn: TurnId, call: CallId) -> FileChange:
        found = planned.found
        before = after = None
        if found.data is not None:
            blob = await self._blobs.put(found.data, "application/octet-stream")
            before = FileVersion(found.hash, found.mode, blob)
        if planned.after is not None:
            after = FileVersion(planned.new_hash, found.mode if planned.mode is None else planned.mode)
        made = () if after is None else await asyncio.to_thread(missing_folders, self._roots, found.place)
        at = int(self._clock.now().timestamp() * 1e9)
        return FileChange(os.urandom(8).hex(), turn, call, planned.path, before, after, made, at)

    def _make(self, planned: Sequence[PlannedChange], notes: Sequence[FileChange]) -> None:
        done: list[tuple[PlannedChange, FileChange]] = []
        try:
            for each, note in zip(planned, notes, strict=True):
                _put(self._roots, note, each.found.hash, each.after, each.mode)
                done.append((each, note))
        except (ToolFailed, ToolRefused) as error:
            kept = [each.path for each, note in reversed(done) if not _revert(self._roots, each, note)]
            remove_folders(self._roots, [path for note in notes for path in note.made])
            if kept:
                raise ToolFailed(f"{error} Changed all the same, for want of a way back: {', '.join(kept)}.") from error
            raise


def _put(roots: Roots, note: FileChange, was: str, data: bytes | None, mode: int | None) -> None:
    if data is None:
        remove(roots, note.path, was=was)
    else:
        replace(roots, note.path, data, was=was, mode=mode, part=part_name(note))


def _revert(roots: Roots, planned: PlannedChange, note: FileChange) -> bool:
    try:
        _put(roots, note, planned.new_hash, planned.found.data, planned.found.mode)
    except (ToolFailed, ToolRefused):
        return False
    return True


def part_name(note: FileChange) -> str:
    """Return the temporary name of the new file, in the same folder."""
    return f".hob-{note.id}.part"
