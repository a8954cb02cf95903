"""Scans of a folder that commands may be changing at the same time.

Everything is opened relative to its parent folder and no symbolic link is followed: a command that replaces a file by a
link to one outside must not get that file into a snapshot, from which undo would restore it for the command to read.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from hob.core.values import dataclass
from hob.tools.undo.snapshots.entries import NOT_LOOKED_INTO, EntryKind, Snapshot, SnapshotEntry, Stamp
from hob.tools.undo.snapshots.objects import ObjectStore
from hob.tools.undo.snapshots.repository_files import (
    ANYWHERE,
    LARGEST,
    MARKS,
    is_repository_file,
    is_repository_file_name,
    open_folder_to_list,
)

MIB = 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"  # https://bford.info/cachedir/
_RACY = 50_000_000  # nanoseconds; a file changed twice within a tick of the kernel's clock may show no new time

_DEEPEST = 400  # each level takes an open file

# Folders that tools can fill again. Changes that commands make in them cannot be undone.
CACHES = frozenset(
    [
        *("node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", ".gradle", ".next"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
    ]
)
# Folder names for which a cache tag is believed. The tag alone could be written into any folder.
TAGGED_CACHES = frozenset(["target", ".cache", "cache", ".ccache", "zig-cache", ".zig-cache", ".terraform"])


@dataclass(frozen=True, slots=True)
class SnapshotLimits:
    """Limits on what is kept. Sizes are in bytes; entries beyond the limits are recorded but cannot be restored."""

    file: int = 256 * MIB
    tree: int = 1024 * MIB
    entries: int = 50_000
    depth: int = 64


@contextmanager
def open_folder(root: int, path: str) -> Iterator[int]:
    """Open the folder at this path below an open one without following links. Raises OSError."""
    fd = os.dup(root)
    try:
        for part in Path(path).parts:
            below = os.open(part, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


@dataclass(frozen=True, slots=True)
class QuietFolder:
    """A folder in one version (inode, ctime) that has no repository files, and the folders in it."""

    version: tuple[int, int]
    folders: tuple[str, ...]


class SnapshotWalk:
    """One scan of a folder. Entries that have not changed since `last` are not read again, nor are folders listed that
    were `quiet` then.
    """

    def __init__(
        self,
        objects: ObjectStore,
        bounds: SnapshotLimits,
        last: Snapshot | None,
        quiet: Mapping[str, QuietFolder] | None = None,
    ) -> None:
        self.entries: dict[str, SnapshotEntry] = {}
        self.left_out: set[str] = set()
        self.unrecoverable: set[str] = set()
        self.fresh = 0
        self.quiet: dict[str, QuietFolder] = {}
        self._last_quiet = quiet or {}
        self._objects = objects
        self._bounds = bounds
        self._last: Mapping[str, SnapshotEntry] = {} if last is None else last.entries
        self._opened = frozenset() if last is None else frozenset(last.entries) - last.left_out
        self._trusted = 0 if last is None else last.taken - _RACY
        self._bytes = 0
        self._device = 0
        self._first = last is None

    def run(self, root: int) -> None:
        """Scan this open folder. Raises OSError only if it cannot be read itself."""
        self._device = os.fstat(root).st_dev
        self._folder(root, "", 0)

    def _folder(self, fd: int, prefix: str, depth: int) -> None:
        with os.scandir(fd) as found:
            for item in found:
                try:
                    self._name(fd, prefix, item, depth)
                except FileNotFoundError:  # deleted meanwhile
                    continue
                except PermissionError:
                    self._miss(prefix + item.name)

    def _note_repository_files(self, fd: int, prefix: str, depth: int, *, hooks: bool = False) -> None:
        """Note only the repository files, in a folder that is not scanned and below."""
        status = os.fstat(fd)
        version, known = (status.st_ino, status.st_ctime_ns), self._last_quiet.get(prefix)
        if known is not None and not hooks and known.version == version and status.st_ctime_ns < self._trusted:
            self.quiet[prefix] = known
            relevant, folders = False, known.folders
        else:
            relevant, folders = self._list_repository_files(fd, prefix, hooks=hooks)
            if not relevant:
                self.quiet[prefix] = QuietFolder(version, folders)
        for name in folders:
            if depth >= _DEEPEST:
                self._miss(prefix + name)
                continue
            try:
                below = open_folder_to_list(name, fd, forced=not self._first)
            except OSError:  # deleted or replaced meanwhile, or somebody else's
                continue
            try:
                in_hooks = relevant and name.casefold() == "hooks"
                self._note_repository_files(below, f"{prefix}{name}/", depth + 1, hooks=in_hooks)
            finally:
                os.close(below)

    def _list_repository_files(self, fd: int, prefix: str, *, hooks: bool) -> tuple[bool, tuple[str, ...]]:
        """Note a folder's repository files; return whether it may have any, and the folders in it."""
        folders, leaves = list[str](), list[os.DirEntry[str]]()
        relevant = hooks or prefix.casefold().endswith((".git/", ".hg/"))
        with os.scandir(fd) as found:
            for item in found:
                if item.is_dir(follow_symlinks=False):
                    folders.append(item.name)
                elif hooks or is_repository_file_name(item.name):
                    leaves.append(item)
                    relevant = relevant or item.name.casefold() in MARKS | ANYWHERE
        for item in leaves if relevant else ():
            with suppress(FileNotFoundError):  # deleted meanwhile
                path = prefix + item.name
                self._note(path, self._leaf(fd, item.name, path, item.stat(follow_symlinks=False)))
        return relevant, tuple(folders)

    def _name(self, fd: int, prefix: str, item: os.DirEntry[str], depth: int) -> None:
        path = prefix + item.name
        status = item.stat(follow_symlinks=False)
        full = len(self.entries) >= self._bounds.entries and path not in self._last
        if full:
            self._miss(prefix.rstrip("/") or ".")
        if stat.S_ISDIR(status.st_mode):
            self._below(fd, item.name, path, status, depth, noted=not full)
        elif not full or is_repository_file(path):
            self._note(path, self._leaf(fd, item.name, path, status))

    def _below(self, fd: int, name: str, path: str, status: os.stat_result, depth: int, *, noted: bool) -> None:
        mode, last = stat.S_IMODE(status.st_mode), self._last.get(path)
        hidden = mode & 0o500 != 0o500 and not self._first and (last is None or last.mode != mode)
        below: int | None = None
        with suppress(OSError):  # unreadable, or no longer a folder
            below = open_folder_to_list(name, fd, forced=hidden)
        try:
            cache = name in CACHES or (name in TAGGED_CACHES and below is not None and self._is_tagged(below, path))
            local = below is not None and status.st_dev == self._device
            looks = local and noted and depth < self._bounds.depth and not cache
            stamp = Stamp(status.st_ino, 0, 0, 0)
            entry = SnapshotEntry(EntryKind.FOLDER, mode, stamp, "" if looks else NOT_LOOKED_INTO)
            if noted:
                self._note(path, self._reused(path, entry))
            if cache:
                self.left_out.add(path)
            elif noted and not looks:
                self._miss(path)
            if below is not None:
                if looks:
                    self._folder(below, path + "/", depth + 1)
                else:
                    self._note_repository_files(below, path + "/", depth + 1, hooks=name.casefold() == "hooks")
        finally:
            if below is not None:
                os.close(below)

    def _miss(self, path: str) -> None:
        self.left_out.add(path)
        self.unrecoverable.add(path)

    def _note(self, path: str, entry: SnapshotEntry) -> None:
        self.entries[path] = entry
        self.fresh += entry is not self._last.get(path)
        if entry.kind is EntryKind.FILE and not entry.kept:
            self.unrecoverable.add(path)

    def _reused(self, path: str, entry: SnapshotEntry) -> SnapshotEntry:
        """Return the previous value if it is equal, so that snapshots can be compared by identity."""
        last = self._last.get(path)
        return last if last is not None and last == entry else entry

    def _leaf(self, fd: int, name: str, path: str, status: os.stat_result) -> SnapshotEntry:
        stamp = _stamp_of(status)
        mode = stat.S_IMODE(status.st_mode)
        last = self._last.get(path)
        # writing through a mapping of the file does not change its time again
        same = last is not None and last.stamp == stamp and last.mode == mode and stamp.ctime < self._trusted
        if last is not None and same and not is_repository_file(path):
            self._bytes += stamp.size if last.kept else 0
            return last
        keeps = _is_kept(name, stamp.size, self._bounds, self._bytes)
        if keeps and stat.S_ISREG(status.st_mode):
            self._bytes += stamp.size
        return self._reused(path, _read_leaf(fd, name, status, self._objects, keeps=keeps))

    def _is_tagged(self, fd: int, path: str) -> bool:
        """Return whether a folder is tagged as a cache. A folder that was scanned before is always scanned, because a
        command could otherwise hide its changes by adding a tag.
        """
        if path in self._opened:
            return False
        try:
            tag = os.open("CACHEDIR.TAG", _FILE, dir_fd=fd)
        except OSError:
            return False
        try:
            return stat.S_ISREG(os.fstat(tag).st_mode) and os.read(tag, len(_TAG)) == _TAG
        finally:
            os.close(tag)


