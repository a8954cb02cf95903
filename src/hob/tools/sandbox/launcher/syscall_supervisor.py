"""Changes of modes and times of a command's own files, performed by its launcher because Landlock cannot confine them.

Landlock does not control these calls (https://docs.kernel.org/userspace-api/landlock.html, current limitations). So the
filter stops each of them and asks the launcher, which is not confined
(https://man7.org/linux/man-pages/man2/seccomp_unotify.2.html). It opens the file, checks where it is, and changes the
opened file, so later changes to the names do not matter.
"""

import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from hob.tools.sandbox.launcher.seccomp import SET_IDS, SUPERVISED_CALLS, Architecture

# include/uapi/linux/seccomp.h: SECCOMP_IOCTL_NOTIF_RECV, _SEND and _ID_VALID, struct seccomp_notif and _resp
_RECEIVE, _SEND, _IS_VALID = 0xC050_2100, 0xC018_2101, 0x4008_2102
_NOTICE, _ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_CWD, _NOT_FOLLOWED = -100, 0x100  # AT_FDCWD, AT_SYMLINK_NOFOLLOW
_LONGEST_PATH, _TIMES = 4096, 32


class SyscallSupervisor:
    """Answers requests on the descriptor `listener`. Changes files below the `writable` folders only."""

    def __init__(self, listener: int, writable: Sequence[str], machine: Architecture) -> None:
        self.listener = listener
        self._writable = tuple(writable)
        self._names = {machine.number(name): name for name in SUPERVISED_CALLS if machine.number(name) >= 0}
        self._libc = ctypes.CDLL(None, use_errno=True)

    def answer(self) -> None:
        """Perform or refuse the next request; do nothing if the requester is gone."""
        notice = bytearray(_NOTICE.size)
        with suppress(OSError):
            fcntl.ioctl(self.listener, _RECEIVE, notice)
            asked, pid, _, number, _, _, *arguments = _NOTICE.unpack(notice)
            refused = self._act(ChildProcess(self.listener, asked, pid), self._names[number], arguments)
            fcntl.ioctl(self.listener, _SEND, _ANSWER.pack(asked, 0, -refused, 0))

    def _act(self, caller: "ChildProcess", name: str, arguments: Sequence[int]) -> int:
        try:
            with ExitStack() as opened:
                if name == "utimensat":
                    folder, path, times, flags, *_ = arguments
                    written = caller.memory(times, _TIMES) if times else None
                    self._set_times(self._place(caller.open(folder, path, flags, opened)), written)
                else:
                    folder, path, mode, flags = _of_mode(name, arguments)
                    self._set_mode(self._place(caller.open(folder, path, flags, opened)), mode)
        except OSError as error:
            return error.errno or errno.EPERM
        except (ValueError, OverflowError):
            return errno.EFAULT
        return 0

    def _place(self, file: int) -> str:
        """Return a name that refers to exactly this open file. Raises PermissionError if it is not the
        command's own.
        """
        name = f"/proc/self/fd/{file}"
        if not any(Path(name).readlink().is_relative_to(folder) for folder in self._writable):
            raise PermissionError(errno.EPERM, "not below a folder that the command may change")
        return name

    def _set_mode(self, place: str, mode: int) -> None:
        if mode & SET_IDS:
            raise PermissionError(errno.EPERM, "no program runs as its owner")
        os.chmod(place, mode & 0o1777)  # noqa: PTH101 - a descriptor's name

    def _set_times(self, place: str, times: bytes | None) -> None:
        if self._libc.utimensat(_CWD, place.encode(), times, 0) != 0:
            raise OSError(ctypes.get_errno(), "the times are not set")


class ChildProcess:
    """A process that waits for an answer."""

    def __init__(self, listener: int, asked: int, pid: int) -> None:
        self._listener = listener
        self._asked = asked
        self._process = f"/proc/{pid}"

    def memory(self, at: int, size: int) -> bytes:
        """Read the process's memory; less if it ends before `size`. Raises OSError, also if the process is gone."""
        file = os.open(f"{self._process}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            found = os.pread(file, size, at)
        finally:
            os.close(file)
        # otherwise the process number was reused
        fcntl.ioctl(self._listener, _IS_VALID, struct.pack("=Q", self._asked))
        return found

    def open(self, folder: int, path: int, flags: int, opened: ExitStack) -> int:
        """Open the file that the process means, relative to its own folder; without a path, a file that it has open."""
        base = _signed(folder)
        start = f"{self._process}/cwd" if base == _CWD else f"{self._process}/fd/{base}"
        name, end, _ = self.memory(path, _LONGEST_PATH).partition(b"\0") if path else (b"", b"\0", b"")
        if not end:
            raise OSError(errno.ENAMETOOLONG, "a path without an end")
        place = _keep(os.open(start, os.O_PATH | os.O_CLOEXEC), opened)
        if not name:
            return place
        followed = os.O_NOFOLLOW if flags & _NOT_FOLLOWED else 0
        return _keep(os.open(name, os.O_PATH | os.O_CLOEXEC | followed, dir_fd=place), opened)


def _of_mode(name: str, arguments: Sequence[int]) -> tuple[int, int, int, int]:
    """Return the folder, path, mode and flags."""
    first, second, third, fourth, *_ = arguments
    match name:
        case "chmod":
            return _CWD, first, second, 0
        case "fchmod":
            return first, 0, second, 0
        case "fchmodat":
            return first, second, third, 0
    return first, second, third, fourth


def _signed(number: int) -> int:
    """Interpret an argument as the kernel does an int."""
    low = number & 0xFFFF_FFFF
    return low - (1 << 32) if low >> 31 else low


def _keep(file: int, opened: ExitStack) -> int:
    opened.callback(os.close, file)
    return file
