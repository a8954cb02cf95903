"""The interface of backends: a program to start for a job, and control over its processes."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from hob.core.values import dataclass
from hob.tools.sandbox.job import SandboxJob
from hob.tools.sandbox.network.hosts import HostDecisionCallback


class ProcessTree(Protocol):
    """Control over a command and everything that it started."""

    async def started(self) -> None:
        """Finish setting up once the program runs. Raises ToolFailed."""

    def terminate(self, pid: int) -> None:
        """Ask the command and its processes to end (SIGTERM)."""

    def kill(self, pid: int) -> None:
        """Kill all of its processes (SIGKILL)."""

    def status(self, code: int) -> int | None:
        """Return the command's exit status, given the program's; None if the command was never started."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A program to start in this folder, with exactly these variables and descriptors."""

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    fds: tuple[int, ...]
    processes: ProcessTree
    folder: Path = Path("/")


class Backend(Protocol):
    """A way to confine commands."""

    @property
    def name(self) -> str:
        """Its name in the settings."""

    @property
    def is_sandbox(self) -> bool:
        """Whether it confines commands at all."""

    @property
    def filters_network(self) -> bool:
        """Whether jobs can be given hosts."""

    @property
    def protects_files(self) -> bool:
        """Whether protected files stay unchanged even in writable folders."""

    @property
    def hides_files(self) -> bool:
        """Whether jobs cannot read hidden files."""

    def prepare(self, job: SandboxJob, decided: HostDecisionCallback, before: ExitStack, after: ExitStack) -> Launch:
        """Return the program for this job; `decided` receives each decision about its network.

        Resources needed until it has started are registered in `before`, those needed until it has ended in `after`.
        Raises NotConfigured if the owner must act, ToolFailed if the job cannot run like this.
        """


def pipe_between(before: ExitStack, after: ExitStack) -> tuple[int, int]:
    """Open a pipe from Hob to the program: the end it reads is closed once it has started, Hob's once it has ended."""
    reads, writes = os.pipe()
    before.callback(os.close, reads)
    after.callback(os.close, writes)
    return reads, writes
