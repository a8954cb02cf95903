"""Which commands ran and what they changed, on disk before it happens, so that a killed Hob knows it afterwards.

Each command is noted with a snapshot of the folders it may change before it begins, and again when it has ended; what
differs was its doing. Where several run at once, the one that began last is taken for the one that changed something.
What makes git run something outside of the sandbox is taken back at once (`repositories`).
"""

import asyncio
import os.path
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Protocol

from hob.core.errors import NotFound, ToolFailed
from hob.core.ids import CallId, SessionKey, TurnId
from hob.core.undo import Begun, Span
from hob.core.values import dataclass
from hob.tools.exec.repositories import is_mark, runs_something
from hob.tools.undo.snapshots.entries import Difference, EntryKind, Snapshot, SnapshotChange, changes
from hob.tools.undo.snapshots.snapshots import TURNS_KEPT, Snapshots

_MAX_NAMES = 4
LOST = "lost"
"""The end of a command that Hob did not live to see."""


@dataclass(slots=True)
class CommandEffects:
    """What a command changed, by path, and which changes were taken back at once."""

    changed: dict[str, Difference] = field(default_factory=dict)
    taken_back: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """A command that runs, as far as is known."""

    begun: Begun
    trees: tuple[Path, ...]
    effects: CommandEffects = field(default_factory=CommandEffects)
    protected_paths: frozenset[str] = frozenset()
    """What it cannot change, each with a slash behind it. No one knows that of a command which a killed Hob started."""

    @property
    def key(self) -> str:
        return _key(self.begun.turn, self.begun.call)


class CommandRows(Protocol):
    """Keeps commands and what they changed; durable when a method returns. Its methods raise StoreErrors."""

    async def begin(self, begun: Begun, marks: Mapping[Path, str]) -> None:
        """A command is about to start, which may change these folders as their snapshots have them."""

    async def change(self, span: Span) -> None:
        """Something was changed."""

    async def end(self, turn: TurnId, call: CallId, how: str) -> None:
        """It has ended in this way."""

    async def running(self) -> tuple[tuple[Begun, Mapping[Path, str]], ...]:
        """Those that have not ended, oldest first, with the latest snapshots of their folders."""

    async def find(self, process: str, session: SessionKey) -> Begun | None:
        """The command that ran in the background by this id, if it was this session's."""

    async def spans(self, turn: TurnId) -> tuple[Span, ...]:
        """What the commands of this turn changed, oldest first."""

    async def newest(self, turns: int) -> tuple[Span, ...]:
        """What the commands of the last turns that changed anything changed."""


