"""What is noted of a folder: one entry a file, folder or link, and the differences between two such notes."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from hob.core.values import dataclass

NOT_LOOKED_INTO = "!"


class EntryKind(StrEnum):
    """What a name stands for. Sockets, pipes and devices are noted and never put back."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Stamp:
    """By what the kernel shows that a file is not the one it was. No command can set `ctime` back."""

    inode: int
    size: int
    mtime: int
    ctime: int


@dataclass(frozen=True, slots=True)
class SnapshotEntry:
    """One name. Times are in nanoseconds, `content` is the SHA-256 of a file or the target of a link.

    A file that was not kept (too large, not readable) has a stamp for its content: that shows a change, not what was
    there. The content of a folder that was not looked into is `NOT_LOOKED_INTO`.
    """

    kind: EntryKind
    mode: int
    stamp: Stamp
    content: str = ""

    @property
    def kept(self) -> bool:
        """Whether it can be put back."""
        return self.kind is not EntryKind.OTHER and not self.content.startswith("!")

    def same_as(self, other: "SnapshotEntry | None") -> bool:
        """Whether it is as it was, to its readers."""
        return other is not None and self.mode == other.mode and self.holds_the_same_as(other)

    def holds_the_same_as(self, other: "SnapshotEntry") -> bool:
        """Whether it is of the same kind, with the same content."""
        return self.kind is other.kind and (self.kind is EntryKind.FOLDER or self.content == other.content)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A folder at one moment. `entries` go by the path below the folder, `left_out` are folders not looked into.

    `taken` is the wall time in nanoseconds at which it was begun. `unrecoverable` is what would be lost for good: files
    too large, not readable or too many in all, and folders left out that are no caches.
    """

    id: str
    tree: Path
    taken: int
    entries: Mapping[str, SnapshotEntry]
    left_out: frozenset[str] = frozenset()
    unrecoverable: frozenset[str] = frozenset()


class Difference(StrEnum):
    """How a name differs."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class SnapshotChange:
    """One difference. `restorable` tells whether what was there before is kept."""

    path: str
    what: Difference
    before: SnapshotEntry | None
    after: SnapshotEntry | None

    @property
    def restorable(self) -> bool:
        return self.before is None or self.before.kept


def changes(before: Snapshot, after: Snapshot) -> tuple[SnapshotChange, ...]:
    """What is different after, by path."""
    return tuple(_changes(before, after))


def _changes(before: Snapshot, after: Snapshot) -> Iterator[SnapshotChange]:
    if before.entries is after.entries:
        return
    for path in sorted(before.entries.keys() | after.entries.keys()):
        old, new = before.entries.get(path), after.entries.get(path)
        if new is None:
            yield SnapshotChange(path, Difference.REMOVED, old, None)
        elif old is None:
            yield SnapshotChange(path, Difference.ADDED, None, new)
        elif old is not new and not old.same_as(new):
            yield SnapshotChange(path, Difference.CHANGED, old, new)