def read_file(folder: int, name: str, objects: ObjectStore) -> SnapshotEntry:
    """Store a regular file and return its entry. Raises FileNotFoundError."""
    try:
        fd = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError:  # unreadable, or replaced by a link: recorded but not kept
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        stamp = _stamp_of(status)
        return SnapshotEntry(EntryKind.FILE, stat.S_IMODE(status.st_mode), stamp, _unrecoverable(stamp))
    try:
        status = os.fstat(fd)
        stamp = _stamp_of(status)
        mode = stat.S_IMODE(status.st_mode)
        if not stat.S_ISREG(status.st_mode):
            return SnapshotEntry(EntryKind.OTHER, mode, stamp)
        return SnapshotEntry(EntryKind.FILE, mode, stamp, objects.keep(fd, status.st_size))
    finally:
        os.close(fd)


def read_entry(folder: int, name: str, objects: ObjectStore, bounds: SnapshotLimits) -> SnapshotEntry | None:
    """Return the current entry of a name in an open folder, freshly read; None if it does not exist. Raises OSError."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            return SnapshotEntry(EntryKind.FOLDER, stat.S_IMODE(status.st_mode), Stamp(status.st_ino, 0, 0, 0))
        return _read_leaf(folder, name, status, objects, keeps=_is_kept(name, status.st_size, bounds))
    except FileNotFoundError:
        return None


def _is_kept(name: str, size: int, bounds: SnapshotLimits, kept: int = 0) -> bool:
    small = is_repository_file_name(name) and size <= LARGEST
    return small or (size <= bounds.file and kept + size <= bounds.tree)


def _read_leaf(folder: int, name: str, status: os.stat_result, objects: ObjectStore, *, keeps: bool) -> SnapshotEntry:
    """Return the entry of anything but a folder; `keeps` tells whether a file's content is stored."""
    stamp, mode = _stamp_of(status), stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        try:
            return SnapshotEntry(EntryKind.LINK, 0o777, stamp, os.readlink(name, dir_fd=folder))
        except FileNotFoundError:
            raise
        except OSError:  # replaced by something else: recorded but not kept
            return SnapshotEntry(EntryKind.LINK, 0o777, stamp, _unrecoverable(stamp))
    if not stat.S_ISREG(status.st_mode):
        return SnapshotEntry(EntryKind.OTHER, mode, stamp)
    if not keeps:
        return SnapshotEntry(EntryKind.FILE, mode, stamp, _unrecoverable(stamp))
    return read_file(folder, name, objects)


def _stamp_of(status: os.stat_result) -> Stamp:
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _unrecoverable(stamp: Stamp) -> str:
    return f"!{stamp.inode}:{stamp.size}:{stamp.mtime}:{stamp.ctime}"
