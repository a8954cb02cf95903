"""The log of commands and their changes, written before they happen, so that it survives the end of Hob.

A snapshot of the folders that a command may change is recorded before it begins and after it has ended, and the
difference is attributed to it. If several run at once, a change is attributed to the one that began last. Changes that
would make git run something outside the sandbox are reverted at once (see `repositories`).
"""

import asyncio
import logging
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Protocol

from hob.core.errors import NotFound, ToolFailed
from hob.core.ids import CallId, SessionKey, TurnId
from hob.core.undo import CommandRun, SnapshotSpan
from hob.core.values import dataclass
from hob.tools.exec.repositories import makes_repository, runs_something, waking
from hob.tools.undo.snapshots.entries import Difference, EntryKind, Snapshot, SnapshotChange, SnapshotEntry, changes
from hob.tools.undo.snapshots.snapshots import TURNS_KEPT, Snapshots

log = logging.getLogger(__name__)
_MAX_NAMES = 4
_MAX_ROUNDS = 10  # of taking back what commands that run on write again
LOST = "lost"
"""The recorded end of a command that was running when Hob was killed."""


@dataclass(slots=True)
class CommandEffects:
    """What a command changed, by path, which of the changes were reverted at once, and in which folders they could not
    be checked.
    """

    changed: dict[str, Difference] = field(default_factory=dict)
    taken_back: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _RunningCommand:
    """A command that is still running, as far as known, or whose changes have not all been checked since its end."""

    begun: CommandRun
    trees: tuple[Path, ...]
    """The folders that it may change, or in which its changes are unchecked after its end."""
    end: str = ""
    effects: CommandEffects = field(default_factory=CommandEffects)
    protected_paths: frozenset[str] = frozenset()
    """Paths that it cannot change, each followed by a slash. Empty for commands started by a Hob that was killed."""

    @property
    def key(self) -> str:
        return _key(self.begun.turn, self.begun.call)


class CommandStore(Protocol):
    """Stores commands and their changes, durably when a method returns. Its methods raise StoreErrors."""

    async def begin(self, begun: CommandRun, marks: Mapping[Path, str]) -> None:
        """Record a starting command, and the snapshots of the folders it may change."""

    async def change(self, span: SnapshotSpan) -> None:
        """Record a change."""

    async def end(self, turn: TurnId, call: CallId, how: str) -> None:
        """Record how the command ended."""

    async def running(self) -> tuple[tuple[CommandRun, Mapping[Path, str]], ...]:
        """Return the commands that have not ended, oldest first, with the latest snapshots of their folders."""

    async def find(self, process: str, session: SessionKey) -> CommandRun | None:
        """Return the background command with this id, if it belongs to this session."""

    async def spans(self, turn: TurnId) -> tuple[SnapshotSpan, ...]:
        """Return the changes made by the commands of this turn, oldest first."""

    async def newest(self, turns: int) -> tuple[SnapshotSpan, ...]:
        """Return the command changes of the last turns that made any."""


