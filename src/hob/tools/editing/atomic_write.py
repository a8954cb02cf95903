"""Atomic file replacement: a new file beside the old one takes its name once it is on disk.

Everything here blocks and is called in threads.
"""

import errno
import os
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress

from hob.core.errors import ToolFailed, ToolRefused
from hob.core.ids import digest
from hob.core.values import dataclass
from hob.tools.filesystem.names import check_new_name
from hob.tools.filesystem.paths import Place, Roots, TreeChanged

LARGEST_EDITED = 64 << 20
"""Maximum bytes of a file that can be changed, because the previous content is kept for undo."""

NO_FILE_HASH = ""
"""The hash of a nonexistent file."""

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o1777  # setuid and setgid bits are not kept on rewriting
_ATTRIBUTES = ("user.", "system.posix_acl_access", "security.selinux")
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV}


@dataclass(frozen=True, slots=True)
class ExistingFile:
    """A file before a change: its bytes and permissions, or None if nothing exists."""

    place: Place
    data: bytes | None
    mode: int = 0o644

    @property
    def hash(self) -> str:
        """Hash of the bytes; "" if there is no file."""
        return NO_FILE_HASH if self.data is None else digest(self.data)


class FileChanged(ToolFailed):
    """Raised if the file was changed by somebody else."""


def load(roots: Roots, spelled: str, *, secrets: bool = False) -> ExistingFile:
    """Load the file that is to be changed. Raises ToolRefused if changes are not allowed there, ToolFailed."""
    seen, place = roots.look(spelled)
    check_writable(roots, place)
    if seen is None:
        for part in place.parts:
            check_new_name(part)
        return ExistingFile(place, None)
    descriptor, found, there = roots.open_file(place.path, secrets=secrets)
    with os.fdopen(descriptor, "rb") as file:
        _check_same(there, place.path)
        if found.st_size > LARGEST_EDITED:
            raise ToolFailed(f"{spelled} has {found.st_size:,} bytes: too large to be changed here.")
        if not found.st_mode & 0o222:
            raise ToolFailed(f"{spelled} is write-protected (mode {stat.S_IMODE(found.st_mode):o}).")
        return ExistingFile(place, file.read(LARGEST_EDITED + 1), stat.S_IMODE(found.st_mode))


def check_writable(roots: Roots, place: Place) -> None:
    """Raise ToolRefused if tools must not write here: in read-only roots, and in git's own files.

    Files in `.git` determine what git runs the next time it is called, outside any sandbox.
    """
    if not place.root.writable:
        raise ToolRefused(f"{place.spelled} may be read, not written: {place.root.name} is read only. {roots.line()}")
    if any(part.lower().rstrip(". ") == ".git" for part in place.parts) or _is_of_bare_repository(place):
        raise ToolRefused(f"{place.spelled} is git's own; change it with git.")
    if not place.parts:
        raise ToolFailed(f"{place.spelled} is a folder, not a file.")


def _is_of_bare_repository(place: Place) -> bool:
    """Return whether the file makes its folder a repository, or determines what git runs in one: settings, hooks.

    Any folder with a HEAD is a repository to git; `commondir` takes its settings from elsewhere.
    """
    folder, _, name = place.path.rpartition("/")
    plain = name.casefold()
    if name == "HEAD" or plain == "commondir" or (plain == "head" and sys.platform == "darwin"):
        return True
    above = os.path.dirname(folder) if os.path.basename(folder).casefold() == "hooks" else ""  # noqa: PTH119, PTH120
    beside = folder if plain in {"config", "config.worktree", "hooks"} else above
    return bool(beside) and os.path.lexists(f"{beside}/HEAD")


def missing_folders(roots: Roots, place: Place) -> tuple[str, ...]:
    """Return the folders that must be created before a file can be at this place, outermost first."""
    for n in range(len(place.parts) - 1, -1, -1):
        with suppress(FileNotFoundError, TreeChanged), roots.folder(place, place.parts[:n]):
            return tuple("/".join((place.top, *place.parts[:m])) for m in range(n + 1, len(place.parts)))
    raise ToolFailed(f"{place.root.name} {place.root.path} is not there.")


def replace(roots: Roots, path: str, data: bytes, *, was: str, mode: int | None, part: str) -> None:
    """Replace the file at this real path, which must have hash `was`.

    It keeps permissions, owner and attributes, or gets `mode`. `part` is the temporary name of the new file. Raises
    FileChanged, ToolFailed; in that case only created folders remain.
    """

    def act(place: Place) -> None:
        _check_same(place, path)
        _make_folders(roots, place)
        with roots.folder(place) as folder:
            _check_hash(folder, place, was)
            try:
                old = _put_beside(folder, place.name, data, part, mode)
                _take_name(folder, part, place, new=old is None)
            except OSError as error:
                why = error.strerror or str(error)
                raise ToolFailed(f"{place.spelled}: {why}; nothing was changed.") from error
            finally:
                with suppress(OSError):
                    os.unlink(part, dir_fd=folder)
            _sync(folder)

    roots.with_retries(path, act)


