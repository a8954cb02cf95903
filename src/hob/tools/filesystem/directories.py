"""Safe opening of folders by path: no symbolic link is followed, even if the tree is changed concurrently.

Linux has a system call for it, openat2 (https://man7.org/linux/man-pages/man2/openat2.2.html, since 5.6). Elsewhere, or
if a container's filter refuses that call, the path is walked one name at a time without following links.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

_OPENAT2 = 437  # the same on every Linux architecture that Python supports, except Alpha
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08

FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
"""Flags that open a folder as a starting point. To list or sync it, open `.` in it."""

OpenFolder = Callable[[int, Sequence[str]], int]


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_root(path: str) -> int:
    """Open the folder at this absolute path, which must not contain links. Raises OSError."""
    top = os.open("/", FOLDER)
    try:
        return open_folder(top, [part for part in path.split("/") if part])
    finally:
        os.close(top)


def open_folder(root: int, parts: Sequence[str]) -> int:
    """Open the folder at this path beneath `root`. Raises OSError: ELOOP and ENOTDIR for links.

    A part that is `..` or contains a slash is refused with EINVAL.
    """
    if any(part in ("", ".", "..") or "/" in part for part in parts):
        raise OSError(errno.EINVAL, "a part of a way is one plain name")
    return (_by_kernel() or walk)(root, parts)


def walk(root: int, parts: Sequence[str]) -> int:
    """Implement `open_folder` where the kernel has no system call for it."""
    here = os.dup(root)
    for part in parts:
        try:
            below = os.open(part, FOLDER, dir_fd=here)
        finally:
            os.close(here)
        here = below
    return here


@cache
def _by_kernel() -> OpenFolder | None:
    if not sys.platform.startswith("linux"):
        return None
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    syscall.argtypes = (
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.POINTER(_OpenHow),
        ctypes.c_size_t,
    )
    how = _OpenHow(FOLDER, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS)

    def by_kernel(root: int, parts: Sequence[str]) -> int:
        way = "/".join(parts) or "."
        if len(encoded := os.fsencode(way)) >= 4096 or b"\0" in encoded:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), way)
        found = int(syscall(_OPENAT2, root, encoded, ctypes.byref(how), ctypes.sizeof(how)))
        if found < 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), way)
        return found

    try:
        top = os.open("/", FOLDER)
        try:
            os.close(by_kernel(top, ()))
        finally:
            os.close(top)
    except OSError:
        return None
    return by_kernel


def real_path(descriptor: int) -> str | None:
    """Return the kernel's current path of a descriptor; None if it is unknown or deleted."""
    if sys.platform == "darwin":
        import fcntl  # F_GETPATH exists only here

        with suppress(OSError):
            return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, b"\0" * 1024).rstrip(b"\0"))
        return None
    try:
        path = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115  # hot: a Path costs more than the call
    except OSError:
        return None
    return path if path.startswith("/") and not (path.endswith(" (deleted)") and not Path(path).exists()) else None


def await_removal(folder: int) -> None:
    """Return once the removal of an entry of this folder that is under way is over: the kernel lists it under the same
    lock.
    """
    listing = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        with os.scandir(listing) as entries:
            next(entries, None)
    finally:
        os.close(listing)
