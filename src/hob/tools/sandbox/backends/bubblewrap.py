"""bubblewrap: commands in namespaces of their own, on a root that contains only what they are given.

https://github.com/containers/bubblewrap. The order of its arguments matters: later mounts cover earlier ones.
"""

import os
import resource
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from shlex import quote
from typing import ClassVar

from hob.core.values import dataclass
from hob.tools.sandbox import places
from hob.tools.sandbox.environment_variables import USER, proxy_environ
from hob.tools.sandbox.job import JobRoot, Limits, SandboxJob
from hob.tools.sandbox.launcher.cgroups import ControlGroups
from hob.tools.sandbox.launcher.launcher import Launch, pipe_between
from hob.tools.sandbox.launcher.namespaces import NamespaceReport, NamespaceTree, NetworkAccess
from hob.tools.sandbox.launcher.seccomp import FilterRules, compile_filter, find_architecture
from hob.tools.sandbox.network.bridge import PORT
from hob.tools.sandbox.network.hosts import HostDecisionCallback, HostRules
from hob.tools.sandbox.network.interception import CA_FILE, Interception
from hob.tools.sandbox.network.proxy import INTERNET, Internet, Proxy
from hob.tools.sandbox.roots import check_job, effective_roots, open_place, open_protected_mounts
from hob.tools.sandbox.sandbox_environment import SandboxEnvironment, cache_links, empty_file, git_config

# Two shell scripts wrap a command, because resource limits are set by a shell that then becomes the command. They are
# set outside the sandbox, where the command's own variables are not visible, except for the number of processes: since
# 5.14 Linux counts these per user namespace, so that limit is set inside.

_SHELL = "/bin/sh"


def limit_prefix(limits: Limits, alive: int, groups: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the command prefix that applies the limits and enters the control groups (paths of `cgroup.procs`).

    A watcher in its process group kills the whole group when `alive`, the end of a pipe held by Hob, closes. This also
    works while the sandbox is being set up and nothing else ties it to Hob's life.
    """
    lines = [f"(read -r _ </proc/self/fd/{alive}; kill -9 -$$) </dev/null >/dev/null 2>&1 &"]
    lines += [f"echo 0 > {quote(group)} || exit 125" for group in groups]
    lines += [
        "ulimit -c 0",
        f"ulimit -d {_within_hard_limit(resource.RLIMIT_DATA, limits.memory) // 1024}",
        f"ulimit -t {_within_hard_limit(resource.RLIMIT_CPU, limits.cpu_seconds)}",
        f"ulimit -f {_within_hard_limit(resource.RLIMIT_FSIZE, limits.file) // 512}",
        f"ulimit -n {_within_hard_limit(resource.RLIMIT_NOFILE, limits.open_files)}",
        "{ echo 800 > /proc/$$/oom_score_adj; } 2>/dev/null",  # if memory runs out, the command is killed before Hob
        'exec "$@"',
    ]
    return (_SHELL, "-c", "\n".join(lines), "sh")


def limit_prefix_inside(limits: Limits) -> tuple[str, ...]:
    """Return the command prefix that applies limits within its user namespace.

    Empty if the kernel counts differently: before 5.14 it counts all processes of the user, and root's processes are
    not counted at all.
    """
    if os.geteuid() == 0 or _kernel() < (5, 14):
        return ()
    count = _within_hard_limit(resource.RLIMIT_NPROC, limits.processes)
    return (_SHELL, "-c", f'ulimit -u {count} 2>/dev/null || ulimit -p {count}\nexec "$@"', "sh")


def _within_hard_limit(kind: int, wanted: int) -> int:
    """Return the wanted limit, or Hob's own hard limit if that is lower."""
    _, hard = resource.getrlimit(kind)
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _kernel() -> tuple[int, int]:
    major, minor, *_ = os.uname().release.split(".")
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)


