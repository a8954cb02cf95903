"""The launcher: a small process that confines a command with Landlock and seccomp and briefly outlives it.

It runs with Hob's modules only (see `isolated_python`) and reads its orders from a descriptor as JSON. It is the
subreaper of everything it starts: orphans become its children, so that it can kill them. It kills everything when the
command has ended, when told to (a byte on `alive`), and when Hob is gone (`alive` closes).
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from hob.tools.sandbox.launcher.seccomp import FilterRules, compile_filter, find_architecture
from hob.tools.sandbox.launcher.syscall_supervisor import SyscallSupervisor

_SET_SUBREAPER, _SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 36, 38, 22, 2
_MODE_FILTER, _NEW_LISTENER = 1, 8
_ADD_RULE, _RESTRICT_SELF, _CREATE_RULESET, _PATH_BENEATH = 445, 446, 444, 1
_FAILED, _NOT_FOUND = 126, 127
_LINUX = sys.platform == "linux"


def main() -> NoReturn:
    """Run the command described on the descriptor and exit with its status."""
    with os.fdopen(int(sys.argv[1]), "rb") as file:
        orders: dict[str, Any] = json.load(file)
    os.set_inheritable(orders["alive"], False)
    os.set_inheritable(orders["tell"], False)
    wakes = _wake_on_signals()
    if _LINUX:
        ctypes.CDLL(None).prctl(_SET_SUBREAPER, 1, 0, 0, 0)
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        _become_command(orders, theirs)
    theirs.close()
    _forget_streams()
    code = _watch(child, orders["alive"], wakes, _supervisor(ours, orders))
    _end_all(child)
    if orders["last"]:
        _run_last(orders["last"], orders["environ"])
    os.write(orders["tell"], json.dumps({"exit-code": code}).encode() + b"\n")
    os._exit(min(code, 255))


def _wake_on_signals() -> int:
    """Return a descriptor that becomes readable on signals. Its reader passes SIGTERM on."""
    reads, writes = os.pipe()
    for end in (reads, writes):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _ignore_signal)
    return reads


def _ignore_signal(*_: object) -> None:
    """Do nothing; waking up is enough."""


def _forget_streams() -> None:
    """Release the standard streams, so that only the command holds them and their ends are noticed."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)


def _supervisor(ours: socket.socket, orders: dict[str, Any]) -> SyscallSupervisor | None:
    """Return the supervisor of the command's seccomp filter, if it has one. The command waits until it is received."""
    _, listeners, _, _ = socket.recv_fds(ours, 1, 1)
    machine = find_architecture()
    return SyscallSupervisor(listeners[0], orders["writable"], machine) if listeners and machine is not None else None


def _watch(child: int, alive: int, wakes: int, supervisor: SyscallSupervisor | None) -> int:
    """Wait for the command to end and return its status, or 137 if it was killed on request."""
    poll = select.poll()
    poll.register(alive, select.POLLIN | select.POLLHUP)
    poll.register(wakes, select.POLLIN)
    if supervisor is not None:
        poll.register(supervisor.listener, select.POLLIN)
    while True:
        ready = dict(poll.poll())
        if supervisor is not None and supervisor.listener in ready:
            if ready[supervisor.listener] & select.POLLIN:
                supervisor.answer()
            else:  # no process is left that could ask
                poll.unregister(supervisor.listener)
        if alive in ready:
            return 128 + signal.SIGKILL
        with suppress(BlockingIOError):
            if signal.SIGTERM in os.read(wakes, 4096):
                for pid in _descendants(os.getpid()):
                    _signal(pid, signal.SIGTERM)
        while (ended := _reap()) is not None:
            pid, status = ended
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                return 128 - code if code < 0 else code


def _reap() -> tuple[int, int] | None:
    with suppress(ChildProcessError):
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            return pid, status
    return None


