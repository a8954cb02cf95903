"""Which commands ran and what they changed, on disk before it happens, so that a killed Hob knows it afterwards.

Each command is noted with a snapshot of the folders it may change before it begins, and again when it has ended; what
differs was its doing. Where several run at once, the one that began last is taken for the one that changed something.
What makes git run something outside of the sandbox is taken back at once (`repositories`).
"""

import asyncio
import os.path
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from hob.core.errors import NotFound, ToolFailed
from hob.core.ids import CallId, SessionKey, TurnId
from hob.tools.exec.repositories import is_mark, runs_something
from hob.tools.filesystem.line_file import LineFile
from hob.tools.undo.snapshots.entries import EntryKind, Snapshot, SnapshotChange, What, changes
from hob.tools.undo.snapshots.snapshots import Snapshots

_FORMAT = 1
_MOST_NAMES = 4
_BEGUN, _CHANGED, _ENDED = "begun", "changed", "ended"
LOST = "lost"
"""The end of a command that Hob did not live to see."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A command that was started. `process` is its id where it ran in the background; `end` is empty while it runs."""

    turn: TurnId
    call: CallId
    session: SessionKey
    command: str
    process: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """From one snapshot of a folder to another, between which a command changed something.

    `at` is the wall time of the second one, in nanoseconds.
    """

    turn: TurnId
    tree: Path
    before: str
    after: str
    at: int = 0


@dataclass(slots=True)
class Doings:
    """What a command changed, by path, and which changes were taken back at once."""

    changed: dict[str, What] = field(default_factory=dict)
    taken_back: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """A command that runs, as far as is known."""

    begun: Begun
    trees: tuple[Path, ...]
    doings: Doings = field(default_factory=Doings)
    walls: frozenset[str] = frozenset()
    """What it cannot change, each with a slash behind it. Nobody knows that of a command which a killed Hob started."""

    @property
    def key(self) -> str:
        return _key(self.begun.turn, self.begun.call)


@dataclass(slots=True)
class _Read:
    """The log as it stands on disk, with the latest snapshot of each folder."""

    begun: dict[str, _Open] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    marks: dict[Path, str] = field(default_factory=dict)


