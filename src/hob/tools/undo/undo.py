"""Undo of the file tools' changes, which does not overwrite later changes and can be repeated after a crash."""

import asyncio
from collections.abc import Collection, Sequence

from hob.core.errors import NotFound, ToolFailed, ToolRefused
from hob.core.ids import CallId, TurnId, digest
from hob.core.ports.tools import Blobs
from hob.core.translation.language import join_texts, translatable
from hob.core.undo import FileChange, FileVersion, SkippedFile, UndoOutcome, undo_turn_id
from hob.core.values import dataclass
from hob.tools.editing.atomic_write import NO_FILE_HASH, ExistingFile, load, remove_folders, remove_part
from hob.tools.editing.noted_changes import NotedChanges, PlannedChange, part_name
from hob.tools.filesystem.paths import Roots
from hob.tools.undo.changes import FileChangesPort

_CALL = CallId("undo")


@dataclass(frozen=True, slots=True)
class Preview:
    """What undoing a turn would do: the outcome, and a unified diff with remarks on binary and kept files.

    `gone` are those of the restored paths that would no longer exist.
    """

    diff: str
    outcome: UndoOutcome
    gone: tuple[str, ...] = ()


class Undo:
    """Undoes what a turn changed in files, but not what somebody else has changed since.

    Idempotent, also after a crash. Recorded as changes of its own turn (`undo_turn_id`), which can itself be undone.
    """

    def __init__(self, roots: Roots, blobs: Blobs, changes: FileChangesPort, noted: NotedChanges) -> None:
        self._roots = roots
        self._blobs = blobs
        self._changes = changes
        self._noted = noted

    async def preview(self, turn: TurnId, *, besides: Collection[str] = ()) -> Preview:
        """Return what `restore` would do, or `put_back` without the paths in `besides`."""
        planned, done = await self._plan(await self._of(turn, besides))
        gone = tuple(each.path for each in planned if each.after is None)
        outcome = UndoOutcome(tuple(each.path for each in planned), done.unchanged, done.kept)
        return Preview(join_texts("", [*(each.diff() for each in planned), *map(kept_line, done.kept)]), outcome, gone)

    async def restore(self, turn: TurnId) -> UndoOutcome:
        """Restore every file to its state before the turn, except where somebody has changed it since."""
        done = await self.put_back(turn)
        await self.clear(turn)
        return done

    async def put_back(self, turn: TurnId, *, besides: Collection[str] = ()) -> UndoOutcome:
        """Like `restore`, but without these files, and keeping folders created for the turn's files until `clear`."""
        changes = await self._of(turn, besides)
        half_done = await self._changes.of(undo_turn_id(turn))  # an earlier undo may have been interrupted
        async with self._noted.lock:
            await asyncio.to_thread(self._tidy, (*changes, *half_done))
        planned, done = await self._plan(changes)
        restored: list[str] = []
        kept = list(done.kept)
        for each in planned:
            try:
                await self._noted.make([each], undo_turn_id(turn), _CALL)
            except (ToolFailed, ToolRefused) as error:
                kept.append(SkippedFile(each.path, str(error)))
            else:
                restored.append(each.path)
        return UndoOutcome(tuple(restored), done.unchanged, tuple(kept))

    async def clear(self, turn: TurnId) -> None:
        """Remove the folders created for this turn's files if they are empty."""
        for change in reversed(await self._changes.of(turn)):
            await asyncio.to_thread(remove_folders, self._roots, change.made)

    async def remove_parts(self, turns: int = 20) -> int:
        """After a crash, remove partly written files of the last turns; return their number."""
        found = 0
        async with self._noted.lock:  # nothing is being written now, so partly written files will not be completed
            for turn in await self._changes.recent(turns):
                found += await asyncio.to_thread(self._tidy, await self._changes.of(turn))
        return found

    async def _of(self, turn: TurnId, besides: Collection[str]) -> tuple[FileChange, ...]:
        return tuple(change for change in await self._changes.of(turn) if change.path not in besides)

    def _tidy(self, changes: Sequence[FileChange]) -> int:
        return sum(remove_part(self._roots, change.path, part_name(change)) for change in changes)

    async def _plan(self, changes: Sequence[FileChange]) -> tuple[list[PlannedChange], UndoOutcome]:
        paths = dict.fromkeys(change.path for change in reversed(changes))
        planned: list[PlannedChange] = []
        unchanged: list[str] = []
        kept: list[SkippedFile] = []
        for path in paths:
            target, own = _state_before([change for change in changes if change.path == path])
            try:
                found = await asyncio.to_thread(load, self._roots, path, secrets=True)
                if found.hash == _hash(target):
                    unchanged.append(path)
                elif found.place.path != path or found.hash not in own:
                    kept.append(SkippedFile(path, translatable("it was changed since")))
                else:
                    planned.append(await self._back(found, target, own[found.hash]))
            except (ToolFailed, ToolRefused, NotFound) as error:
                kept.append(SkippedFile(path, str(error)))
        return planned, UndoOutcome((), tuple(unchanged), tuple(kept))

    async def _back(self, found: ExistingFile, target: FileVersion | None, ours: FileVersion | None) -> PlannedChange:
        if target is None or target.blob is None:
            return PlannedChange(found, None)
        data = await self._blobs.load(target.blob)
        if digest(data) != target.hash:
            raise NotFound(translatable("what {path} was is not kept any more", path=found.place.path))
        untouched = found.data is None or (ours is not None and found.mode == ours.mode)
        return PlannedChange(found, data, target.mode if untouched else found.mode)


def kept_line(kept: SkippedFile) -> str:
    """Return a preview's line about a file that would be kept."""
    return translatable("# {path} is kept: {reason}\n", path=kept.path, reason=kept.reason)


def _state_before(changes: Sequence[FileChange]) -> tuple[FileVersion | None, dict[str, FileVersion | None]]:
    """Return a file's state before these changes, and all states that the turn gave it.

    If somebody else changed the file between two of them, the result is what that change left.
    """
    target = changes[-1].before
    own = {_hash(target): target}
    for change in reversed(changes):
        if _hash(change.after) == _hash(target):
            target = change.before
        # otherwise the change was recorded but not made
        elif change is not changes[-1] and _hash(change.before) != _hash(target):
            break
        for state in (change.before, change.after):
            own.setdefault(_hash(state), state)
    return target, own


def _hash(version: FileVersion | None) -> str:
    return NO_FILE_HASH if version is None else version.hash
