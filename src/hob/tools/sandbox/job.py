"""Sandbox values: the command, what it sees, what it may use, and how it ended."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path

from hob.core.values import dataclass
from hob.tools.sandbox.network.credentials import JobCredential

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class JobRoot:
    """A folder that a command sees at its own path.

    The path is absolute and without symbolic links, which could be redirected.
    """

    path: Path
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of a command. Sizes are in bytes.

    Memory and CPU are limited per process, and for all processes of a command together where control groups are
    available. `scratch` is the space in /tmp; `written` and `output` are what all its processes may write, to disk and
    to their outputs, before the command is stopped.
    """

    memory: int = 4096 * MIB
    scratch: int = 1024 * MIB
    cpu_seconds: int = 1800
    processes: int = 512
    file: int = 4096 * MIB
    written: int = 16384 * MIB
    open_files: int = 1024
    output: int = 64 * MIB


@dataclass(frozen=True, slots=True)
class Window:
    """A terminal's size in characters."""

    rows: int = 24
    columns: int = 80


@dataclass(frozen=True, slots=True)
class SandboxJob:
    """A command to run.

    `folder` is inside one of the roots. `hosts` are rules (see `HostRules`); without any there is no network. `environ`
    is added to the sandbox's own variables. With a window the command gets a terminal instead of pipes.
    `keeps_downloads` means that its downloads stay in the caches for later commands. `hidden` files appear empty to it,
    if the backend can do that. `credentials` are secrets that it uses at hosts without holding them.
    """

    argv: tuple[str, ...]
    folder: Path
    roots: tuple[JobRoot, ...]
    hosts: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    window: Window | None = None
    keeps_downloads: bool = False
    hidden: tuple[Path, ...] = ()
    credentials: tuple[JobCredential, ...] = ()


class EndReason(StrEnum):
    """The reason why a command is no longer running."""

    EXITED = "exited"
    STOPPED = "stopped"
    TIMED_OUT = "timed_out"
    TOO_MUCH_OUTPUT = "too_much_output"
    TOO_MUCH_WRITTEN = "too_much_written"
    NOT_STARTED = "not_started"


@dataclass(frozen=True, slots=True)
class JobFinished:
    """How a command ended.

    `status` is the exit status, or 128 plus the signal's number. `output` is what it wrote to both outputs, without the
    middle if it was long: `left_out` counts those bytes, `gap` is their position. `seconds` is wall time.
    """

    reason: EndReason
    status: int
    output: bytes
    left_out: int
    seconds: float
    gap: int = 0

    @property
    def signal(self) -> int:
        """The signal that ended it, or 0."""
        return self.status - 128 if 128 < self.status <= 192 else 0
