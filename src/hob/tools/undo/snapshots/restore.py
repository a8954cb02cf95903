"""Restoring earlier states, name by name, without overwriting a later change."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from hob.core.values import dataclass
from hob.tools.sandbox.roots import open_place
from hob.tools.undo.snapshots.entries import EntryKind, SnapshotChange, SnapshotEntry
from hob.tools.undo.snapshots.objects import Damaged, ObjectStore
from hob.tools.undo.snapshots.snapshot_walk import SnapshotLimits, open_folder, read_entry


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The result for one change: whether the earlier state was reached, and if not, why."""

    path: str
    done: bool
    reason: str = ""


_FINE = RestoreResult("", True)
_NOT_EMPTY = "there is something in it that came later or was left out"
_NOT_KEPT = "what was there before was not kept: too large, too much, not readable, or a cache"


class NotRestored(Exception):
    """Raised when a name is left as it is. The message says why."""


class SnapshotRestorer:
    """Undoes changes in a folder. With `dry` it only determines what it would do.

    `gone` are paths below the folder that will have been removed by then.
    """

    def __init__(self, objects: ObjectStore, bounds: SnapshotLimits, *, dry: bool, gone: Iterable[str] = ()) -> None:
        self._objects = objects
        self._bounds = bounds
        self._dry = dry
        self._gone = set(gone)

    def run(self, tree: Path, wanted: Sequence[SnapshotChange]) -> Iterator[RestoreResult]:
        """Yield the result of each change: first additions are removed, innermost first, then the rest is restored,
        outermost first.

        Raises ToolFailed if the folder does not exist.
        """
        going = sorted((change for change in wanted if _must_go_first(change)), key=_depth, reverse=True)
        coming = sorted((change for change in wanted if change.before is not None), key=_depth)
        place = open_place(tree)
        try:
            told: dict[str, RestoreResult] = {}
            remade: set[str] = set()  # folders that would exist by now if this were not a dry run
            for change in going:
                told[change.path] = self._one(place, change, None)
                if told[change.path].done:
                    self._gone.add(change.path)
            for change in coming:
                if not told.get(change.path, _FINE).done:
                    continue
                if self._dry and (_must_go_first(change) or str(PurePosixPath(change.path).parent) in remade):
                    told[change.path] = RestoreResult(
                        change.path, change.restorable, "" if change.restorable else _NOT_KEPT
                    )
                else:
                    told[change.path] = self._one(place, change, change.before)
                if change.after is None or _must_go_first(change):
                    remade.add(change.path)
            yield from (told[path] for path in sorted(told))
        finally:
            os.close(place)

    def _one(self, root: int, change: SnapshotChange, wanted: SnapshotEntry | None) -> RestoreResult:
        path = PurePosixPath(change.path)
        try:
            with open_folder(root, str(path.parent)) as folder:
                try:
                    self._put(folder, path.name, change, wanted)
                except PermissionError:  # a command may have made its folder read-only
                    if self._dry:
                        raise
                    mode = stat.S_IMODE(os.fstat(folder).st_mode)
                    os.fchmod(folder, mode | stat.S_IRWXU)
                    try:
                        self._put(folder, path.name, change, wanted)
                    finally:
                        os.fchmod(folder, mode)
        except NotRestored as reason:
            return RestoreResult(change.path, False, str(reason))
        except FileNotFoundError:
            done = wanted is None
            return RestoreResult(change.path, done, "" if done else "the folder it was in is not there")
        except Damaged:
            return RestoreResult(change.path, False, "what was there before is damaged")
        except OSError as error:
            return RestoreResult(change.path, False, (error.strerror or str(error)).lower())
        return RestoreResult(change.path, True)

    def _put(self, folder: int, name: str, change: SnapshotChange, wanted: SnapshotEntry | None) -> None:
        """Bring a name to the wanted state. Raises NotRestored."""
        now = read_entry(folder, name, self._objects, self._bounds)
        if now is None if wanted is None else wanted.is_same(now):
            return
        swaps = change.before is not None and change.after is not None and _must_go_first(change)
        expected = None if swaps and wanted is not None else change.after
        if not (now is None if expected is None else _is_still(expected, now)):
            raise NotRestored("it was changed again since")
        if wanted is not None and not wanted.kept:
            raise NotRestored(_NOT_KEPT)
        if self._dry:
            if wanted is None and now is not None and now.kind is EntryKind.FOLDER:
                self._check_empty(folder, name, change.path)
            return
        if wanted is None:
            self._remove(folder, name, now)
        elif wanted.kind is EntryKind.FOLDER:
            self._make_folder(folder, name, wanted, there=now is not None)
        else:
            self._write(folder, name, wanted, now)

    def _check_empty(self, folder: int, name: str, path: str) -> None:
        """Raise NotRestored if something would be left in the folder."""
        place = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            left = [each for each in os.listdir(place) if f"{path}/{each}" not in self._gone]  # noqa: PTH208
        finally:
            os.close(place)
        if left:
            raise NotRestored(_NOT_EMPTY)

    def _remove(self, folder: int, name: str, now: SnapshotEntry | None) -> None:
        if now is not None and now.kind is EntryKind.FOLDER:
            try:
                os.rmdir(name, dir_fd=folder)
            except OSError as error:
                raise NotRestored(_NOT_EMPTY) from error
        else:
            os.unlink(name, dir_fd=folder)

    def _make_folder(self, folder: int, name: str, wanted: SnapshotEntry, *, there: bool) -> None:
        if not there:
            os.mkdir(name, 0o700, dir_fd=folder)
        # by descriptor, which works for unreadable folders and does not follow links
        place = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            Path(f"/proc/self/fd/{place}").chmod(wanted.mode & 0o1777)
        finally:
            os.close(place)

    def _write(self, folder: int, name: str, wanted: SnapshotEntry, now: SnapshotEntry | None) -> None:
        # always the same name, so that the next attempt removes a file that a crash left behind
        temporary = f".hob-undo-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        try:
            if wanted.kind is EntryKind.LINK:
                os.symlink(wanted.content, temporary, dir_fd=folder)
            else:
                self._write_file(folder, temporary, wanted)
            self._check_still(folder, name, now)
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            raise

    def _write_file(self, folder: int, temporary: str, wanted: SnapshotEntry) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(temporary, flags, 0o600, dir_fd=folder)
        try:
            self._objects.copy(wanted.content, fd)
            os.fchmod(fd, wanted.mode & 0o1777)  # the setuid and setgid bits are not restored
            os.utime(fd, ns=(wanted.stamp.mtime, wanted.stamp.mtime))
        finally:
            os.close(fd)

    def _check_still(self, folder: int, name: str, now: SnapshotEntry | None) -> None:
        """Check at the last moment that nothing has changed. Raises NotRestored."""
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            if now is not None:
                raise NotRestored("it was changed again since") from None
            return
        same = now is not None and (status.st_ino, status.st_ctime_ns) == (now.stamp.inode, now.stamp.ctime)
        if not same or stat.S_ISDIR(status.st_mode):
            raise NotRestored("it was changed again since")


def _is_still(expected: SnapshotEntry, now: SnapshotEntry | None) -> bool:
    same_version = now is not None and not expected.kept and expected.stamp == now.stamp  # which has been read now
    return same_version or expected.is_same(now)


def _must_go_first(change: SnapshotChange) -> bool:
    """Return whether the name must be removed first, because it was added, or a folder and something else replaced each
    other.
    """
    before, after = change.before, change.after
    if before is None:
        return True
    return after is not None and (before.kind is EntryKind.FOLDER) != (after.kind is EntryKind.FOLDER)


def _depth(change: SnapshotChange) -> int:
    return len(PurePosixPath(change.path).parts)
