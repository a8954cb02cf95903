"""Undoing what turns changed in files: how many stay undoable, never over a later change, repeatable after a crash."""

import asyncio
from collections.abc import Collection, Sequence

from hob.core.errors import NotFound, ToolFailed, ToolRefused
from hob.core.ids import CallId, TurnId, digest
from hob.core.ports.tools import Blobs
from hob.core.translation.language import joined, translatable
from hob.core.undo import FileChange, FileVersion, Kept, Undone, undo_of
from hob.core.values import dataclass
from hob.tools.editing.atomic_write import NOTHING, ExistingFile, load, remove_folders, remove_part
from hob.tools.editing.noted_changes import NotedChanges, Planned, part_name
from hob.tools.filesystem.paths import Roots
from hob.tools.undo.changes import FileChangesPort

_CALL = CallId("undo")


@dataclass(frozen=True, slots=True)
class Preview:
    """What undoing a turn would do: the outcome, and a unified diff with a line for what is no text or is kept.

    `gone` are those of the restored that would not be there any more.
    """

    diff: str
    outcome: Undone
    gone: tuple[str, ...] = ()


class Undo:
    """Undoes what a turn changed in files, but never what somebody else changed since.

    It may be done again at any time, also after a crash in its midst: what is as before is left alone. The undoing is
    noted as the change of a turn of its own (`undo_of`), which can be undone in its turn.
    """

    def __init__(self, roots: Roots, blobs: Blobs, changes: FileChangesPort, noted: NotedChanges) -> None:
        self._roots = roots
        self._blobs = blobs
        self._changes = changes
        self._noted = noted

    async def preview(self, turn: TurnId, *, besides: Collection[str] = ()) -> Preview:
        """What `restore` would do, or `put_back` besides these."""
        planned, done = await self._plan(await self._of(turn, besides))
        gone = tuple(each.path for each in planned if each.after is None)
        outcome = Undone(tuple(each.path for each in planned), done.unchanged, done.kept)
        return Preview(joined("", [*(each.diff() for each in planned), *map(kept_line, done.kept)]), outcome, gone)

    async def restore(self, turn: TurnId) -> Undone:
        """Put every file back to what it was before the turn, where no one has changed it since."""
        done = await self.put_back(turn)
        await self.clear(turn)
        return done

    async def put_back(self, turn: TurnId, *, besides: Collection[str] = ()) -> Undone:
        """As `restore`, without these files; the folders that were made for the turn's files stay until `clear`."""
        changes = await self._of(turn, besides)
        half_done = await self._changes.of(undo_of(turn))  # an earlier undoing may have been killed
        async with self._noted.lock:
            await asyncio.to_thread(self._tidy, (*changes, *half_done))
        planned, done = await self._plan(changes)
        restored: list[str] = []
        kept = list(done.kept)
        for each in planned:
            try:
                await self._noted.make([each], undo_of(turn), _CALL)
            except (ToolFailed, ToolRefused) as error:
                kept.append(Kept(each.path, str(error)))
            else:
                restored.append(each.path)
        return Undone(tuple(restored), done.unchanged, tuple(kept))

    async def clear(self, turn: TurnId) -> None:
        """Remove the folders that were made for this turn's files, as far as they are empty."""
        for change in reversed(await self._changes.of(turn)):
            await asyncio.to_thread(remove_folders, self._roots, change.made)

    async def tidy(self, turns: int = 20) -> int:
        """After a crash: take away half-written files of the last turns; how many there were."""
        found = 0
        async with self._noted.lock:  # nothing is being written, so what is half-written will never be whole
            for turn in await self._changes.recent(turns):
                found += await asyncio.to_thread(self._tidy, await self._changes.of(turn))
        return found

    async def _of(self, turn: TurnId, besides: Collection[str]) -> tuple[FileChange, ...]:
        return tuple(change for change in await self._changes.of(turn) if change.path not in besides)

    def _tidy(self, changes: Sequence[FileChange]) -> int:
        return sum(remove_part(self._roots, change.path, part_name(change)) for change in changes)

    async def _plan(self, changes: Sequence[FileChange]) -> tuple[list[Planned], Undone]:
        paths = dict.fromkeys(change.path for change in reversed(changes))
        planned: list[Planned] = []
        unchanged: list[str] = []
        kept: list[Kept] = []
        for path in paths:
            target, own = _before([change for change in changes if change.path == path])
            try:
                found = await asyncio.to_thread(load, self._roots, path, secrets=True)
                if found.hash == _hash(target):
                    unchanged.append(path)
                elif found.place.path != path or found.hash not in own:
                    kept.append(Kept(path, translatable("it was changed since")))
                else:
                    planned.append(await self._back(found, target, own[found.hash]))
            except (ToolFailed, ToolRefused, NotFound) as error:
                kept.append(Kept(path, str(error)))
        return planned, Undone((), tuple(unchanged), tuple(kept))

    async def _back(self, found: ExistingFile, target: FileVersion | None, ours: FileVersion | None) -> Planned:
        if target is None or target.blob is None:
            return Planned(found, None)
        data = await self._blobs.load(target.blob)
        if digest(data) != target.hash:
            raise NotFound(translatable("what {path} was is not kept any more", path=found.place.path))
        untouched = found.data is None or (ours is not None and found.mode == ours.mode)
        return Planned(found, data, target.mode if untouched else found.mode)


def kept_line(kept: Kept) -> str:
    """How a preview tells of a file that would be left as it is."""
    return translatable("# {path} is kept: {reason}\n", path=kept.path, reason=kept.reason)


def _before(changes: Sequence[FileChange]) -> tuple[FileVersion | None, dict[str, FileVersion | None]]:
    """What one file was before these changes of it, and the states the turn itself gave it.

    Where somebody else has changed it between two of them, what that left is what it was before.
    """
    target = changes[-1].before
    own = {_hash(target): target}
    for change in reversed(changes):
        if _hash(change.after) == _hash(target):
            target = change.before
        elif change is not changes[-1] and _hash(change.before) != _hash(target):  # else it was noted and never made
            break
        for state in (change.before, change.after):
            own.setdefault(_hash(state), state)
    return target, own


def _hash(version: FileVersion | None) -> str:
    return NOTHING if version is None else version.hash