def remove(roots: Roots, path: str, *, was: str) -> None:
    """Remove the file at this real path, which must have hash `was`. Raises FileChanged, ToolFailed."""

    def act(place: Place) -> None:
        _check_same(place, path)
        with roots.folder(place) as folder:
            _check_hash(folder, place, was)
            os.unlink(place.name, dir_fd=folder)
            _sync(folder)

    roots.with_retries(path, act)


def remove_part(roots: Roots, path: str, part: str) -> bool:
    """Remove the temporary file that a crash left behind for this path; return whether there was one."""

    def act(place: Place) -> bool:
        with roots.folder(place) as folder:
            try:
                os.unlink(part, dir_fd=folder)
            except FileNotFoundError:
                return False
            return True

    try:
        return roots.with_retries(path, act)
    except (ToolFailed, ToolRefused):
        return False


def remove_folders(roots: Roots, paths: Sequence[str]) -> None:
    """Remove the empty ones of these folders, which are given outermost first."""

    def act(place: Place) -> None:
        with roots.folder(place) as folder:
            os.rmdir(place.name, dir_fd=folder)

    for path in reversed(paths):
        try:
            roots.with_retries(path, act)
        except (ToolFailed, ToolRefused):
            return


def _check_same(place: Place, path: str) -> None:
    if place.path != path:
        raise FileChanged(f"{path} leads elsewhere now, to {place.path}; read it again.")


def _check_hash(folder: int, place: Place, was: str) -> None:
    try:
        descriptor = os.open(place.name, _READ, dir_fd=folder)
    except FileNotFoundError:
        now = NO_FILE_HASH
    else:
        with os.fdopen(descriptor, "rb") as file:
            now = digest(file.read()) if stat.S_ISREG(os.fstat(descriptor).st_mode) else "no file"
    if now != was:
        what = (
            "is there already" if was == NO_FILE_HASH else "is gone" if now == NO_FILE_HASH else "was changed meanwhile"
        )
        raise FileChanged(f"{place.spelled} {what}; read it again.")


def _make_folders(roots: Roots, place: Place) -> None:
    missing = missing_folders(roots, place)
    for n in range(len(place.parts) - len(missing), len(place.parts)):
        with roots.folder(place, place.parts[: n - 1]) as above, suppress(FileExistsError):
            os.mkdir(place.parts[n - 1], dir_fd=above)
            _sync(above)


def _put_beside(folder: int, name: str, data: bytes, part: str, mode: int | None) -> os.stat_result | None:
    """Write the new file under its temporary name; return the status of the existing file."""
    try:
        old = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        old = None
    with suppress(FileNotFoundError):
        os.unlink(part, dir_fd=folder)
    handle = os.open(part, _NEW, 0o666 if old is None and mode is None else 0o600, dir_fd=folder)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        if old is not None:
            _keep_owner(folder, name, handle, old)
        if mode is not None or old is not None:
            os.fchmod(handle, (mode if mode is not None else old.st_mode if old else 0o600) & _MODE)
        os.fsync(handle)
    finally:
        os.close(handle)
    return old


def _keep_owner(folder: int, name: str, handle: int, old: os.stat_result) -> None:
    """Copy owner, group and attributes of the old file to the new one, as far as permitted."""
    new = os.fstat(handle)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        for user in (old.st_uid, -1):
            with suppress(OSError):
                os.fchown(handle, user, old.st_gid)
                break
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            before = os.open(name, _READ, dir_fd=folder)
            try:
                for attribute in os.listxattr(before):
                    if attribute.startswith(_ATTRIBUTES):
                        with suppress(OSError):
                            os.setxattr(handle, attribute, os.getxattr(before, attribute))
            finally:
                os.close(before)


def _take_name(folder: int, part: str, place: Place, *, new: bool) -> None:
    if new:  # unlike a rename, a link cannot replace a file that somebody else has created meanwhile
        try:
            os.link(part, place.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError as error:
            raise FileChanged(f"{place.spelled} is there already; read it first.") from error
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
        else:
            return
    os.rename(part, place.name, src_dir_fd=folder, dst_dir_fd=folder)


def _sync(folder: int) -> None:
    handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems do not support it
            raise
    finally:
        os.close(handle)