class CommandLog:
    """Keeps them in a file of lines. Its methods raise OSError and StoreFull where the disk does not take them.

    Before anything else it recovers: the end of what ran when Hob was killed is noted. What is `protected`, below each
    folder, a sandbox keeps from `walled` commands if it was there, and folders also if it was not: where it changes,
    that was somebody else.
    """

    def __init__(self, path: Path, snapshots: Snapshots, protected: Collection[str] = ()) -> None:
        self.snapshots = snapshots
        self._protected = tuple(protected)
        self._lines = LineFile(path)
        self._lock = asyncio.Lock()
        self._recovered = False
        self._open: dict[str, _Open] = {}
        self._marks: dict[Path, Snapshot] = {}
        self._told: frozenset[str] | None = None

    async def unkept(self, trees: Sequence[Path]) -> frozenset[str]:
        """What commands could destroy for good in these folders, by path, as far as is known without looking again.

        Once somebody has asked, `begin` lets no command start while there is more than was told.
        """
        async with self._lock:
            self._told = await asyncio.to_thread(self._unkept, trees)
            return self._told

    def _unkept(self, trees: Sequence[Path]) -> frozenset[str]:
        marks = ((tree, self._marks.get(tree) or self.snapshots.latest(tree)) for tree in trees)
        found = (tree / path for tree, mark in marks if mark is not None for path in mark.unkept)
        return frozenset(str(path) for path in found if os.path.lexists(path))

    async def begin(self, begun: Begun, trees: Sequence[Path], *, walled: bool = False) -> None:
        """A command is about to start, which may change these folders.

        Raises ToolFailed where one is not there, or more could be lost in them than `unkept` has told.
        """
        await self.recover()
        async with self._lock:
            for tree in trees:
                await self._mark(tree)
            if self._told is not None and (more := self._unkept(trees) - self._told):
                names = ", ".join(sorted(more)[:_MOST_NAMES])
                raise ToolFailed(f"not run: {names} cannot be kept for undoing. Call it again: then the owner is asked")
            marks = {str(tree): self._marks[tree].id for tree in trees}
            walls = frozenset(self._walls(trees)) if walled else frozenset()
            opened = _Open(begun, tuple(trees), walls=walls)
            await self._append({"what": _BEGUN, **asdict(begun), "trees": marks})
            self._open[opened.key] = opened

    async def end(self, turn: TurnId, call: CallId, how: str) -> Doings:
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
            read = await asyncio.to_thread(self._load)
            self._open = {key: each for key, each in read.begun.items() if not each.begun.end}
            for tree in {tree for each in self._open.values() for tree in each.trees}:
                with suppress(NotFound):
                    self._marks[tree] = await asyncio.to_thread(self.snapshots.load, tree, read.marks[tree])
            lost = tuple(self._open)
            for key in reversed(lost):
                await self._end(key, LOST)
            self._recovered = True
            return len(lost)

    async def spans(self, turn: TurnId) -> tuple[Span, ...]:
        """What the commands of this turn changed, oldest first."""
        await self.recover()
        read = await asyncio.to_thread(self._load)
        return tuple(span for span in read.spans if span.turn == turn)

    async def turns(self) -> frozenset[TurnId]:
        """The turns whose commands changed anything."""
        await self.recover()
        return frozenset(span.turn for span in (await asyncio.to_thread(self._load)).spans)

    def running(self, turn: TurnId) -> tuple[Begun, ...]:
        """The commands of this turn that have not ended."""
        return tuple(each.begun for each in self._open.values() if each.begun.turn == turn)

    async def find(self, process: str, session: SessionKey) -> Begun | None:
        """The command that ran in the background by this id, if it was this session's."""
        await self.recover()
        read = await asyncio.to_thread(self._load)
        found = (each.begun for each in read.begun.values())
        return next((each for each in found if (each.process, each.session) == (process, session)), None)

    async def note(self, turn: TurnId, tree: Path, before: Snapshot, after: Snapshot) -> None:
        """Keep that a turn changed a folder from the one snapshot to the other."""
        async with self._lock:
            await self._append(_changed(turn, tree, before, after))
            self._marks[tree] = after

    async def prune(self, turns: int = 100) -> int:
        """Forget what was in the folders before the last turns that changed them, which then cannot be undone any more.

        Returns the bytes that gave back.
        """
        await self.recover()
        async with self._lock:
            spans = (await asyncio.to_thread(self._load)).spans
            recent = set(tuple(dict.fromkeys(span.turn for span in reversed(spans)))[:turns])
            needed = {name for span in spans if span.turn in recent for name in (span.before, span.after)}
            needed |= {mark.id for mark in self._marks.values()}
            return await asyncio.to_thread(self.snapshots.prune, needed)

    async def forget(self, turns: Collection[TurnId]) -> None:
        """Forget these turns' commands, and what was in the folders before them. Raises OSError."""
        await self.recover()
        async with self._lock:
            await asyncio.to_thread(self._lines.keep, lambda row: row.get("turn") not in turns)
        await self.prune()

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
        doings, turn = running[-1].doings, running[-1].begun.turn
        walls = frozenset.intersection(*(each.walls for each in running))
        taken_back = await asyncio.to_thread(self._take_back, tree, changes(last, now), walls)
        if taken_back:
            doings.taken_back += taken_back
            now = self._marks[tree] = await asyncio.to_thread(self.snapshots.take, tree)
        found = changes(last, now)
        if found:
            doings.changed |= {str(tree / each.path): each.what for each in found}
            await self._append(_changed(turn, tree, last, now))

    def _walls(self, trees: Sequence[Path]) -> Iterator[str]:
        for tree in trees:
            entries = self._marks[tree].entries
            for name in self._protected:
                here, above = entries.get(name.rstrip("/")), entries.get(name.rstrip("/").rpartition("/")[0])
                made = name.endswith("/") and above is not None and above.kind is EntryKind.FOLDER
                if here.kind is not EntryKind.LINK if here is not None else made:
                    yield f"{tree / name}/"

    def _take_back(self, tree: Path, found: Sequence[SnapshotChange], walls: frozenset[str]) -> list[str]:
        """Undo what would run something; the paths for which that could be done."""
        own = [each for each in found if not f"{tree / each.path}/".startswith(tuple(walls))]
        done: list[str] = []
        for marks in (False, True):  # what makes a folder a repository may stay where nothing evil is left in it
            some = [each for each in own if is_mark(each) is marks]
            unwanted = [each for each in some if runs_something(tree, each, self.snapshots.content)]
            done += [str(tree / each.path) for each in self.snapshots.restore(tree, unwanted) if each.done]
        return done

    async def _end(self, key: str, how: str) -> Doings:
        ended = self._open[key]
        try:
            for tree in ended.trees:
                with suppress(ToolFailed):  # it is not there any more, nor is it known what was in it
                    await self._mark(tree)
        finally:
            del self._open[key]
        await self._append({"what": _ENDED, "turn": ended.begun.turn, "call": ended.begun.call, "how": how})
        return ended.doings

    async def _append(self, row: dict[str, Any]) -> None:
        await asyncio.to_thread(self._lines.append, {"v": _FORMAT, **row})

    def _load(self) -> _Read:
        read = _Read()
        for row in self._lines.load():
            with suppress(KeyError, TypeError, ValueError):
                _take(read, row)
        return read


def _take(read: _Read, row: dict[str, Any]) -> None:
    if row.pop("v") != _FORMAT:
        return
    match row.pop("what"):
        case "begun":
            marks = {Path(tree): name for tree, name in row.pop("trees").items()}
            read.marks |= marks
            opened = _Open(Begun(**row), tuple(marks))
            read.begun[opened.key] = opened
        case "changed":
            before, after = row["states"]
            read.spans.append(Span(row["turn"], Path(row["tree"]), before, after, row.get("at", 0)))
            read.marks[Path(row["tree"])] = after
        case "ended":
            opened = read.begun[_key(row["turn"], row["call"])]
            opened.begun = replace(opened.begun, end=row["how"])


def _changed(turn: TurnId, tree: Path, before: Snapshot, after: Snapshot) -> dict[str, Any]:
    states = [before.id, after.id]
    return {"what": _CHANGED, "turn": turn, "tree": str(tree), "states": states, "at": after.taken}


def _key(turn: TurnId, call: CallId) -> str:
    return f"{turn}/{call}"
