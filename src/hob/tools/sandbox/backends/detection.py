"""Detection of the backends that are usable on this machine, by trying them, with advice if none is."""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from hob.core.errors import InvalidRequest, NotConfigured
from hob.core.translation.language import join_texts, translatable
from hob.core.values import dataclass
from hob.tools.exec.process_output import run_process
from hob.tools.sandbox.backends.bubblewrap import Bubblewrap
from hob.tools.sandbox.backends.containers import Containers
from hob.tools.sandbox.backends.landlock import Landlock, landlock_version
from hob.tools.sandbox.backends.plain import Plain
from hob.tools.sandbox.backends.seatbelt import Seatbelt
from hob.tools.sandbox.launcher.cgroups import find_groups
from hob.tools.sandbox.launcher.launcher import Backend
from hob.tools.sandbox.launcher.seccomp import find_architecture
from hob.tools.sandbox.sandbox_environment import SandboxEnvironment

_SYSTEM = os.uname().sysname
_SECONDS = 10.0
_PLAIN: Mapping[str, str] = {"PATH": "/usr/bin:/bin"}
_TRIAL = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"),
    *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"),
)
_SWITCHES = (
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
)
_INSTALL = translatable("Install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap).")
_ALLOW = translatable(
    "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1 or user.max_user_namespaces=15000; on Ubuntu "
    "24.04 and later an AppArmor profile for bwrap, or sysctl kernel.apparmor_restrict_unprivileged_userns=0; in a "
    "container start it with --security-opt seccomp=unconfined."
)

_ROOT = translatable("Run Hob as an ordinary user.")


@dataclass(frozen=True, slots=True)
class FoundBackend:
    """A working backend, the reason for choosing it, and advice on how to get a better one, if any."""

    backend: Backend
    reason: str
    advice: str = ""


class Unusable(Exception):
    """Raised when a backend does not work here. The message says why."""

    def __init__(self, why: str, advice: str) -> None:
        super().__init__(why)
        self.advice = advice


def find_backend(name: str, sandbox_environment: SandboxEnvironment, path: str) -> FoundBackend:
    """Return the backend of this name after trying it; for `auto` the strongest that works. `path` is searched for
    programs.

    May start a process and wait for it (about 10 ms). Raises NotConfigured if nothing can confine commands: they run
    without a sandbox only if `plain` is requested by name.
    """
    found = _choose(name, sandbox_environment, path)
    if isinstance(found.backend, Bubblewrap):
        found = replace(found, backend=replace(found.backend, groups=find_groups()))
    if isinstance(found.backend, Bubblewrap | Landlock):
        found.backend.write_files()
    return found


def try_backend(name: str, path: str, image: str = "") -> FoundBackend:
    """Detect a backend as `find_backend` does, for information only. The result cannot run commands."""
    return _choose(name, SandboxEnvironment(Path(), Path(), image=image), path)


def _choose(name: str, sandbox_environment: SandboxEnvironment, path: str) -> FoundBackend:
    if name != "auto":
        try:
            return _named(name, sandbox_environment, path)
        except Unusable as problem:
            raise NotConfigured(
                translatable(
                    "sandbox.backend = {name!r} does not work here: {problem}. {advice}",
                    name=name,
                    problem=str(problem),
                    advice=problem.advice,
                )
            ) from None
    problems: list[Unusable] = []
    for candidate in ("sandbox-exec",) if _SYSTEM == "Darwin" else ("bubblewrap", "landlock"):
        try:
            found = _named(candidate, sandbox_environment, path)
        except Unusable as problem:
            problems.append(problem)
            continue
        if problems:
            why = join_texts("; ", map(str, problems))
            reason = translatable("{reason}, since {why}", reason=found.reason, why=why)
            return FoundBackend(found.backend, reason, problems[0].advice)
        return found
    why, advice = join_texts("; ", map(str, problems)), problems[0].advice
    raise NotConfigured(
        translatable(
            "There is no sandbox for commands: {why}. {advice} Or set sandbox.backend to docker, podman, or plain.",
            why=why,
            advice=advice,
        )
    )


