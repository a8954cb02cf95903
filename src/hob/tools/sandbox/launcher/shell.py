"""The two shell scripts around a command: limits that the kernel keeps are set by the shell that becomes the command.

They are set outside of the sandbox, where the command's own variables are not seen, but for the number of processes:
Linux counts those per user namespace since 5.14, so that limit is set inside of it.
"""

import os
import resource
from collections.abc import Sequence
from shlex import quote

from hob.tools.sandbox.job import Limits

_SHELL = "/bin/sh"


def limited(limits: Limits, alive: int, groups: Sequence[str] = ()) -> tuple[str, ...]:
    """What stands before a program so that it runs within limits, and in these control groups (`cgroup.procs`).

    A watcher in its process group ends the whole group with the descriptor `alive`, the end of a pipe of Hob's: also
    while the sandbox is still being made, when nothing else binds it to Hob's life.
    """
    lines = [f"(read -r _ </proc/self/fd/{alive}; kill -9 -$$) </dev/null >/dev/null 2>&1 &"]
    lines += [f"echo 0 > {quote(group)} || exit 125" for group in groups]
    lines += [
        "ulimit -c 0",
        f"ulimit -d {_capped(resource.RLIMIT_DATA, limits.memory) // 1024}",
        f"ulimit -t {_capped(resource.RLIMIT_CPU, limits.cpu_seconds)}",
        f"ulimit -f {_capped(resource.RLIMIT_FSIZE, limits.file) // 512}",
        f"ulimit -n {_capped(resource.RLIMIT_NOFILE, limits.open_files)}",
        "{ echo 800 > /proc/$$/oom_score_adj; } 2>/dev/null",  # where memory is short, Hob is not the first to go
        'exec "$@"',
    ]
    return (_SHELL, "-c", "\n".join(lines), "sh")


def limited_inside(limits: Limits) -> tuple[str, ...]:
    """What stands before a command inside of its user namespace. Nothing where the kernel would not count as meant:
    before 5.14 it counts all the user's processes, and root's it never counts.
    """
    if os.geteuid() == 0 or _kernel() < (5, 14):
        return ()
    count = _capped(resource.RLIMIT_NPROC, limits.processes)
    return (_SHELL, "-c", f'ulimit -u {count} 2>/dev/null || ulimit -p {count}\nexec "$@"', "sh")


def _capped(kind: int, wanted: int) -> int:
    """As much as is wanted, or as Hob itself may have: a limit can only go down."""
    _, hard = resource.getrlimit(kind)
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _kernel() -> tuple[int, int]:
    major, minor, *_ = os.uname().release.split(".")
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)
