"""Landlock: commands may open only what is below their folders. Used if namespaces are unavailable.

https://docs.kernel.org/userspace-api/landlock.html. It is weaker than namespaces: commands can see which files exist,
though not read them, and nothing below a writable folder can be write-protected. Key files are unreadable: the folder
of such a file is granted without the right to read files, and every other file in it is granted individually. So a
command can write new files there, but only a later one can read them. A seccomp filter refuses all sockets, so there is
no network, and limits changes of modes and times to the command's own files.
"""

import ctypes
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

from hob.core.errors import ToolFailed
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.tools.sandbox.backends.plain import SupervisedBackend
from hob.tools.sandbox.job import SandboxJob
from hob.tools.sandbox.launcher.launcher import Launch
from hob.tools.sandbox.launcher.supervised import Confinement, supervise
from hob.tools.sandbox.places import PROGRAMS, SYSTEM_FOLDERS
from hob.tools.sandbox.roots import effective_roots, open_below, open_place
from hob.tools.sandbox.sandbox_environment import Scratch, git_config, make_scratch

_CREATE_RULESET, _VERSION = 444, 1
# include/uapi/linux/landlock.h; the comments give the interface version that introduced them
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
# remove and make everything but devices, which are 6 and 11
_CHANGE_NAMES = sum(1 << bit for bit in (4, 5, 7, 8, 9, 10, 12))
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15  # 2, 3, 5
_BIND_TCP, _CONNECT_TCP = 1, 2  # 4
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2  # 6

_READ = _EXECUTE | _READ_FILE | _READ_DIR
_CHANGE = _READ | _WRITE_FILE | _CHANGE_NAMES | _REFER | _TRUNCATE
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE

_ETC = (
    *("alternatives", "ca-certificates", "group", "host.conf", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
    *("localtime", "locale.alias", "locale.conf", "magic", "mime.types", "nsswitch.conf", "os-release", "passwd"),
    *("pki/ca-trust", "pki/tls/certs", "protocols", "python3", "services", "ssl/certs", "ssl/openssl.cnf", "terminfo"),
)
_KERNEL = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/sys", "/proc/filesystems")
_MAX_BESIDE = 400
"""Maximum number of files granted individually. Each is an open descriptor while the command is started, and a process
may have about a thousand.
"""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")


def landlock_version() -> int:
    """Return the kernel's Landlock interface version, or 0 if it has none."""
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _VERSION)))


@dataclass(frozen=True, slots=True)
class Landlock(SupervisedBackend):
    """Runs commands that can open only what they are given. `version` is the kernel's interface version."""

    name: ClassVar[str] = "landlock"
    protects_files: ClassVar[bool] = False
    hides_files: ClassVar[bool] = True
    network_refusal: ClassVar[str] = translatable(
        "Commands have no network here, since Landlock cannot limit it. Install bubblewrap."
    )

    version: int

    def launch(self, job: SandboxJob, before: ExitStack, after: ExitStack) -> Launch:
        around = self.sandbox_environment
        scratch = make_scratch(around.state, after)
        rules = tuple(self._rules(job, scratch, before))
        writable = [root.path for root in effective_roots(job) if root.writable]
        own = tuple(map(str, (*writable, scratch.home, scratch.temporary)))
        confinement = Confinement(handled_rights(self.version), rules, self.version >= 3, own)
        environ = around.environ_of(job, scratch.home)
        environ |= {"TMPDIR": str(scratch.temporary), "GIT_CONFIG_SYSTEM": str(around.state / "gitconfig")}
        return supervise(job, around.limits, environ, before, after, confinement)

    def write_files(self) -> None:
        """Write the git configuration that commands see. Raises OSError."""
        around = self.sandbox_environment
        (around.state / "gitconfig").write_text(git_config(around.git_name, around.git_email), "utf-8")

    def _rules(self, job: SandboxJob, scratch: Scratch, before: ExitStack) -> Iterator[tuple[int, int]]:
        """Yield open places and the rights granted below them."""
        around = self.sandbox_environment
        given = [(root.path, _CHANGE if root.writable else _READ) for root in effective_roots(job)]
        given += [(scratch.home, _CHANGE), (scratch.temporary, _CHANGE), (around.state / "gitconfig", _READ)]
        given += [(folder, _READ) for folder in around.tools.folders]
        for path, access in given:
            hidden = [file.relative_to(path).parts for file in job.hidden if file.is_relative_to(path)]
            yield from self._around(open_place(path), access, hidden, before)
        system = [(name, _READ) for name in (*PROGRAMS, *SYSTEM_FOLDERS, *_KERNEL, *(f"/etc/{name}" for name in _ETC))]
        system += [(name, _READ | _WRITE_FILE | _IOCTL_DEVICE) for name in _DEVICES]
        for name, access in system:
            if Path(name).exists():
                yield self._rule(os.open(name, os.O_PATH | os.O_CLOEXEC), access, before)

    def _around(
        self, place: int, access: int, hidden: Sequence[tuple[str, ...]], before: ExitStack
    ) -> Iterator[tuple[int, int]]:
        """Yield rules for an open place and everything below except hidden files. Raises ToolFailed if there are too
        many.
        """
        yield self._rule(place, access & ~_READ_FILE if hidden else access, before)
        if not hidden:
            return
        names = [each.name for each in Path(f"/proc/self/fd/{place}").iterdir()]
        if len(names) > _MAX_BESIDE:
            raise ToolFailed(
                f"{'/'.join(hidden[0])} holds keys and lies beside more than {_MAX_BESIDE} files, from which Landlock"
                " cannot tell it apart. Name it in the command to ask the owner for it, or move it into a folder."
            )
        for name in names:
            below = None if (name,) in hidden else open_below(place, name)
            if below is not None:
                deeper = [parts[1:] for parts in hidden if parts[0] == name]
                yield from self._around(below, access, deeper, before)

    def _rule(self, place: int, access: int, before: ExitStack) -> tuple[int, int]:
        before.callback(os.close, place)
        kinds = access if stat.S_ISDIR(os.fstat(place).st_mode) else access & _OF_FILES
        return place, kinds & handled_rights(self.version)[0]


def handled_rights(version: int) -> tuple[int, int, int]:
    """Return all rights known to this version, for files, network and outside processes. Commands have only the rights
    that a rule grants.
    """
    files = (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1
    network = _BIND_TCP | _CONNECT_TCP if version >= 4 else 0
    scopes = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if version >= 6 else 0
    return files, network, scopes