def _named(name: str, sandbox_environment: SandboxEnvironment, path: str) -> FoundBackend:
    match name:
        case "bubblewrap":
            return FoundBackend(
                _bubblewrap(sandbox_environment, path), translatable("bubblewrap: namespaces on an empty root")
            )
        case "landlock":
            return _landlock(sandbox_environment)
        case "docker" | "podman":
            told = translatable("{name}: a container for every command", name=name)
            return FoundBackend(_containers(name, sandbox_environment, path), told)
        case "sandbox-exec":
            if _SYSTEM != "Darwin" or not Path("/usr/bin/sandbox-exec").exists():
                raise Unusable(translatable("sandbox-exec is macOS's"), _INSTALL)
            return FoundBackend(
                Seatbelt(sandbox_environment), translatable("sandbox-exec: a profile for every command")
            )
        case "plain":
            return FoundBackend(
                Plain(sandbox_environment), translatable("plain: nothing confines commands, as set"), _INSTALL
            )
    raise NotConfigured(translatable("There is no sandbox backend {name!r}.", name=name))


def _bubblewrap(sandbox_environment: SandboxEnvironment, path: str) -> Bubblewrap:
    program = shutil.which("bwrap", path=path)
    if _SYSTEM != "Linux" or program is None:
        raise Unusable(translatable("bubblewrap (bwrap) is not installed"), _INSTALL)
    told = os.stat(program)  # noqa: PTH116
    stamp = (told.st_mtime_ns, told.st_ino, told.st_size, told.st_ctime_ns)
    return Bubblewrap(program, _try_bubblewrap(program, stamp, _switches()), sandbox_environment)


def _switches() -> tuple[bytes, ...]:
    """Return the kernel's settings that allow user namespaces."""
    found: list[bytes] = []
    for path in _SWITCHES:
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                found.append(file.read())
        except OSError:
            found.append(b"")
    return tuple(found)


@lru_cache(4)
def _try_bubblewrap(program: str, _stamp: tuple[int, ...], _switches: tuple[bytes, ...]) -> frozenset[str]:
    """Return the options of this program. Raises Unusable if it does not work.

    That it works is remembered as long as the file and the kernel's settings are unchanged.
    """
    status, said = _run([program, *_TRIAL])
    if status != 0:
        complaint = said.strip().rpartition("\n")[2] or f"status {status}"
        raise Unusable(translatable("bubblewrap cannot make namespaces ({complaint})", complaint=complaint), _ALLOW)
    options = frozenset(re.findall(r"^\s+(--[a-z-]+)", _run([program, "--help"])[1], re.MULTILINE))
    if "--json-status-fd" not in options:
        raise Unusable(translatable("this bubblewrap is older than 0.3.3"), _INSTALL)
    return options


def _landlock(sandbox_environment: SandboxEnvironment) -> FoundBackend:
    version = landlock_version() if _SYSTEM == "Linux" else 0
    if version == 0:
        raise Unusable(translatable("the kernel has no Landlock (Linux 5.13 and later)"), _INSTALL)
    if find_architecture() is None:
        raise Unusable(translatable("no system call filter is known for this machine"), _INSTALL)
    if os.geteuid() == 0:
        told = translatable("Landlock does not keep root from changing the permissions of the system's files")
        raise Unusable(told, _ROOT)
    backend = Landlock(sandbox_environment, version)
    told = translatable("Landlock {version} and a system call filter, without any network", version=version)
    return FoundBackend(backend, told, _INSTALL)


def _containers(name: str, sandbox_environment: SandboxEnvironment, path: str) -> Containers:
    program = shutil.which(name, path=path)
    if program is None:
        raise Unusable(
            translatable("{program} is not installed", program=name), translatable("Install {program}.", program=name)
        )
    if not sandbox_environment.image:
        raise Unusable(
            translatable("there is no image to run commands in"),
            translatable("Set sandbox.image to one that has what commands need."),
        )
    status, said = _run([program, "info", "--format", "{{.ServerVersion}}"], sandbox_environment.engine)
    if status != 0:
        complaint = said.strip().rpartition("\n")[2]
        raise Unusable(
            translatable("{program} does not answer ({complaint})", program=name, complaint=complaint),
            translatable("Start {program}, and let this user use it.", program=name),
        )
    return Containers(sandbox_environment, name, program)


def _run(argv: list[str], environ: Mapping[str, str] = _PLAIN) -> tuple[int, str]:
    """Return the status and the output, including errors."""
    try:
        return run_process(argv, environ, seconds=_SECONDS)
    except (OSError, InvalidRequest) as error:
        return 125, str(error)
