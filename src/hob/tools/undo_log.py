"""Which turns were undone, on disk before it is done, so that an undoing that was cut short is known and finished."""

import asyncio
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hob.core.ids import TurnId
from hob.tools.lines import LineFile
from hob.tools.undo import Kept, Undone, undo_of

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class UndoNote:
    """One undoing. `by` names who asked for it, `planned` are the files it set out to put back.

    Without an outcome it was begun and not ended.
    """

    turn: TurnId
    by: str
    planned: tuple[str, ...]
    outcome: Undone | None = None


class UndoLog:
    """Keeps them in a file of lines. Raises OSError and StoreFull where the disk does not take them."""

    def __init__(self, path: Path) -> None:
        self._lines = LineFile(path)

    async def begin(self, note: UndoNote) -> None:
        """It is about to be done."""
        row = {"v": _FORMAT, "turn": note.turn, "by": note.by, "planned": note.planned}
        await asyncio.to_thread(self._lines.append, row)

    async def end(self, note: UndoNote, outcome: Undone) -> None:
        """It is done, with this outcome."""
        kept = [[each.path, each.reason] for each in outcome.kept]
        done = {"restored": outcome.restored, "unchanged": outcome.unchanged, "kept": kept}
        row = {"v": _FORMAT, "turn": note.turn, "by": note.by, "done": done}
        await asyncio.to_thread(self._lines.append, row)

    async def find(self, by: str) -> UndoNote | None:
        """What was done for this asker."""
        return (await self._load()).get(by)

    async def half_done(self) -> tuple[UndoNote, ...]:
        """What was begun and not ended, oldest first."""
        return tuple(note for note in (await self._load()).values() if note.outcome is None)

    async def undone(self) -> frozenset[TurnId]:
        """The turns that are undone now; one whose undoing was undone in its turn is not."""
        undone: set[TurnId] = set()
        for note in (await self._load()).values():
            if note.outcome is not None:
                undone.discard(undo_of(note.turn))
                undone.add(note.turn)
                undone -= {turn for turn in undone if undo_of(turn) == note.turn}
        return frozenset(undone)

    async def forget(self, turns: Collection[TurnId]) -> None:
        """Forget what was undone of these turns."""
        await asyncio.to_thread(self._lines.keep, lambda row: row.get("turn") not in turns)

    async def _load(self) -> dict[str, UndoNote]:
        """Each by its asker, in the order in which they ended, or else began."""
        notes: dict[str, UndoNote] = {}
        for row in await asyncio.to_thread(self._lines.load):
            for note in _read(row, notes):
                notes.pop(note.by, None)
                notes[note.by] = note
        return notes


def _read(row: dict[str, Any], notes: dict[str, UndoNote]) -> Iterator[UndoNote]:
    try:
        if row["v"] != _FORMAT:
            return
        if "done" not in row:
            yield UndoNote(TurnId(row["turn"]), row["by"], tuple(row["planned"]))
            return
        done = row["done"]
        kept = tuple(Kept(path, reason) for path, reason in done["kept"])
        outcome = Undone(tuple(done["restored"]), tuple(done["unchanged"]), kept)
        yield replace(notes[row["by"]], outcome=outcome)
    except (KeyError, TypeError, ValueError):
        return
