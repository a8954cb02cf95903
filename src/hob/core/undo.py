"""Values of undoing: what commands changed, what came of putting files back."""

from collections.abc import Collection
from pathlib import Path

from hob.core.ids import BlobId, CallId, SessionKey, TurnId
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as it stood: the SHA-256 of its bytes and its permission bits. `blob` keeps the bytes of old ones."""

    hash: str
    mode: int
    blob: BlobId | None = None


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file changed by one call, or about to be; None is no file. `made` are folders that were made for it.

    `at` is the wall time in nanoseconds, by which changes are put in order with those that commands made.
    """

    id: str
    turn: TurnId
    call: CallId
    path: str
    before: FileVersion | None
    after: FileVersion | None
    made: tuple[str, ...] = ()
    at: int = 0


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


def undo_of(turn: TurnId) -> TurnId:
    """The turn under which the undoing of a turn is noted."""
    return TurnId(f"undo:{turn}")


def with_undoing(turns: Collection[TurnId]) -> frozenset[TurnId]:
    """The turns, their undoing and the undoing of that."""
    undone = [undo_of(turn) for turn in turns]
    return frozenset((*turns, *undone, *(undo_of(turn) for turn in undone)))
