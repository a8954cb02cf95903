"""Undo of everything a turn changed, by file tools and by commands, in any order.

Each change of a file is a step from one state to another. From the current state, the steps are followed backwards as
far as possible. If no step leads to the current state, somebody else has changed the file since, and it is left alone.
A file in the state in which the turn left it counts as untouched, even if it changed in between.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path, PurePosixPath

from hob.core.errors import NotFound
from hob.core.ids import BlobId, TurnId
from hob.core.ports.tools import Blobs
from hob.core.translation.language import join_texts, translatable
from hob.core.undo import CommandRun, FileVersion, SkippedFile, UndoOutcome, undo_turn_id
from hob.core.values import dataclass
from hob.tools.editing.diffs import diff
from hob.tools.exec.command_log import CommandLog
from hob.tools.exec.repositories import makes_repository, waking
from hob.tools.undo.changes import FileChangesPort
from hob.tools.undo.snapshots.entries import (
    Difference,
    EntryKind,
    Snapshot,
    SnapshotChange,
    SnapshotEntry,
    Stamp,
    changes,
)
from hob.tools.undo.undo import Preview, Undo, kept_line

_SINCE = translatable("it was changed since")
_NEEDED = translatable("what comes back is in it")
_WAKES = translatable("git would run something by what is beside it")


@dataclass(frozen=True, slots=True)
class _Step:
    """A change made at or shortly before this time. `blob` has the earlier content if no snapshot does."""

    at: int
    before: SnapshotEntry | None
    after: SnapshotEntry | None
    blob: BlobId | None = None


@dataclass(slots=True)
class _UndoPlan:
    """The undo plan of one folder: what to restore and what to leave. Paths are relative to the folder."""

    tree: Path
    now: Snapshot
    touched: set[str] = field(default_factory=set)
    wanted: list[SnapshotChange] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    kept: list[SkippedFile] = field(default_factory=list)


class TurnUndo:
    """Undoes turns that ran commands, and delegates the file tools' changes to `files`.

    Undoing is idempotent, also after a crash. It is recorded as changes of its own turn (`undo_turn_id`), which can
    itself be undone.
    """

    def __init__(self, log: CommandLog, files: Undo, changed: FileChangesPort, blobs: Blobs) -> None:
        self._log = log
        self._files = files
        self._changed = changed
        self._blobs = blobs

    async def recover(self) -> None:
        """Record the changes of commands that were running when Hob was killed."""
        await self._log.recover()

    async def paths(self, turn: TurnId) -> tuple[str, ...]:
        """Return the files and folders that this turn changed, even if they changed again since. Raises NotFound."""
        await self._log.settle()
        found = {change.path for change in await self._changed.of(turn)}
        for span in await self._log.spans(turn):
            before, after = await asyncio.to_thread(self._load, span.tree, span.before, span.after)
            found |= {str(span.tree / change.path) for change in changes(before, after)}
        return tuple(sorted(found))

    def running(self, turn: TurnId) -> tuple[CommandRun, ...]:
        """Return its background commands that are still running and may change files again."""
        return self._log.running(turn)

    async def preview(self, turn: TurnId) -> Preview:
        """Return what `restore` would do. Raises NotFound if that is no longer known, ToolFailed if the folder is
        missing.
        """
        ways = await self._ways(turn)
        first = await self._files.preview(turn, besides=_touched(ways))
        parts, done = [first.diff], first.outcome
        restored, unchanged, kept = list(done.restored), list(done.unchanged), list(done.kept)
        for way in ways:
            gone = [path.removeprefix(f"{way.tree}/") for path in first.gone]
            told = await asyncio.to_thread(self._log.snapshots.preview, way.tree, way.wanted, gone)
            blocked = {each.path: each.reason for each in told if not each.done}
            wanted = [each for each in way.wanted if each.path not in blocked]
            stays = [*way.kept, *(SkippedFile(str(way.tree / path), reason) for path, reason in blocked.items())]
            parts += [*await asyncio.to_thread(self._shown, way, wanted), *map(kept_line, stays)]
            restored += [str(way.tree / each.path) for each in wanted]
            unchanged += way.unchanged
            kept += stays
        return Preview(join_texts("", parts), UndoOutcome(tuple(restored), tuple(unchanged), tuple(kept)))

    async def restore(self, turn: TurnId) -> UndoOutcome:
        """Restore the state before the turn, except where somebody has changed it since. Raises as `preview` does."""
        ways = await self._ways(turn)
        done = await self._files.put_back(turn, besides=_touched(ways))
        restored, unchanged, kept = list(done.restored), list(done.unchanged), list(done.kept)
        for way in ways:
            told = await asyncio.to_thread(self._log.snapshots.restore, way.tree, way.wanted)
            restored += [str(way.tree / each.path) for each in told if each.done]
            kept += [SkippedFile(str(way.tree / each.path), each.reason) for each in told if not each.done] + way.kept
            unchanged += way.unchanged
        await self._files.clear(turn)  # last, because commands may have files in these folders
        for way in ways:  # including the folders just removed
            after = await asyncio.to_thread(self._log.snapshots.take, way.tree)
            if after.id != way.now.id:
                await self._log.note(undo_turn_id(turn), way.tree, way.now, after, way.wanted)
        return UndoOutcome(tuple(restored), tuple(unchanged), tuple(kept))

    async def _ways(self, turn: TurnId) -> list[_UndoPlan]:
        await self._log.settle()
        spans = await self._log.spans(turn)
        steps: dict[Path, dict[str, list[_Step]]] = {}
        for span in spans:
            before, after = await asyncio.to_thread(self._load, span.tree, span.before, span.after)
            for change in changes(before, after):
                steps.setdefault(span.tree, {}).setdefault(change.path, []).append(
                    _Step(span.at, change.before, change.after)
                )
        for noted in await self._changed.of(turn) if spans else ():
            for tree, by_path in steps.items():
                path = noted.path.removeprefix(f"{tree}/")
                if path in by_path:
                    blob = None if noted.before is None else noted.before.blob
                    by_path[path].append(_Step(noted.at, _entry(noted.before), _entry(noted.after), blob))
        return [await self._way(tree, by_path) for tree, by_path in steps.items()]

    def _load(self, tree: Path, before: str, after: str) -> tuple[Snapshot, Snapshot]:
        return self._log.snapshots.load(tree, before), self._log.snapshots.load(tree, after)

    async def _way(self, tree: Path, by_path: dict[str, list[_Step]]) -> _UndoPlan:
        way = _UndoPlan(tree, await asyncio.to_thread(self._log.snapshots.take, tree), set(by_path))
        for path, unsorted in sorted(by_path.items()):
            steps = sorted(unsorted, key=lambda step: step.at)
            now = way.now.entries.get(path)
            gone = _walk_back(now, steps)
            target = gone[-1].before if gone else now
            if _same(target, now):
                if gone or any(_same(now, step.before) for step in steps):
                    way.unchanged.append(str(tree / path))
                else:
                    way.kept.append(SkippedFile(str(tree / path), _SINCE))
                continue
            if gone[-1].blob is not None:
                try:
                    await asyncio.to_thread(self._log.snapshots.adopt, await self._blobs.load(gone[-1].blob))
                except NotFound as error:
                    way.kept.append(SkippedFile(str(tree / path), str(error)))
                    continue
            way.wanted.append(SnapshotChange(path, _what(target, now), target, now))
        self._keep_asleep(way)
        self._keep_folders(way)
        return way

    def _keep_asleep(self, way: _UndoPlan) -> None:
        """Keep a file away if settings or hooks beside it, which a command may have written meanwhile, would run."""
        reverse = [SnapshotChange(each.path, each.what, each.after, each.before) for each in way.wanted]
        making = [each for each in reverse if each.after is not None and makes_repository(each)]
        instead = dict.fromkeys(each.path for each in way.wanted)  # what comes back was there before
        stays = {each.path for each in waking(way.now, making, instead, self._log.snapshots.content)}
        way.wanted = [each for each in way.wanted if each.path not in stays]
        way.kept += [SkippedFile(str(way.tree / path), _WAKES) for path in stays]

    def _keep_folders(self, way: _UndoPlan) -> None:
        """Keep a folder that the turn created if a file is restored into it."""
        needed = {str(above) for each in way.wanted if each.before for above in PurePosixPath(each.path).parents}
        stays = [each for each in way.wanted if each.before is None and each.path in needed]
        way.wanted = [each for each in way.wanted if each not in stays]
        way.kept += [SkippedFile(str(way.tree / each.path), _NEEDED) for each in stays]

    def _shown(self, way: _UndoPlan, wanted: Iterable[SnapshotChange]) -> list[str]:
        return [self._line(way, change) for change in wanted]

    def _line(self, way: _UndoPlan, change: SnapshotChange) -> str:
        path = str(way.tree / change.path)
        both = (change.after, change.before)
        content = [None if entry is None else self._log.snapshots.content(entry) for entry in both]
        if {entry.kind for entry in both if entry is not None} == {EntryKind.FILE} and content[0] != content[1]:
            return diff(content[0], content[1], path)
        return translatable("# {path} becomes {what}\n", path=path, what=_words(change.before))


def _walk_back(now: SnapshotEntry | None, steps: Sequence[_Step]) -> list[_Step]:
    """Return the steps that lead to this state, the last one first."""
    left = list(steps)
    gone: list[_Step] = []
    while (step := _step_to(now, left)) is not None:
        left.remove(step)
        gone.append(step)
        now = step.before
    return gone


def _step_to(state: SnapshotEntry | None, steps: Iterable[_Step]) -> _Step | None:
    """Return the newest step to exactly this state, or else to the same content; None if there is no such step."""
    newest = [step for step in steps if _same_content(step.after, state)][::-1]
    return next((step for step in newest if _same(step.after, state)), newest[0] if newest else None)


def _same(one: SnapshotEntry | None, other: SnapshotEntry | None) -> bool:
    return other is None if one is None else one.is_same(other)


def _same_content(one: SnapshotEntry | None, other: SnapshotEntry | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.has_same_content(other)


def _entry(version: FileVersion | None) -> SnapshotEntry | None:
    return None if version is None else SnapshotEntry(EntryKind.FILE, version.mode, Stamp(0, 0, 0, 0), version.hash)


def _what(target: SnapshotEntry | None, now: SnapshotEntry | None) -> Difference:
    if target is None:
        return Difference.ADDED
    return Difference.REMOVED if now is None else Difference.CHANGED


def _words(entry: SnapshotEntry | None) -> str:
    if entry is None:
        return translatable("nothing again")
    if entry.kind is EntryKind.LINK:
        return translatable("a link to {target} again", target=entry.content)
    if entry.kind is EntryKind.FOLDER:
        return translatable("a folder again, mode {mode}", mode=f"{entry.mode:o}")
    return translatable("a file again, mode {mode}", mode=f"{entry.mode:o}")


def _touched(ways: Iterable[_UndoPlan]) -> frozenset[str]:
    return frozenset(str(way.tree / path) for way in ways for path in way.touched)
