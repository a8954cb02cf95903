"""Snapshots of the folders that commands may change, so that their changes can be undone.

Git is not suitable: it would leave out `.git` itself and empty folders, obey the repository's own configuration, and
convert line ends by attributes that a command can write.
"""

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from hob.core.clock import Clock
from hob.core.errors import NotFound
from hob.core.translation.language import translatable
from hob.tools.sandbox.roots import open_place
from hob.tools.undo.snapshots.entries import EntryKind, Snapshot, SnapshotChange, SnapshotEntry, Stamp
from hob.tools.undo.snapshots.objects import ObjectStore, create_private
from hob.tools.undo.snapshots.repository_files import open_folder_to_list
from hob.tools.undo.snapshots.restore import RestoreResult, SnapshotRestorer
from hob.tools.undo.snapshots.snapshot_walk import QuietFolder, SnapshotLimits, SnapshotWalk

_VERSION = 1
TURNS_KEPT = 100
"""Number of turns with changes by commands whose snapshots are kept. Older turns cannot be undone."""


class Snapshots:
    """Snapshots in a folder of Hob's own, invisible to commands. Slow with many files: call it in a thread."""

    def __init__(self, folder: Path, clock: Clock, bounds: SnapshotLimits | None = None) -> None:
        """Creates the folder if it is missing. Raises OSError."""
        self._folder = folder
        self._clock = clock
        self._bounds = bounds or SnapshotLimits()
        for part in ("objects", "trees"):
            (folder / part).mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)  # parents are created according to the umask
        self._objects = ObjectStore(folder / "objects")
        self._last: dict[Path, Snapshot] = {}
        self._quiet: dict[Path, dict[str, QuietFolder]] = {}
        self._lock = Lock()

    def take(self, tree: Path) -> Snapshot:
        """Take a snapshot of a folder. Only entries that have changed since the last one are read.

        Raises ToolFailed if the folder does not exist or is reached through a link, OSError if the disk is full.
        """
        with self._lock:
            return self._take(tree)

    def _take(self, tree: Path) -> Snapshot:
        last = self.latest(tree)
        taken = int(self._clock.now().timestamp() * 1e9)
        walk = SnapshotWalk(self._objects, self._bounds, last, self._quiet.get(tree))
        place = open_place(tree)
        try:
            root = open_folder_to_list(".", place, forced=last is not None)
        finally:
            os.close(place)
        try:
            walk.run(root)
        finally:
            os.close(root)
        self._quiet[tree] = walk.quiet
        left_out, unrecoverable = frozenset(walk.left_out), frozenset(walk.unrecoverable)
        unchanged = last is not None and not walk.fresh and len(walk.entries) == len(last.entries)
        if last is not None and unchanged and (left_out, unrecoverable) == (last.left_out, last.unrecoverable):
            taken_again = Snapshot(last.id, tree, taken, last.entries, left_out, unrecoverable)
            self._last[tree] = taken_again
            return taken_again
        rows = [_row(path, entry) for path, entry in walk.entries.items()]
        name = hashlib.sha256(json.dumps([str(tree), rows], sort_keys=True).encode()).hexdigest()[:24]
        snapshot = Snapshot(name, tree, taken, walk.entries, left_out, unrecoverable)
        self._save(snapshot, rows)
        self._last[tree] = snapshot
        return snapshot

    def latest(self, tree: Path) -> Snapshot | None:
        """Return the newest stored snapshot of this folder, if any."""
        return self._last.get(tree) or self._load_latest(tree)

    def load(self, tree: Path, name: str) -> Snapshot:
        """Load an earlier snapshot. Raises NotFound if it is no longer stored."""
        last = self._last.get(tree)
        if last is not None and last.id == name:
            return last
        try:
            text = (self._home(tree) / f"{name}.json").read_text("utf-8")
            return _snapshot(json.loads(text), tree, name)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NotFound(translatable("The state of {tree} before is not kept any more.", tree=tree)) from error

    def restore(self, tree: Path, wanted: Iterable[SnapshotChange]) -> tuple[RestoreResult, ...]:
        """Restore the state before these changes; return the result of each. Later changes are kept.

        Idempotent, also after an interruption. Raises ToolFailed if the folder does not exist.
        """
        with self._lock:
            return tuple(SnapshotRestorer(self._objects, self._bounds, dry=False).run(tree, tuple(wanted)))

    def preview(
        self, tree: Path, wanted: Iterable[SnapshotChange], gone: Iterable[str] = ()
    ) -> tuple[RestoreResult, ...]:
        """Return what `restore` would do once these paths below the folder are gone. Changes nothing."""
        return tuple(SnapshotRestorer(self._objects, self._bounds, dry=True, gone=gone).run(tree, tuple(wanted)))

    def content(self, entry: SnapshotEntry) -> bytes | None:
        """Return a file's content; None if it was not kept or is corrupt."""
        return self._objects.load(entry.content) if entry.kind is EntryKind.FILE and entry.kept else None

    def adopt(self, data: bytes) -> None:
        """Store additional content to be restored. Raises OSError."""
        with self._lock:
            self._objects.keep_bytes(data)

    def prune(self, keep: Iterable[str]) -> int:
        """Delete all snapshots except these and each folder's latest; return the bytes of content freed."""
        names = set(keep)
        needed: set[str] = set()
        with self._lock:
            for home in (self._folder / "trees").iterdir():
                latest = _text(home / "latest")
                for path in home.glob("*.json"):
                    if path.stem not in names and path.stem != latest:
                        path.unlink()
                        continue
                    with suppress(ValueError, KeyError, IndexError):  # a corrupt snapshot needs nothing
                        rows = json.loads(path.read_text("utf-8"))["rows"]
                        needed.update(row[7] for row in rows if row[1] == EntryKind.FILE)
            return self._objects.prune(needed)

    def _home(self, tree: Path) -> Path:
        return self._folder / "trees" / hashlib.sha256(os.fsencode(tree)).hexdigest()[:24]

    def _load_latest(self, tree: Path) -> Snapshot | None:
        with suppress(NotFound):
            return self.load(tree, _text(self._home(tree) / "latest"))
        return None

    def _save(self, snapshot: Snapshot, rows: list[Any]) -> None:
        home = self._home(snapshot.tree)
        home.mkdir(mode=0o700, exist_ok=True)
        content = {
            "version": _VERSION,
            "tree": str(snapshot.tree),
            "taken": snapshot.taken,
            "left_out": sorted(snapshot.left_out),
            "unkept": sorted(snapshot.unrecoverable),
            "rows": rows,
        }
        for name, text in ((f"{snapshot.id}.json", json.dumps(content)), ("latest", snapshot.id)):
            temporary = home / f"{name}.new"
            with create_private(temporary) as file:
                file.write(text.encode())
            temporary.replace(home / name)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError:
        return ""


def _row(path: str, entry: SnapshotEntry) -> list[Any]:
    stamp = entry.stamp
    return [path, entry.kind, entry.mode, stamp.inode, stamp.size, stamp.mtime, stamp.ctime, entry.content]


def _snapshot(content: dict[str, Any], tree: Path, name: str) -> Snapshot:
    if content["version"] != _VERSION:
        raise ValueError(content["version"])
    entries = {
        path: SnapshotEntry(EntryKind(kind), mode, Stamp(inode, size, mtime, ctime), text)
        for path, kind, mode, inode, size, mtime, ctime, text in content["rows"]
    }
    unrecoverable = frozenset(content.get("unkept", ()))
    return Snapshot(name, tree, content["taken"], entries, frozenset(content["left_out"]), unrecoverable)
