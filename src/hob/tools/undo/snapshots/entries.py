"""Snapshot values: an entry for each file, folder or link, and the differences between two snapshots."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from hob.core.values import dataclass

NOT_LOOKED_INTO = "!"


class EntryKind(StrEnum):
    """Kinds of entries. Sockets, pipes and devices are recorded but not restored."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Stamp:
    """The properties by which the kernel identifies a version of a file. Commands cannot reset `ctime`."""

    inode: int
    size: int
    mtime: int
    ctime: int


@dataclass(frozen=True, slots=True)
class SnapshotEntry:
    """A name in a folder. Times are in nanoseconds; `content` is the SHA-256 of a file or the target of a link.

    A file that was not kept (too large, unreadable) has its stamp as content, which reveals changes but does not allow
    restoring. The content of a folder that was not scanned is `NOT_LOOKED_INTO`.
    """

    kind: EntryKind
    mode: int
    stamp: Stamp
    content: str = ""

    @property
    def kept(self) -> bool:
        """Whether the entry can be restored."""
        return self.kind is not EntryKind.OTHER and not self.content.startswith("!")

    def is_same(self, other: "SnapshotEntry | None") -> bool:
        """Return whether kind, mode and content are the same."""
        return other is not None and self.mode == other.mode and self.has_same_content(other)

    def has_same_content(self, other: "SnapshotEntry") -> bool:
        """Return whether kind and content are the same."""
        return self.kind is other.kind and (self.kind is EntryKind.FOLDER or self.content == other.content)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A folder at one moment. `entries` are keyed by path below the folder; of the folders `left_out` they have only
    the repository files.

    `taken` is the wall time in nanoseconds at its beginning. `unrecoverable` is what would be lost: files too large,
    unreadable or too many in total, and skipped folders that are not caches.
    """

    id: str
    tree: Path
    taken: int
    entries: Mapping[str, SnapshotEntry]
    left_out: frozenset[str] = frozenset()
    unrecoverable: frozenset[str] = frozenset()


class Difference(StrEnum):
    """Kinds of differences."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class SnapshotChange:
    """A difference. `restorable` says whether the earlier state was kept."""

    path: str
    what: Difference
    before: SnapshotEntry | None
    after: SnapshotEntry | None

    @property
    def restorable(self) -> bool:
        return self.before is None or self.before.kept


def changes(before: Snapshot, after: Snapshot, *, left_out: bool = False) -> tuple[SnapshotChange, ...]:
    """Return the differences, sorted by path; those in folders `left_out` only on request."""
    found = _changes(before, after)
    return tuple(each for each in found if left_out or not _is_left_out(each.path, before if each.before else after))


def _is_left_out(path: str, snapshot: Snapshot) -> bool:
    folder = path.rpartition("/")[0]
    above = snapshot.entries.get(folder)
    return folder != "" and (above is None or above.content == NOT_LOOKED_INTO)


def _changes(before: Snapshot, after: Snapshot) -> Iterator[SnapshotChange]:
    if before.entries is after.entries:
        return
    for path in sorted(before.entries.keys() | after.entries.keys()):
        old, new = before.entries.get(path), after.entries.get(path)
        if new is None:
            yield SnapshotChange(path, Difference.REMOVED, old, None)
        elif old is None:
            yield SnapshotChange(path, Difference.ADDED, None, new)
        elif old is not new and not old.is_same(new):
            yield SnapshotChange(path, Difference.CHANGED, old, new)
