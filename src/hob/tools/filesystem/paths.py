"""Path containment: names are resolved to real places beneath the roots, and opened without race conditions.

A name is resolved twice. First manually, link by link, to find and judge the real path; nothing outside the roots is
inspected, so not even the existence of a file is revealed. Then the kernel opens that real path and refuses links
altogether: if a link has appeared meanwhile, opening fails and the process is repeated.
"""

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from hob.core.errors import InvalidCall, ToolFailed, ToolRefused
from hob.core.values import dataclass
from hob.tools.filesystem.directories import await_removal, open_folder, open_root, real_path
from hob.tools.filesystem.directory_walk import PSEUDO_FILE_SYSTEMS, files_of, is_beneath
from hob.tools.filesystem.names import nearest_names, resolve_spelling, same_name

T = TypeVar("T")

_MAX_LINKS = 40
_TRIES = 20  # attempts in a tree that keeps changing
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CHANGED = {errno.ELOOP, errno.ENOTDIR, errno.EXDEV, errno.ESTALE, errno.ENXIO}


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that tools may see, with everything beneath it. `name` is its name for people and models."""

    name: str
    path: Path
    writable: bool = True


@dataclass(frozen=True, slots=True)
class Place:
    """The place a name leads to, links followed: the path beneath `top`, a root's real path. It need not exist."""

    spelled: str
    root: Root
    top: str
    parts: tuple[str, ...]

    @property
    def path(self) -> str:
        """The real path."""
        return "/".join((self.top, *self.parts)) or "/"

    @property
    def name(self) -> str:
        """The last component; "" for a root itself."""
        return self.parts[-1] if self.parts else ""


class TreeChanged(Exception):
    """Raised when the tree changed between inspection and opening."""


