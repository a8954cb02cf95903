"""Commands under Hob's launcher (`launch.py`), for backends without a namespace that ends with the command.

The launcher adopts the processes that the command leaves behind, and kills them with the command and when Hob is gone.
"""

import json
import os
import resource
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress

from hob.core.values import dataclass
from hob.tools.sandbox.job import Limits, SandboxJob
from hob.tools.sandbox.launcher.launcher import Launch, pipe_between
from hob.tools.sandbox.launcher.namespaces import NamespaceReport
from hob.tools.sandbox.network.bridge import isolated_python

_CODE = "import sys; sys.path.insert(0, sys.argv.pop(1)); from hob.tools.sandbox.launcher.launch import main; main()"


@dataclass(frozen=True, slots=True)
class Confinement:
    """Landlock orders: the rights to handle, and rules that grant some of them below open places.

    `truncates` says whether they include truncate(2). Modes and times may be changed below the `writable` folders.
    """

    handled: tuple[int, int, int]
    rules: tuple[tuple[int, int], ...]
    truncates: bool
    writable: tuple[str, ...]


class SupervisedTree:
    """Controls the launcher."""

    def __init__(self, told: NamespaceReport, life: int) -> None:
        self._told = told
        self._life = life

    async def started(self) -> None:
        """Do nothing, because the launcher needs no further setup."""

    def terminate(self, pid: int) -> None:
        """Send SIGTERM, which the launcher passes on."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)

    def kill(self, pid: int) -> None:
        """Tell the launcher to kill everything, then itself."""
        del pid
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._life, b"\0")

    def status(self, code: int) -> int | None:
        """Return the exit status that the launcher reported; None if the command did not start."""
        return self._told.status(code)


def supervise(
    job: SandboxJob,
    limits: Limits,
    environ: Mapping[str, str],
    before: ExitStack,
    after: ExitStack,
    confinement: Confinement | None = None,
    prefix: Sequence[str] = (),
    last: Sequence[str] = (),
) -> Launch:
    """Return the launch of this job's launcher.

    `prefix` is a program that confines the one after it; `last` is run at the end in any case.
    """
    alive, life = pipe_between(before, after)
    status, tell = os.pipe()
    os.set_blocking(life, False)
    os.set_blocking(status, False)
    before.callback(os.close, tell)
    after.callback(os.close, status)
    orders = {
        "argv": [*prefix, *job.argv],
        "environ": dict(environ),
        "folder": str(job.folder),
        "terminal": job.window is not None,
        "limits": [(resource.RLIMIT_CORE, 0), *_amounts(limits)],
        "processes": limits.processes,
        "last": list(last),
        "alive": alive,
        "tell": tell,
    }
    rules: tuple[tuple[int, int], ...] = ()
    if confinement is not None:
        rules = confinement.rules
        orders |= {"handled": confinement.handled, "rules": rules}
        orders |= {"truncates": confinement.truncates, "writable": confinement.writable}
    orders_file = before.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - a pipe holds no long command
    orders_file.write(json.dumps(orders).encode())
    orders_file.seek(0)
    fds = (alive, tell, orders_file.fileno(), *(place for place, _ in rules))
    return Launch(
        (*isolated_python(_CODE), str(orders_file.fileno())), {}, fds, SupervisedTree(NamespaceReport(status), life)
    )


def _amounts(limits: Limits) -> list[tuple[int, int]]:
    return [
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_NOFILE, limits.open_files),
    ]
