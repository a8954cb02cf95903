"""Undo values: changes made by commands, and results of restoring files."""

from collections.abc import Collection
from pathlib import Path

from hob.core.ids import BlobId, CallId, SessionKey, TurnId
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class FileVersion:
    """State of a file: the SHA-256 of its bytes and its permission bits. `blob` keeps the bytes of old versions."""

    hash: str
    mode: int
    blob: BlobId | None = None


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change of one file by one call, made or planned; None means no file. `made` are folders created for it.

    `at` is the wall time in nanoseconds, which orders the change among those made by commands.
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
class SkippedFile:
    """A file that was not restored, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class UndoOutcome:
    """Result of undoing a turn. `unchanged` are files that already had their earlier content."""

    restored: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    kept: tuple[SkippedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoRecord:
    """Record of one undo. `by` is who asked for it, `planned` are the files to be restored.

    Without an outcome, the undo was interrupted.
    """

    turn: TurnId
    by: str
    planned: tuple[str, ...]
    outcome: UndoOutcome | None = None


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A started command. `process` is its id if it ran in the background; `end` is empty while it runs."""

    turn: TurnId
    call: CallId
    session: SessionKey
    command: str
    process: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class SnapshotSpan:
    """Two snapshots of a folder, between which a command changed something.

    `at` is the wall time of the second one, in nanoseconds.
    """

    turn: TurnId
    tree: Path
    before: str
    after: str
    at: int = 0


def undo_turn_id(turn: TurnId) -> TurnId:
    """Return the id under which the undo of a turn is recorded."""
    return TurnId(f"undo:{turn}")


def with_undo_turns(turns: Collection[TurnId]) -> frozenset[TurnId]:
    """Return the turns, their undos, and the undos of those."""
    undone = [undo_turn_id(turn) for turn in turns]
    return frozenset((*turns, *undone, *(undo_turn_id(turn) for turn in undone)))
