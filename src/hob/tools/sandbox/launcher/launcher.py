"""What a backend gives for a job: a program to start, and the processes that it and its children are."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from hob.core.values import dataclass
from hob.tools.sandbox.job import SandboxJob
from hob.tools.sandbox.network.hosts import Decided


class ProcessTree(Protocol):
    """A hold on a command and on everything that it started."""

    async def started(self, pid: int) -> None:
        """Do what can only be done now that the program runs. Raises ToolFailed."""

    def terminate(self, pid: int) -> None:
        """Ask the command and what it started to end (SIGTERM)."""

    def kill(self, pid: int) -> None:
        """End all of it, at once (SIGKILL)."""

    def status(self, code: int) -> int | None:
        """The command's exit status, given the program's; None where the command was never started."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A program to start, with exactly these variables and descriptors, in this folder."""

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    fds: tuple[int, ...]
    processes: ProcessTree
    folder: Path = Path("/")


class Backend(Protocol):
    """One way to confine commands."""

    @property
    def name(self) -> str:
        """As it is called in the settings."""

    @property
    def is_sandbox(self) -> bool:
        """Whether it is a sandbox at all."""

    @property
    def filters_network(self) -> bool:
        """Whether a job can be given hosts."""

    @property
    def protects_files(self) -> bool:
        """Whether a job cannot change what is protected in folders that it may change."""

    @property
    def hides_files(self) -> bool:
        """Whether what is hidden from a job cannot be read by it."""

    def prepare(self, job: SandboxJob, decided: Decided, before: ExitStack, after: ExitStack) -> Launch:
        """The program for this job; `decided` hears of each decision about its network.

        What is needed until it has started is entered into `before`, what must stay until it has ended into `after`.
        Raises NotConfigured where the owner must act, ToolFailed where the job cannot be run so.
        """
