"""Folders that commands may be given, and how they are opened safely against replacement."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from hob.core.errors import NotConfigured, ToolFailed
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.tools.sandbox.job import JobRoot, SandboxJob

# Folders inside these are refused too: devices, the kernel, the running system's sockets and settings.
_SYSTEM = ("/proc", "/sys", "/dev", "/run", "/var/run", "/boot", "/etc")
# Folders inside these are allowed, but not the whole.
_WHOLE = (
    *("/", "/bin", "/home", "/lib", "/lib32", "/lib64", "/media", "/mnt", "/opt", "/root", "/sbin", "/srv"),
    *("/tmp", "/usr", "/usr/local", "/var", "/var/lib", "/var/tmp"),  # noqa: S108 - they are refused
    *("/Users", "/System", "/Library", "/private"),
)
# Places in a home that hold credentials.
_PRIVATE = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".password-store", ".pki", ".mozilla"),
    *(".config/gcloud", ".config/gh", ".config/op", ".config/google-chrome", ".config/chromium", ".config/systemd"),
    *(".local/share/keyrings", ".cargo/credentials.toml", ".npmrc", ".pypirc", ".git-credentials", ".bash_history"),
    *("Library/Keychains", "Library/Application Support"),
)


def private_places(home: Path) -> tuple[Path, ...]:
    """Return the places of the owner's home that commands cannot see."""
    return tuple(home / name for name in _PRIVATE)


def check_root(root: JobRoot, forbidden: Iterable[Path]) -> None:
    """Raise NotConfigured if this folder must not be given, because it belongs to the system or contains something
    private.
    """
    path = root.path
    if not path.is_absolute() or ".." in path.parts:
        raise NotConfigured(
            translatable("{path} is not an absolute path. Name the folder by its whole path.", path=path)
        )
    if str(path) in _WHOLE or any(path.is_relative_to(system) for system in _SYSTEM):
        raise NotConfigured(
            translatable(
                "{path} belongs to the system and cannot be given to commands. Name a folder inside it.", path=path
            )
        )
    if root.writable and path.is_relative_to("/usr"):
        raise NotConfigured(translatable("{path} belongs to the system; commands may only read it.", path=path))
    for place in forbidden:
        if path.is_relative_to(place) or place.is_relative_to(path):
            raise NotConfigured(
                translatable(
                    "{path} cannot be given to commands, since {place} is private. Name another folder.",
                    path=path,
                    place=place,
                )
            )


def resolve_root(name: str, owner: Path, *, writable: bool, forbidden: tuple[Path, ...]) -> JobRoot:
    """Return a folder from the settings, with links resolved. Relative paths are refused.

    Raises NotConfigured for folders that commands cannot be given.
    """
    path = owner / name[2:] if name == "~" or name.startswith("~/") else Path(name)
    if not path.is_absolute():
        raise NotConfigured(
            translatable(
                "{name!r} is not an absolute path. Name the folder by its whole path, or begin with ~/.", name=name
            )
        )
    root = JobRoot(path.resolve(), writable)
    check_root(root, (*private_places(owner), *forbidden))
    return root


def open_place(path: Path) -> int:
    """Open a folder or file as a fixed reference (O_PATH), which the caller closes.

    Each part of the path is opened relative to the one before, and none may be a symbolic link. Otherwise a command
    that can write next to a root could redirect the next command to any folder of the machine. Raises ToolFailed.
    """
    place = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return _open_below(place, path.parts[1:], path)
    finally:
        os.close(place)


def open_below(folder: int, relative: str) -> int | None:
    """Open a path below an open folder without following symbolic links; None if it does not exist."""
    try:
        return _open_below(folder, Path(relative).parts, Path(relative))
    except ToolFailed:
        return None


@dataclass(frozen=True, slots=True)
class ProtectedMount:
    """A folder or file below a root to mount over itself: read-only, or `writable` but immovable."""

    name: str
    place: int
    writable: bool


def open_protected_mounts(folder: int, names: Iterable[str], keep: Callable[[int], int]) -> Iterator[ProtectedMount]:
    """Yield mounts that protect these names below an open folder, outer ones first. `keep` receives every descriptor.

    All parent folders are mounted too, because one could otherwise be moved and replaced. Names that end in a slash are
    folders and are created if missing. A file in place of a folder (`.git` of a worktree) is protected instead.
    """
    held: set[str] = set()
    for name in names:
        *above, last = Path(name).parts
        parent = folder
        for depth, part in enumerate(above, 1):
            found = open_below(parent, part)
            if found is None:
                break
            parent, path = keep(found), "/".join(above[:depth])
            plain = not stat.S_ISDIR(os.fstat(parent).st_mode)
            if path not in held:
                held.add(path)
                yield ProtectedMount(path, parent, writable=not plain)
            if plain:
                break
        else:
            if name.endswith("/"):
                with suppress(OSError):
                    os.mkdir(last, 0o755, dir_fd=parent)
            place = open_below(parent, last)
            if place is not None:
                yield ProtectedMount(str(Path(name)), keep(place), writable=False)


def _open_below(folder: int, parts: Sequence[str], path: Path) -> int:
    place = os.dup(folder)
    for part in parts:
        try:
            below = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
        except OSError as error:
            raise ToolFailed(f"{path} cannot be opened for the command: {error.strerror}.") from error
        finally:
            os.close(place)
        place = below
        if stat.S_ISLNK(os.fstat(place).st_mode):
            os.close(place)
            raise ToolFailed(f"{path} leads through a symbolic link ({part}), which commands could change.")
    return place


def effective_roots(job: SandboxJob) -> tuple[JobRoot, ...]:
    """Return the roots, outer ones first, without those inside another root that grants as much."""
    kept: list[JobRoot] = []
    for root in sorted(job.roots, key=lambda root: (len(root.path.parts), not root.writable)):
        if not any(root.path.is_relative_to(other.path) and other.writable >= root.writable for other in kept):
            kept.append(root)
    return tuple(kept)


def check_job(job: SandboxJob, forbidden: Sequence[Path]) -> None:
    """Raise NotConfigured for a root that cannot be given, ToolFailed for a working folder outside all roots."""
    for root in job.roots:
        check_root(root, forbidden)
    if ".." in job.folder.parts or not any(job.folder.is_relative_to(root.path) for root in job.roots):
        shown = ", ".join(str(root.path) for root in job.roots) or "none"
        raise ToolFailed(f"{job.folder} is not in a folder that commands may use ({shown}).")
    if not job.argv or any("\0" in word for word in job.argv):
        raise ToolFailed("There is no command to run, or it has a NUL character in it.")
