"""Walks of a directory tree by descriptors: no link is followed, so a walk cannot be redirected.

This module and its imports are also loaded by the search program and must stay light.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field

from hob.core.values import dataclass
from hob.tools.filesystem.ignore_rules import (
    ALWAYS_SKIPPED,
    GITIGNORE,
    LARGEST_IGNORE_FILE,
    IgnoreRule,
    is_ignored,
    read_rules,
)

PSEUDO_FILE_SYSTEMS = ("/proc", "/sys", "/dev")
"""Folders whose entries are not real files."""

_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST = 100


def files_of(closed: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield device and inode of each of these files, and of all files beneath the folders among them."""
    for path in closed:
        if path in PSEUDO_FILE_SYSTEMS:
            continue
        for folder, _, names in os.walk(path):
            for name in names:
                with suppress(OSError):
                    found = os.lstat(f"{folder}/{name}")
                    yield found.st_dev, found.st_ino
        with suppress(OSError):
            found = os.lstat(path)
            yield found.st_dev, found.st_ino


def is_beneath(closed: Sequence[str], path: str) -> bool:
    """Return whether a real path is one of these paths or beneath one."""
    return any(path.startswith(each) and path[len(each) : len(each) + 1] in ("", "/") for each in closed)


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """An entry of the tree. `parts` is its path from the start of the walk; `folder` is a descriptor of its parent.

    The descriptor is valid until the next entry is requested.
    """

    parts: tuple[str, ...]
    folder: int
    is_folder: bool
    is_link: bool

    @property
    def name(self) -> str:
        """The last part."""
        return self.parts[-1]

    def look(self) -> os.stat_result | None:
        """Return its current status, or None if it is gone."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except OSError:
            return None

    def read(self, maximum: int, check: Callable[[os.stat_result], bool] = lambda found: True) -> bytes | None:
        """Read a regular file no larger than `maximum` that passes the check; return None for others."""
        seen = self.look()
        if seen is None or not stat.S_ISREG(seen.st_mode) or seen.st_size > maximum or not check(seen):
            return None
        try:
            handle = os.open(self.name, _READ, dir_fd=self.folder)
        except OSError:
            return None
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            same = (found.st_dev, found.st_ino) == (seen.st_dev, seen.st_ino)
            return file.read(maximum + 1) if same else None


@dataclass(frozen=True, slots=True)
class DirectoryWalk:
    """Parameters of a walk. `path` is the real path of the start; `closed` returns whether a real path is skipped.

    Paths that `.gitignore` excludes are skipped too, unless `everything` is set; `rules` are the rules from folders
    above. Git's own folders are always skipped.
    """

    path: str
    closed: Callable[[str], bool]
    everything: bool = False
    rules: tuple[IgnoreRule, ...] = ()
    depth: int = _DEEPEST
    above: tuple[str, ...] = field(default=())
    """The path of the start relative to where the rules apply."""

    def entries(self, descriptor: int) -> Iterator[DirectoryEntry]:
        """Yield everything beneath the folder, sorted by name, folders before their contents."""
        yield from self._in(descriptor, (), self.rules)

    def _in(self, folder: int, parts: tuple[str, ...], rules: tuple[IgnoreRule, ...]) -> Iterator[DirectoryEntry]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(
                    ((e.name, e.is_dir(follow_symlinks=False), e.is_symlink()) for e in found), key=lambda e: e[0]
                )
        except OSError:
            return
        if not self.everything and any(name == GITIGNORE for name, _, _ in entries):
            rules = (*rules, *self._rules(folder, parts))
        for name, is_folder, is_link in entries:
            entry = DirectoryEntry((*parts, name), folder, is_folder, is_link)
            if name in ALWAYS_SKIPPED or (rules and is_ignored(rules, (*self.above, *entry.parts), folder=is_folder)):
                continue
            if self.closed("/".join((self.path, *entry.parts))):
                continue
            yield entry
            if is_folder and len(entry.parts) < self.depth:
                try:
                    below = os.open(name, _LIST, dir_fd=folder)
                except OSError:
                    continue
                try:
                    yield from self._in(below, entry.parts, rules)
                finally:
                    os.close(below)

    def _rules(self, folder: int, parts: Sequence[str]) -> tuple[IgnoreRule, ...]:
        data = DirectoryEntry((GITIGNORE,), folder, False, False).read(LARGEST_IGNORE_FILE)
        return () if data is None else read_rules(data.decode("utf-8", "replace"), len(self.above) + len(parts))