class CommandLog:
    """Records commands and attributes changes to them. Its methods raise OSError and StoreErrors on storage failures.

    On first use, commands that were running when Hob was killed are recorded as ended. `protected` names below each
    folder cannot be changed by `confined` commands if they existed, so changes there are not attributed to them.
    """

    def __init__(self, rows: CommandStore, snapshots: Snapshots, protected: Collection[str] = ()) -> None:
        self.snapshots = snapshots
        self._protected = tuple(protected)
        self._rows = rows
        self._lock = asyncio.Lock()
        self._recovered = False
        self._open: dict[str, _RunningCommand] = {}
        self._marks: dict[Path, Snapshot] = {}
        self._reported: frozenset[str] | None = None

    async def unrecoverable(self, trees: Sequence[Path]) -> frozenset[str]:
        """Return the paths in these folders that commands could destroy irrecoverably, as known without another scan.

        After a call, `begin` refuses to start a command if there are more of them.
        """
        async with self._lock:
            self._reported = await asyncio.to_thread(self._unrecoverable, trees)
            return self._reported

    def _unrecoverable(self, trees: Sequence[Path]) -> frozenset[str]:
        marks = ((tree, self._marks.get(tree) or self.snapshots.latest(tree)) for tree in trees)
        found = (tree / path for tree, mark in marks if mark is not None for path in mark.unrecoverable)
        return frozenset(str(path) for path in found if os.path.lexists(path))

    async def begin(self, begun: CommandRun, trees: Sequence[Path], *, confined: bool = False) -> None:
        """Record a command that is about to start and may change these folders.

        Raises ToolFailed if a folder does not exist, or more could be lost than `unrecoverable` returned.
        """
        await self.recover()
        async with self._lock:
            for tree in trees:
                await self._mark(tree)
            if self._reported is not None and (more := self._unrecoverable(trees) - self._reported):
                names = ", ".join(sorted(more)[:_MAX_NAMES])
                raise ToolFailed(f"not run: {names} cannot be kept for undoing. Call it again: then the owner is asked")
            marks = {tree: self._marks[tree].id for tree in trees}
            protected_paths = frozenset(self._protected_in(trees)) if confined else frozenset()
            opened = _RunningCommand(begun, tuple(trees), protected_paths=protected_paths)
            await self._rows.begin(begun, marks)
            self._open[opened.key] = opened

    async def end(self, turn: TurnId, call: CallId, how: str) -> CommandEffects:
        """Record how the command ended; return what it changed.

        If its changes cannot be checked, its end is recorded once they can be.
        """
        async with self._lock:
            return await self._end(_key(turn, call), how)

    async def settle(self) -> None:
        """Record the changes that running commands have made so far."""
        await self.recover()
        async with self._lock:
            for tree in {tree for each in self._open.values() for tree in each.trees}:
                await self._mark(tree)

    async def recover(self) -> int:
        """Record the end of commands that were running when Hob was killed; return their number. Only the first call
        has an effect.
        """
        async with self._lock:
            if self._recovered:
                return 0
            for begun, marks in await self._rows.running():
                opened = _RunningCommand(begun, tuple(marks))
                self._open[opened.key] = opened
                for tree, name in marks.items():
                    with suppress(NotFound):
                        self._marks[tree] = await asyncio.to_thread(self.snapshots.load, tree, name)
            lost = tuple(self._open)
            for key in reversed(lost):
                if taken := (await self._end(key, LOST)).taken_back:
                    log.warning("reverted, since git would run something by it: %s", ", ".join(taken[:_MAX_NAMES]))
            self._recovered = True
            return len(lost)

    async def spans(self, turn: TurnId) -> tuple[SnapshotSpan, ...]:
        """Return the changes made by the commands of this turn, oldest first."""
        await self.recover()
        return await self._rows.spans(turn)

    def running(self, turn: TurnId) -> tuple[CommandRun, ...]:
        """Return the commands of this turn that have not ended."""
        return tuple(each.begun for each in self._open.values() if each.begun.turn == turn and not each.end)

    async def find(self, process: str, session: SessionKey) -> CommandRun | None:
        """Return the background command with this id, if it belongs to this session."""
        await self.recover()
        return await self._rows.find(process, session)

    async def note(
        self, turn: TurnId, tree: Path, before: Snapshot, after: Snapshot, restored: Sequence[SnapshotChange]
    ) -> None:
        """Record that a turn changed a folder from one snapshot to another by undoing changes."""
        async with self._lock:
            await self._rows.change(SnapshotSpan(turn, tree, before.id, after.id, after.taken))
            if (last := self._marks.get(tree)) is not None and self._open_in(tree):
                own = {each.path: each.before for each in restored}
                found = changes(last, after, left_out=True)
                others = [each for each in found if each.after is None or not each.after.is_same(own.get(each.path))]
                content, making = self.snapshots.content, [each for each in others if makes_repository(each)]
                if waking(after, making, {}, content) or any(runs_something(after, each, content) for each in others):
                    return  # a command that runs on has written it: the next snapshot reverts it
            self._marks[tree] = after

    async def prune(self, turns: int = TURNS_KEPT) -> int:
        """Forget snapshots older than the last turns that changed something. Older changes can no longer be undone.

        Returns the bytes freed.
        """
        await self.recover()
        async with self._lock:
            needed = {name for span in await self._rows.newest(turns) for name in (span.before, span.after)}
            needed |= {mark.id for mark in self._marks.values()}
            return await asyncio.to_thread(self.snapshots.prune, needed)

    async def _mark(self, tree: Path) -> None:
        """Take a snapshot. Changes since the last one are attributed to the newest command running in this folder.

        A snapshot counts only if there is nothing in it to take back: a command that runs on may write more of it
        meanwhile. Until one counts, all commands since the last one that did are taken as running.
        """
        last = self._marks.get(tree)
        try:
            now = await asyncio.to_thread(self.snapshots.take, tree)
        except ToolFailed:
            if last is None:
                raise
            if not tree.exists():  # with what the commands that have ended wrote in it
                self._release(tree)
            return
        if last is not None and (running := self._open_in(tree)) and last.id != now.id:
            for _ in range(_MAX_ROUNDS):
                if not (unwanted := await asyncio.to_thread(self._take_back, last, now, running)):
                    break
                now = await asyncio.to_thread(self.snapshots.take, tree)
            else:
                some = ", ".join(unwanted[:_MAX_NAMES])
                log.warning("git would run something by files that are written again and again: %s", some)
                running[-1].effects.unchecked.append(str(tree))
                return
            if found := changes(last, now):
                running[-1].effects.changed |= {str(tree / each.path): each.what for each in found}
                span = SnapshotSpan(running[-1].begun.turn, tree, last.id, now.id, now.taken)
                await self._rows.change(span)
        self._marks[tree] = now
        self._release(tree)

    def _release(self, tree: Path) -> None:
        """Take the changes in this folder as checked, of commands that have ended."""
        for each in self._open_in(tree):
            if each.end:
                each.trees = tuple(other for other in each.trees if other != tree)

    def _open_in(self, tree: Path) -> list[_RunningCommand]:
        return [each for each in self._open.values() if tree in each.trees]

    def _protected_in(self, trees: Sequence[Path]) -> Iterator[str]:
        for tree in trees:
            entries = self._marks[tree].entries
            others = [each.protected_paths for each in self._open_in(tree)]
            for name in self._protected:
                entry, path = entries.get(name.rstrip("/")), f"{tree / name}/"
                # a running command that may change it could also exchange it now
                if entry is not None and all(path in each for each in others) and _has_one_name(tree / name, entry):
                    yield path

    def _take_back(self, last: Snapshot, now: Snapshot, running: Sequence[_RunningCommand]) -> list[str]:
        """Revert changes that would run something; return their paths, even if they could not be reverted because
        they have changed again since the snapshot.
        """
        tree, content, effects = now.tree, self.snapshots.content, running[-1].effects
        protected_paths = tuple(frozenset.intersection(*(each.protected_paths for each in running)))
        found = [
            each if each.restorable else replace(each, before=None)  # better removed than left
            for each in changes(last, now, left_out=True)
            if not f"{tree / each.path}/".startswith(protected_paths)
        ]
        unwanted = [each for each in found if not makes_repository(each) and runs_something(now, each, content)]
        making = [each for each in found if makes_repository(each)]  # may stay if nothing harmful is left beside it
        unwanted += waking(now, making, {each.path: each.before for each in unwanted}, content)
        restored = [str(tree / each.path) for each in self.snapshots.restore(tree, unwanted) if each.done]
        effects.taken_back += (path for path in restored if path not in effects.taken_back)
        return [str(tree / each.path) for each in unwanted]

    async def _end(self, key: str, how: str) -> CommandEffects:
        ended = self._open[key]
        ended.end = how
        for tree in ended.trees:
            try:
                await self._mark(tree)
            except ToolFailed:  # the folder or its earlier contents are unknown
                self._release(tree)
            except OSError as error:
                log.warning("what commands changed in %s cannot be checked: %s", tree, error)
                ended.effects.unchecked.append(str(tree))
        for name, each in list(self._open.items()):
            if each.end and not each.trees:
                await self._rows.end(each.begun.turn, each.begun.call, each.end)
                del self._open[name]
        return ended.effects


def _has_one_name(path: Path, entry: SnapshotEntry) -> bool:
    """Return whether a folder, or a file that has no other name by which a command could change it."""
    if entry.kind is EntryKind.FOLDER:
        return True
    try:
        return entry.kind is EntryKind.FILE and os.lstat(path).st_nlink == 1
    except OSError:
        return False


def _key(turn: TurnId, call: CallId) -> str:
    return f"{turn}/{call}"