class Roots:
    """The roots, the forbidden places within them, and the only ways to open what is beneath them.

    Relative names start at `base`, which is in a root; `~` is `home`. `forbidden` are files and folders that tools
    cannot see, even within a root: the state directory, files with secrets. Of nested roots, the innermost applies.
    Contents of files with `secret` names are not shown, wherever they are.
    """

    def __init__(
        self,
        roots: Sequence[Root],
        *,
        base: Path,
        home: Path | None = None,
        forbidden: Sequence[Path] = (),
        secret: re.Pattern[str] | None = None,
    ) -> None:
        self.secret = secret
        self.roots = tuple(roots)
        self._tops = sorted(((_real(root.path), root) for root in roots), key=lambda each: -len(each[0]))
        self._base = _spelled(base)
        self._home = home
        closed = (place for path in forbidden for place in (_spelled(path), _real(path)))
        self.forbidden = tuple(dict.fromkeys((*PSEUDO_FILE_SYSTEMS, *closed)))
        self._plain = {above for top, _ in self._tops for above in _upwards(top)}
        named = (self._base, *(_spelled(root.path) for root in roots))
        self._passage = self._plain | {above for path in named for above in _upwards(path)}

    def find(self, spelled: str) -> Place:
        """Resolve this name. Raises ToolRefused for places that are outside or forbidden, ToolFailed for invalid names.

        Also succeeds for a name that does not exist, if its place is within a root.
        """
        name = resolve_spelling(spelled, self._home)
        path = self._resolve(spelled, name if name.startswith("/") else f"{self._base}/{name}")
        found = self._top_of(path)
        if found is None:
            raise self._outside(spelled)
        top, root = found
        place = Place(spelled, root, top, tuple(path[len(top) + 1 :].split("/")) if len(path) > len(top) + 1 else ())
        if name.endswith("/") and Path(path).exists() and not Path(path).is_dir():
            raise InvalidCall(f"{spelled} ends with a slash, but it is no folder.")
        return place

    def is_forbidden(self, path: str) -> bool:
        """Return whether this real path is forbidden."""
        return is_beneath(self.forbidden, path)

    def holds_secrets(self, path: str) -> bool:
        """Return whether a file of this name usually holds keys or passwords."""
        return self.secret is not None and self.secret.fullmatch(path.rpartition("/")[2]) is not None

    def check_shown(self, place: Place) -> None:
        """Raise ToolRefused if this file's content must not be shown."""
        if self.holds_secrets(place.path):
            why = "usually holds keys or passwords, so it is closed to the file tools"
            raise ToolRefused(f"{place.spelled} {why}. To read it, name it: the owner is asked.")

    def is_forbidden_file(self, found: os.stat_result) -> bool:
        """Return whether this file is another name (hard link) of a forbidden one."""
        return found.st_nlink > 1 and (found.st_dev, found.st_ino) in files_of(self.forbidden)

    @contextmanager
    def folder(self, place: Place, parts: Sequence[str] | None = None) -> Iterator[int]:
        """Open the folder that contains the place, for operations by name.

        `parts` is another folder beneath the same root. Raises TreeChanged if the tree has changed, and OSErrors.
        """
        top = open_root(place.top)
        try:
            descriptor = open_folder(top, place.parts[:-1] if parts is None else parts)
        finally:
            os.close(top)
        try:
            now = real_path(descriptor)
            if now is not None and (not _within(now, place.top) or self.is_forbidden(now)):
                raise TreeChanged
            yield descriptor
        finally:
            os.close(descriptor)

    def open_file(self, spelled: str, *, secrets: bool = False) -> tuple[int, os.stat_result, Place]:
        """Open a regular file for reading. Raises ToolFailed, ToolRefused; devices and pipes are not opened.

        With `secrets`, any name is accepted, because the content is not shown to anyone.
        """
        return self.with_retries(spelled, partial(self._open_file, secrets=secrets))

    def open_listing(self, spelled: str) -> tuple[int, Place]:
        """Open a folder for listing. Raises ToolFailed, ToolRefused."""
        return self.with_retries(spelled, self._open_listing)

    def look(self, spelled: str) -> tuple[os.stat_result | None, Place]:
        """Return the status of a name without opening it; None if nothing exists. Raises ToolFailed, ToolRefused."""
        return self.with_retries(spelled, self._look)

    def with_retries(self, spelled: str, act: Callable[[Place], T]) -> T:
        """Call `act` with the resolved place, again if the tree changed meanwhile. System errors become ToolFailed."""
        for _ in range(_TRIES):
            place = self.find(spelled)
            try:
                return act(place)
            except TreeChanged:
                continue
            except FileNotFoundError as error:
                raise self.missing(place) from error
            except OSError as error:
                if error.errno not in _CHANGED:
                    raise ToolFailed(f"{spelled}: {error.strerror or error}.") from error
        raise ToolFailed(f"{spelled} is being changed by somebody right now; try again.")

    def line(self) -> str:
        """Return one line that describes the roots."""
        parts = []
        for top, root in sorted(self._tops, key=lambda each: self.roots.index(each[1])):
            start = "; relative names start here" if top == _real(Path(self._base)) else ""
            parts.append(f"{root.name} {root.path} ({'read and write' if root.writable else 'read only'}{start})")
        return f"Tools may see: {', '.join(parts) or 'nothing'}."

    def missing(self, place: Place) -> ToolFailed:
        """Return the error for a nonexistent name, with the most similar existing names."""
        said = f"There is no {place.spelled}."
        if not place.spelled.startswith(("/", "~", "file:")) and ".." not in place.spelled:
            elsewhere = (f"{top}/{place.spelled}" for top, _ in self._tops)
            there = [path for path in elsewhere if not self.is_forbidden(path) and Path(path).exists()]
            said += f" There is {' and '.join(there)}." if there else ""
        for n in range(len(place.parts) - 1, -1, -1):
            with suppress(OSError, TreeChanged), self.folder(place, place.parts[:n]) as folder:
                listing = os.open(".", _LIST, dir_fd=folder)
                try:
                    above = "/".join((place.top, *place.parts[:n])) or "/"
                    return ToolFailed(f"{said} {nearest_names(above, place.parts[n], os.listdir(listing))}")  # noqa: PTH208
                finally:
                    os.close(listing)
        return InvalidCall(f"{said} {self.line()}")

    def _open_file(self, place: Place, *, secrets: bool = False) -> tuple[int, os.stat_result, Place]:
        if not secrets:
            self.check_shown(place)
        if not place.parts:
            raise InvalidCall(f"{place.spelled} is a folder, not a file.")
        with self.folder(place) as folder:
            seen = os.stat(place.name, dir_fd=folder, follow_symlinks=False)
            _check_plain(seen, place)
            tells = sys.platform == "linux" and real_path(folder) is not None
            descriptor = os.open(place.name, _READ, dir_fd=folder)
            try:
                found = os.fstat(descriptor)
                if (found.st_dev, found.st_ino) != (seen.st_dev, seen.st_ino):
                    raise TreeChanged
                await_removal(folder)  # while a hard link is removed, it no longer counts and still has its name
                if tells and real_path(descriptor) != place.path:  # a removed one shows the remaining name
                    raise TreeChanged
                if self.is_forbidden_file(seen) or self.is_forbidden_file(found):
                    raise ToolRefused(f"{place.spelled} is another name of a file that is closed to tools.")
            except BaseException:
                os.close(descriptor)
                raise
        return descriptor, found, place

    def _open_listing(self, place: Place) -> tuple[int, Place]:
        if place.parts:
            with self.folder(place) as folder:
                found = os.stat(place.name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(found.st_mode):
                raise InvalidCall(f"{place.spelled} is a file, not a folder.")
        with self.folder(place, place.parts) as folder:
            return os.open(".", _LIST, dir_fd=folder), place

    def _look(self, place: Place) -> tuple[os.stat_result | None, Place]:
        try:
            if not place.parts:
                with self.folder(place, ()) as top:
                    return os.fstat(top), place
            with self.folder(place) as folder:
                found = os.stat(place.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None, place
        if stat.S_ISLNK(found.st_mode):
            raise TreeChanged
        return found, place

    def _resolve(self, spelled: str, path: str) -> str:
        """Resolve to the real path. Links are followed manually, only within the roots and on the way to them."""
        todo = path.split("/")[::-1]
        here: list[str] = []
        links, missing = 0, False
        while todo:
            part = todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                if missing:
                    raise InvalidCall(f"{spelled} goes up from a folder that is not there.")
                del here[-1:]
                continue
            way = "/".join(("", *here, part))
            if way not in self._passage and self._top_of(way) is None:
                raise self._outside(spelled)
            if self.is_forbidden(way):
                raise ToolRefused(f"{spelled} is closed to tools, always.")
            try:
                target = None if missing or way in self._plain else _target(way)
            except FileNotFoundError:
                same = same_name("/".join(("", *here)), part)
                if same is not None:
                    todo.append(same)
                    continue
                target, missing = None, True
            except OSError as error:
                through = " goes through a file as if it were a folder" if error.errno == errno.ENOTDIR else ""
                raise ToolFailed(f"{spelled}{through or f': {error.strerror}'}.") from error
            if target is None:
                here.append(part)
                continue
            links += 1
            if links > _MAX_LINKS:
                raise ToolFailed(f"{spelled} goes in circles: its links lead to one another.")
            todo += target.split("/")[::-1]
            here = [] if target.startswith("/") else here
        return "/".join(("", *here)) if here else "/"

    def _top_of(self, path: str) -> tuple[str, Root] | None:
        return next((each for each in self._tops if _within(path, each[0])), None)

    def _outside(self, spelled: str) -> ToolRefused:
        return ToolRefused(f"{spelled} lies outside of what tools may see. {self.line()}")


def _check_plain(found: os.stat_result, place: Place) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    if stat.S_ISLNK(found.st_mode):
        raise TreeChanged
    if stat.S_ISDIR(found.st_mode):
        raise InvalidCall(f"{place.spelled} is a folder, not a file.")
    raise ToolRefused(f"{place.spelled} is no plain file but a device, a pipe or a socket.")


def _target(path: str) -> str | None:
    """Return the target of a link, or None if it is not a link."""
    try:
        return os.readlink(path)  # noqa: PTH115  # hot: a Path costs more than the call
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _within(path: str, top: str) -> bool:
    return is_beneath((top,), path)


def _spelled(path: Path) -> str:
    return os.path.normpath(path.absolute())


def _real(path: Path) -> str:
    return os.path.realpath(path).rstrip("/")


def _upwards(path: str) -> list[str]:
    """Yield the path and all of its parents."""
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(2, len(parts) + 1)]
