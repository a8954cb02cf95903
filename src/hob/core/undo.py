"""Words of undoing: what came of putting files back, and that it was asked for."""

from collections.abc import Collection
from dataclasses import dataclass

from hob.core.ids import TurnId


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that is not undone, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Undone:
    """What came of undoing a turn. `unchanged` are files that were as before it already."""

    restored: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    kept: tuple[Kept, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoNote:
    """One undoing. `by` names who asked for it, `planned` are the files it set out to put back.

    Without an outcome it was begun and not ended.
    """

    turn: TurnId
    by: str
    planned: tuple[str, ...]
    outcome: Undone | None = None


def undo_of(turn: TurnId) -> TurnId:
    """The turn under which the undoing of a turn is noted."""
    return TurnId(f"undo:{turn}")


def with_undoing(turns: Collection[TurnId]) -> frozenset[TurnId]:
    """The turns, their undoing and the undoing of that."""
    undone = [undo_of(turn) for turn in turns]
    return frozenset((*turns, *undone, *(undo_of(turn) for turn in undone)))