HOME = Path("/home") / USER
_CACHES = HOME / ".caches"
_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--hostname", "sandbox", "--new-session", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"),
)
_SETSID = "/usr/bin/setsid"


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Runs commands in namespaces. `program` is bwrap; `options` are its options that older versions lack."""

    name: ClassVar[str] = "bubblewrap"
    is_sandbox: ClassVar[bool] = True
    filters_network: ClassVar[bool] = True
    hides_files: ClassVar[bool] = True

    program: str
    options: frozenset[str]
    sandbox_environment: SandboxEnvironment
    groups: ControlGroups | None = None
    internet: Internet = INTERNET

    def write_files(self) -> None:
        """Write the /etc that commands see. Raises OSError."""
        around = self.sandbox_environment
        written = {
            "passwd": places.passwd_file(USER, _uid(), _gid(), HOME),
            "group": places.group_file(USER, _gid()),
            "hosts": places.HOSTS,
            "nsswitch.conf": places.NSSWITCH,
            "resolv.conf": "",
            "gitconfig": git_config(around.git_name, around.git_email),
        }
        places.write_etc(around.state / "etc", written)

    @property
    def protects_files(self) -> bool:
        return self._pins

    @property
    def _pins(self) -> bool:
        """Whether folders are mounted from open descriptors. If mounted by path, as in older versions, they could be
        replaced by a link that a concurrent command creates.
        """
        return "--bind-fd" in self.options

    def prepare(self, job: SandboxJob, decided: HostDecisionCallback, before: ExitStack, after: ExitStack) -> Launch:
        """Implement `Backend.prepare`. Raises NotConfigured or ToolFailed."""
        check_job(job, self.sandbox_environment.forbidden)
        seen = Interception(job.credentials, self.internet.trust) if job.hosts and job.credentials else None
        proxy = Proxy(HostRules(job.hosts), decided, self.internet, seen)
        way = NetworkAccess(proxy, *pipe_between(before, after)) if job.hosts else None
        status, told = os.pipe()
        os.set_blocking(status, False)
        after.callback(os.close, status)
        before.callback(os.close, told)
        after.enter_context(places.devices_restored())
        processes = NamespaceTree(NamespaceReport(status), way)
        after.callback(processes.close)
        fds = Descriptors(before)
        arguments = [*_NAMESPACES, "--json-status-fd", fds.share(told), *self._optional("--disable-userns")]
        alive, _ = pipe_between(before, after)
        arguments += ["--sync-fd", fds.share(alive), *self._identity(fds)]
        if way is not None:
            arguments += ["--block-fd", fds.share(way.waits)]
        for name, value in {**self._environ(job), **(seen.environ if seen is not None else {})}.items():
            arguments += ["--setenv", name, value]
        arguments += self._system_mounts(fds)
        if seen is not None:
            arguments += ["--ro-bind-data", fds.data(seen.bundle), CA_FILE]
        arguments += self._user_mounts(job, fds)
        arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(job.folder)]
        # passed by descriptor, because the command could read arguments in /proc/1/cmdline
        unseen = ("--args", fds.data(b"".join(os.fsencode(word) + b"\0" for word in arguments)), "--")
        limits = self.sandbox_environment.limits
        return Launch(
            (
                *limit_prefix(limits, alive, self._group(after)),
                self.program,
                *unseen,
                *limit_prefix_inside(limits),
                *_terminal(job),
                *job.argv,
            ),
            {"PATH": "/usr/bin:/bin"},
            tuple(fds.shared),
            processes,
        )

    def _group(self, after: ExitStack) -> tuple[str, ...]:
        if self.groups is None:
            return ()
        try:
            return after.enter_context(self.groups.create(self.sandbox_environment.limits))
        except OSError:  # each process still has limits of its own
            return ()

    def _optional(self, option: str, *values: str) -> tuple[str, ...]:
        return (option, *values) if option in self.options else ()

    def _identity(self, fds: "Descriptors") -> Iterator[str]:
        yield from ("--uid", str(_uid()), "--gid", str(_gid()))
        machine = find_architecture()
        if machine is not None:
            yield from ("--seccomp", fds.data(compile_filter(FilterRules(), machine)))

    def _environ(self, job: SandboxJob) -> dict[str, str]:
        own = self.sandbox_environment.environ_of(job, HOME)
        if job.window is not None and own["TERM"] == "dumb":
            own["TERM"] = "xterm-256color"
        return own | (proxy_environ(PORT) if job.hosts else {})

    def _system_mounts(self, fds: "Descriptors") -> Iterator[str]:
        """Yield mounts of programs, part of /etc, devices and scratch space."""
        for target, link in places.system_links():
            yield from ("--symlink", target, link)
        for place in places.system_binds():
            yield from ("--ro-bind", place, place)
        yield from ("--ro-bind", str(self.sandbox_environment.state / "etc"), "/etc")
        yield from self._kernel_mounts()
        for place in ("/dev/shm", "/tmp", "/run"):  # noqa: S108 - its own, not the machine's
            yield from self._scratch(place, "1777")
        yield from ("--symlink", "../tmp", "/var/tmp", "--symlink", "../run", "/var/run")  # noqa: S108

    def _scratch(self, place: str, permissions: str) -> Iterator[str]:
        yield from self._optional("--size", str(self.sandbox_environment.limits.scratch))
        yield from (*self._optional("--perms", permissions), "--tmpfs", place)

    def _kernel_mounts(self) -> Iterator[str]:
        """Yield mounts of /proc and /dev."""
        yield from ("--proc", "/proc", "--dev", "/dev")
        for place in places.kernel_read_only():
            yield from ("--ro-bind", place, place)
        for place in places.kernel_hidden():
            yield from ("--ro-bind", "/dev/null", place)

    def _user_mounts(self, job: SandboxJob, fds: "Descriptors") -> Iterator[str]:
        """Yield mounts of a home, the toolchains, the roots, and what is protected in them."""
        around = self.sandbox_environment
        yield from self._scratch(str(HOME), "0700")
        yield from self._bind(JobRoot(around.caches, job.keeps_downloads), fds, _CACHES)
        for name, place in cache_links(job.keeps_downloads):
            yield from ("--symlink", str(_CACHES / name), str(HOME / place))
        for folder in around.tools.folders:
            yield from self._bind(JobRoot(folder), fds)
        for root in effective_roots(job):
            yield from self._bind(root, fds)
            if root.writable:
                yield from self._protect(root, fds)
        for path in job.hidden:
            yield from ("--ro-bind", str(empty_file(around.state)), str(path))

    def _bind(self, root: JobRoot, fds: "Descriptors", at: Path | None = None) -> tuple[str, ...]:
        return self._mount(root, fds.place(root.path), fds, at or root.path)

    def _mount(self, root: JobRoot, place: int, fds: "Descriptors", at: Path) -> tuple[str, ...]:
        kind = "--bind" if root.writable else "--ro-bind"
        if self._pins:
            return (f"{kind}-fd", fds.share(place), str(at))
        return (kind, str(root.path), str(at))

    def _protect(self, root: JobRoot, fds: "Descriptors") -> Iterator[str]:
        """Yield mounts that protect files, and the folders they are in."""
        for wall in open_protected_mounts(fds.place(root.path), self.sandbox_environment.protected, fds.keep):
            path = root.path / wall.name
            yield from self._mount(JobRoot(path, wall.writable), wall.place, fds, path)


class Descriptors:
    """Descriptors passed to bwrap, which consumes each of them, so that none remains for the command."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.shared: list[int] = []

    def share(self, fd: int) -> str:
        """Pass on a descriptor. Returns its number as an argument."""
        self.shared.append(fd)
        return str(fd)

    def data(self, content: bytes) -> str:
        """Pass on a file with this content."""
        fd = os.memfd_create("hob", os.MFD_CLOEXEC)
        self.keep(fd)
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        return self.share(fd)

    def place(self, path: Path) -> int:
        """Open a folder. Raises ToolFailed."""
        return self.keep(open_place(path))

    def keep(self, fd: int) -> int:
        """Close the descriptor once bwrap has started."""
        self._stack.callback(os.close, fd)
        return fd


def _terminal(job: SandboxJob) -> tuple[str, ...]:
    """Return the command prefix that makes the terminal the command's own, so that keys can interrupt it."""
    return (_SETSID, "-c") if job.window is not None and os.access(_SETSID, os.X_OK) else ()


def _uid() -> int:
    return os.getuid() or 1000


def _gid() -> int:
    return os.getgid() or 1000