def _end_all(child: int) -> None:
    """Send SIGKILL until there is no child. Orphans become this process's children, so no descendant is left either."""
    until = time.monotonic() + 4
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        while time.monotonic() < until:
            for pid in _descendants(os.getpid()):
                _signal(pid, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(0.001)


def _run_last(argv: list[str], environ: dict[str, str]) -> None:
    with suppress(OSError):
        pid = os.posix_spawnp(argv[0], argv, environ)
        until = time.monotonic() + 20
        while time.monotonic() < until and os.waitpid(pid, os.WNOHANG)[0] == 0:
            time.sleep(0.01)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _descendants(root: int) -> list[int]:
    """Return all descendants of a process."""
    if not _LINUX:
        return []
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[1-9]*"):
        with suppress(OSError, IndexError):
            fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            if fields[0] != "Z":
                parents.setdefault(int(fields[1]), []).append(int(folder.name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _become_command(orders: dict[str, Any], way: socket.socket) -> NoReturn:
    """In the child: drop everything the command must not have, then become the command."""
    try:
        os.setsid()
        if orders["terminal"]:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(orders["folder"])
        _limit(orders)
        if _LINUX:
            _prctl(_SET_NO_NEW_PRIVILEGES, 1)
        if "handled" in orders:
            asking, refusing = _program(orders, supervised=True), _program(orders, supervised=False)
            _restrict(orders)
            _filter(asking, refusing, way)
        os.closerange(3, 65536)
        os.execvpe(orders["argv"][0], orders["argv"], orders["environ"])  # noqa: S606 - no shell is meant
    except OSError as error:
        os.write(2, f"{orders['argv'][0]}: {error.strerror}\n".encode())
        os._exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _FAILED)


def _limit(orders: dict[str, Any]) -> None:
    """Apply the limits, which can only be lowered."""
    for kind, amount in orders["limits"]:
        _, hard = resource.getrlimit(kind)
        amount = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        resource.setrlimit(kind, (amount, amount))
    if _LINUX and os.getuid() != 0:  # all processes of a user count together; root's do not count
        count = orders["processes"] + _threads_of_user()
        _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        count = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("800", "ascii")


def _threads_of_user() -> int:
    count = 0
    for folder in Path("/proc").glob("[1-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid == os.getuid():
                count += len(list((folder / "task").iterdir()))
    return count


def _restrict(orders: dict[str, Any]) -> None:
    """Apply Landlock: handle all rights the kernel knows, and grant some below open places."""
    libc = ctypes.CDLL(None, use_errno=True)
    files, network, scopes = orders["handled"]
    size = 24 if scopes else 16 if network else 8
    rights = ctypes.create_string_buffer(struct.pack("=QQQ", files, network, scopes), 24)
    ruleset = _checked(libc.syscall(_CREATE_RULESET, rights, ctypes.c_size_t(size), 0))
    for place, access in orders["rules"]:
        rule = ctypes.create_string_buffer(struct.pack("=Qi", access, place), 12)
        _checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
    _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0))


def _program(orders: dict[str, Any], *, supervised: bool) -> bytes:
    """Compile the filter while /proc is readable: no sockets, no signals to Hob, the launcher or their ancestors."""
    machine = find_architecture()
    if machine is None:
        raise OSError(errno.ENOSYS, "the sandbox knows no system call filter for this machine")
    spared = tuple(_ancestors(os.getpid()))
    rules = FilterRules(False, orders["truncates"], spared, metadata=False, supervised=supervised)
    return compile_filter(rules, machine)


def _filter(asking: bytes, refusing: bytes, way: socket.socket) -> None:
    """Install the asking filter and send its listener. If an outer filter already has a listener, install the other
    one.
    """
    machine = find_architecture()
    assert machine is not None  # noqa: S101 - the programs are for it
    call = ctypes.CDLL(None, use_errno=True).syscall
    with _as_filter(asking) as header:
        listener = call(machine.number("seccomp"), _MODE_FILTER, _NEW_LISTENER, ctypes.c_void_p(header))
    if listener >= 0:
        socket.send_fds(way, [b"\0"], [listener])
        return
    with _as_filter(refusing) as header:
        _prctl(_SET_SECCOMP, _FILTER, header)


@contextmanager
def _as_filter(program: bytes) -> Iterator[int]:
    """Yield the address of a `struct sock_fprog`."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer)))
    yield ctypes.addressof(header)


def _ancestors(pid: int) -> list[int]:
    found = []
    while (pid := int(Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])) > 1:
        found.append(pid)
    return found


def _prctl(option: int, *values: int) -> None:
    words = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _checked(ctypes.CDLL(None, use_errno=True).prctl(option, *words))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"the sandbox cannot be closed ({os.strerror(number)})")
    return result
