"""File watching on Linux (inotify: https://man7.org/linux/man-pages/man7/inotify.7.html).

Idle while nothing changes. If a folder cannot be watched, the reason is reported, and the folder is checked after
turns.
"""

import asyncio
import errno
import os
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hob.core.clock import Clock
from hob.core.translation.language import translatable

QUIET_SECONDS = 1.5
"""Quiet period after which changes are reported."""
_MAX_WAITS = 4
"""Maximum quiet periods to wait for while changes continue."""
_MAX_FOLDERS = 4_096
"""Maximum watched folders; each takes about a kilobyte of kernel memory."""
_EVENT = struct.Struct("iIII")
_MOVED, _CREATE, _DELETE, _CLOSED, _SELF_GONE = 0xC0, 0x100, 0x200, 0x8, 0xC00
_LOST, _ENDED, _IS_FOLDER = 0x4000, 0x8000, 0x4000_0000
_ONLY_FOLDERS = 0x100_0000
_MASK = _MOVED | _CREATE | _DELETE | _CLOSED | _SELF_GONE | _ONLY_FOLDERS
_READ = 65_536


class FolderWatch:
    """Watches files and folders while `opened`."""

    def __init__(self) -> None:
        self._descriptor = -1
        self._add: Callable[[int, bytes, int], int]
        self._remove: Callable[[int, int], int]
        self._watched: dict[Path, Mapping[int, bytes]] = {}
        """For each watched path, the kernel's number of each folder and the file endings that count there."""
        self._why: dict[Path, str] = {}
        self._unable = ""
        self._changed: set[Path] = set()
        self._news = asyncio.Event()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Receive changes while the block is open; none if the system does not support it."""
        self._unable = self._open()
        if self._unable:
            yield
            return
        loop = asyncio.get_running_loop()
        loop.add_reader(self._descriptor, self._on_readable)
        try:
            yield
        finally:
            loop.remove_reader(self._descriptor)
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)
            self._watched.clear()

    def _open(self) -> str:
        """Start watching; return why it is not possible, or an empty text."""
        if sys.platform != "linux":
            return translatable("this system does not tell of changes")
        import ctypes  # only in the daemon

        library = ctypes.CDLL(None, use_errno=True)
        self._add, self._remove = library.inotify_add_watch, library.inotify_rm_watch
        self._descriptor = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        return (
            translatable("the system watches no more (fs.inotify.max_user_instances)") if self._descriptor < 0 else ""
        )

    def why_not(self, path: Path) -> str:
        """Return why changes there are not noticed, or not all; empty if they are."""
        return self._unable or self._why.get(path, "")

    def cover(self, path: Path, ending: str = "", *, below: bool = True) -> None:
        """Start watching a file, or a folder and its subfolders except hidden ones and links.

        Call again after folders were added or removed. With `ending`, only matching names count. Blocks: run it in a
        thread.
        """
        if self._descriptor < 0:
            return
        folder = path.is_dir()
        counts = os.fsencode(ending if folder else f"/{path.name}")
        room = _MAX_FOLDERS - sum(len(each) for other, each in self._watched.items() if other != path)
        found: dict[int, bytes] = {}
        why = ""
        for each in _folders(path, below=below) if folder else (path.parent,):
            if len(found) >= room:
                maximum = f"{_MAX_FOLDERS:,}"
                why = translatable("only the first {maximum} folders are watched", maximum=maximum)
                break
            number = self._add(self._descriptor, os.fsencode(each), _MASK)
            if number >= 0:
                found[number] = counts
            elif _is_full():
                why = translatable("the system watches no more folders (fs.inotify.max_user_watches)")
                break
        self._why[path] = why
        before = self._watched.get(path, {})
        self._watched[path] = found
        self._let_go(before)

    def leave(self, path: Path) -> None:
        """Stop watching a path."""
        self._why.pop(path, None)
        self._let_go(self._watched.pop(path, {}))

    async def changes(self, clock: Clock) -> set[Path]:
        """Yield covered paths that have changed, once they are quiet."""
        await self._news.wait()
        for _ in range(_MAX_WAITS):
            self._news.clear()
            await clock.sleep(QUIET_SECONDS)
            if not self._news.is_set():
                break
        changed, self._changed = self._changed, set()
        return changed

    def _let_go(self, numbers: Mapping[int, bytes]) -> None:
        kept = set().union(*self._watched.values())
        for number in numbers.keys() - kept:
            self._remove(self._descriptor, number)

    def _on_readable(self) -> None:
        try:
            told = os.read(self._descriptor, _READ)
        except BlockingIOError:
            return
        at = 0
        while at < len(told):
            number, mask, _, length = _EVENT.unpack_from(told, at)
            at += _EVENT.size + length
            name = told[at - length : at].rstrip(b"\0")
            if mask & _ENDED or name.startswith(b"."):
                continue
            for path, numbers in tuple(self._watched.items()):
                if mask & _LOST or (number in numbers and _counts(name, mask, numbers[number])):
                    self._changed.add(path)
        if self._changed:
            self._news.set()


def _counts(name: bytes, mask: int, ending: bytes) -> bool:
    return not name or mask & _IS_FOLDER != 0 or (b"/" + name).endswith(ending)


def _folders(path: Path, *, below: bool) -> Iterator[str]:
    for folder, inner, _ in os.walk(path):
        inner[:] = [name for name in inner if below and not name.startswith(".")]
        yield folder


def _is_full() -> bool:
    import ctypes

    return ctypes.get_errno() == errno.ENOSPC