class CommandLog:
    """Keeps them. Its methods raise OSError and StoreErrors where the disk does not take them.

    Before anything else it recovers: the end of what ran when Hob was killed is noted. What is `protected`, below each
    folder, a sandbox keeps from `confined` commands if it was there, and folders also if it was not: where it changes,
    that was somebody else.
    """

    def __init__(self, rows: CommandRows, snapshots: Snapshots, protected: Collection[str] = ()) -> None:
        self.snapshots = snapshots
        self._protected = tuple(protected)
        self._rows = rows
        self._lock = asyncio.Lock()
        self._recovered = False
        self._open: dict[str, _Open] = {}
        self._marks: dict[Path, Snapshot] = {}
        self._reported: frozenset[str] | None = None

    async def unrecoverable(self, trees: Sequence[Path]) -> frozenset[str]:
        """What commands could destroy for good in these folders, by path, as far as is known without looking again.

        Once somebody has asked, `begin` lets no command start while there is more than was told.
        """
        async with self._lock:
            self._reported = await asyncio.to_thread(self._unrecoverable, trees)
            return self._reported

    def _unrecoverable(self, trees: Sequence[Path]) -> frozenset[str]:
        marks = ((tree, self._marks.get(tree) or self.snapshots.latest(tree)) for tree in trees)
        found = (tree / path for tree, mark in marks if mark is not None for path in mark.unrecoverable)
        return frozenset(str(path) for path in found if os.path.lexists(path))

    async def begin(self, begun: Begun, trees: Sequence[Path], *, confined: bool = False) -> None:
        """A command is about to start, which may change these folders.

        Raises ToolFailed where one is not there, or more could be lost in them than `unrecoverable` has told.
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
            opened = _Open(begun, tuple(trees), protected_paths=protected_paths)
            await self._rows.begin(begun, marks)
            self._open[opened.key] = opened

    async def end(self, turn: TurnId, call: CallId, how: str) -> CommandEffects:
        """It has ended in this way; what it did."""
        async with self._lock:
            return await self._end(_key(turn, call), how)

    async def settle(self) -> None:
        """Note what those that still run have changed until now."""
        await self.recover()
        async with self._lock:
            for tree in {tree for each in self._open.values() for tree in each.trees}:
                await self._mark(tree)

    async def recover(self) -> int:
        """Note the end of what ran when Hob was killed; how many there were. Once is enough."""
        async with self._lock:
            if self._recovered:
                return 0
            for begun, marks in await self._rows.running():
                opened = _Open(begun, tuple(marks))
                self._open[opened.key] = opened
                for tree, name in marks.items():
                    with suppress(NotFound):
                        self._marks[tree] = await asyncio.to_thread(self.snapshots.load, tree, name)
            lost = tuple(self._open)
            for key in reversed(lost):
                await self._end(key, LOST)
            self._recovered = True
            return len(lost)

    async def spans(self, turn: TurnId) -> tuple[Span, ...]:
        """What the commands of this turn changed, oldest first."""
        await self.recover()
        return await self._rows.spans(turn)

    def running(self, turn: TurnId) -> tuple[Begun, ...]:
        """The commands of this turn that have not ended."""
        return tuple(each.begun for each in self._open.values() if each.begun.turn == turn)

    async def find(self, process: str, session: SessionKey) -> Begun | None:
        """The command that ran in the background by this id, if it was this session's."""
        await self.recover()
        return await self._rows.find(process, session)

    async def note(self, turn: TurnId, tree: Path, before: Snapshot, after: Snapshot) -> None:
        """Keep that a turn changed a folder from the one snapshot to the other."""
        async with self._lock:
            await self._rows.change(Span(turn, tree, before.id, after.id, after.taken))
            self._marks[tree] = after

    async def prune(self, turns: int = TURNS_KEPT) -> int:
        """Forget what was in the folders before the last turns that changed them, which then cannot be undone any more.

        Returns the bytes that gave back.
        """
        await self.recover()
        async with self._lock:
            needed = {name for span in await self._rows.newest(turns) for name in (span.before, span.after)}
            needed |= {mark.id for mark in self._marks.values()}
            return await asyncio.to_thread(self.snapshots.prune, needed)

    async def _mark(self, tree: Path) -> None:
        """Take a snapshot; what is different since the last one was done by the newest that runs in this folder."""
        last = self._marks.get(tree)
        try:
            now = await asyncio.to_thread(self.snapshots.take, tree)
        except ToolFailed:
            if last is None:
                raise
            return  # the folder itself is gone: what was in it cannot be put back there
        self._marks[tree] = now
        running = [each for each in self._open.values() if tree in each.trees]
        if last is None or not running or last.id == now.id:
            return
        effects, turn = running[-1].effects, running[-1].begun.turn
        protected_paths = frozenset.intersection(*(each.protected_paths for each in running))
        taken_back = await asyncio.to_thread(self._take_back, tree, changes(last, now), protected_paths)
        if taken_back:
            effects.taken_back += taken_back
            now = self._marks[tree] = await asyncio.to_thread(self.snapshots.take, tree)
        found = changes(last, now)
        if found:
            effects.changed |= {str(tree / each.path): each.what for each in found}
            await self._rows.change(Span(turn, tree, last.id, now.id, now.taken))

    def _protected_in(self, trees: Sequence[Path]) -> Iterator[str]:
        for tree in trees:
            entries = self._marks[tree].entries
            for name in self._protected:
                here, above = entries.get(name.rstrip("/")), entries.get(name.rstrip("/").rpartition("/")[0])
                made = name.endswith("/") and above is not None and above.kind is EntryKind.FOLDER
                if here.kind is not EntryKind.LINK if here is not None else made:
                    yield f"{tree / name}/"

    def _take_back(self, tree: Path, found: Sequence[SnapshotChange], protected_paths: frozenset[str]) -> list[str]:
        """Undo what would run something; the paths for which that could be done."""
        own = [each for each in found if not f"{tree / each.path}/".startswith(tuple(protected_paths))]
        done: list[str] = []
        for marks in (False, True):  # what makes a folder a repository may stay where nothing evil is left in it
            some = [each for each in own if is_mark(each) is marks]
            unwanted = [each for each in some if runs_something(tree, each, self.snapshots.content)]
            done += [str(tree / each.path) for each in self.snapshots.restore(tree, unwanted) if each.done]
        return done

    async def _end(self, key: str, how: str) -> CommandEffects:
        ended = self._open[key]
        try:
            for tree in ended.trees:
                with suppress(ToolFailed):  # it is not there any more, nor is it known what was in it
                    await self._mark(tree)
        finally:
            del self._open[key]
        await self._rows.end(ended.begun.turn, ended.begun.call, how)
        return ended.effects


def _key(turn: TurnId, call: CallId) -> str:
    return f"{turn}/{call}"
