"""Steps that install and remove the service: shown before they run, and repeatable."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from hob.config.whole_file import write_whole
from hob.core.errors import HobError
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.database.disk import free_name

MAX_SECONDS = 1_000.0
"""Time limit of a service manager in seconds: starting includes becoming ready, perhaps after a migration."""


class ServiceFailed(HobError):
    """The service manager refused."""


@dataclass(frozen=True, slots=True)
class WriteFile:
    """A file with this text. `shown` replaces the text for people if it holds secrets."""

    path: Path
    text: str
    mode: int = 0o644
    shown: str | None = None


@dataclass(frozen=True, slots=True)
class KeepFile:
    """A copy of a file that Hob did not write, made before the file is replaced."""

    path: Path


@dataclass(frozen=True, slots=True)
class Remove:
    """The removal of a file."""

    path: Path


@dataclass(frozen=True, slots=True)
class Run:
    """A call of the service manager. If it fails, `otherwise` is the advice; without one, the failure is fatal."""

    argv: tuple[str, ...]
    otherwise: str = ""


Step = WriteFile | KeepFile | Remove | Run


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """A program's output and exit status."""

    status: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """One line that says why it failed."""
        first = (self.err.strip() or self.out.strip()).partition("\n")[0]
        return self.err if first == self.err else first or translatable("exit status {status}", status=self.status)


def run_program(environ: Mapping[str, str], *argv: str) -> CommandOutput:
    """Run a program to its end. A missing program gives 127, as in a shell."""
    program = shutil.which(argv[0], path=environ.get("PATH", os.defpath))
    if program is None:
        return CommandOutput(127, "", translatable("{program} is not installed here", program=argv[0]))
    try:
        done = subprocess.run(
            [program, *argv[1:]],
            env={**environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=MAX_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return CommandOutput(124, "", f"{argv[0]} did not come to an end within {MAX_SECONDS:.0f} s")
    except OSError as error:
        return CommandOutput(126, "", f"{program} cannot be run: {error.strerror}")
    return CommandOutput(done.returncode, done.stdout, done.stderr)


def describe(step: Step) -> str:
    """Return a description of the step."""
    match step:
        case WriteFile():
            text = step.text if step.shown is None else step.shown
            lines = "".join(f"    {line}\n" for line in text.splitlines())
            return translatable("write {path} ({mode:04o}):\n{lines}", path=step.path, mode=step.mode, lines=lines)
        case KeepFile():
            return translatable("keep a copy of {path} beside it", path=step.path)
        case Remove():
            return translatable("remove {path}", path=step.path)
        case Run():
            return translatable("run {command}", command=" ".join(step.argv))


def perform(step: Step, environ: Mapping[str, str]) -> str:
    """Perform the step. Return its result, empty if there was nothing to do. Raises ServiceFailed."""
    if isinstance(step, Run):
        return _run(step, environ)
    try:
        match step:
            case WriteFile():
                return _write(step)
            case KeepFile():
                kept = free_name(step.path.with_name(f"{step.path.name}.former"))
                write_whole(kept, step.path.read_bytes())
                return translatable("kept    {path}: what was there before", path=kept)
            case Remove():
                step.path.unlink()
                return translatable("removed {path}", path=step.path)
    except OSError as error:
        told = translatable("{path}: {reason}; nothing further was done", path=step.path, reason=error.strerror)
        raise ServiceFailed(told) from error


def _run(step: Run, environ: Mapping[str, str]) -> str:
    said = run_program(environ, *step.argv)
    if said.status == 0:
        return ""
    if step.otherwise:
        return translatable("{note} ({reason})", note=step.otherwise, reason=said.complaint)
    raise ServiceFailed(
        translatable("`{command}` failed: {reason}", command=" ".join(step.argv), reason=said.complaint)
    )


def _write(step: WriteFile) -> str:
    data = step.text.encode()
    if step.path.exists() and step.path.read_bytes() == data and step.path.stat().st_mode & 0o777 == step.mode:
        return ""
    write_whole(step.path, data, step.mode)
    return translatable("wrote   {path}", path=step.path)
