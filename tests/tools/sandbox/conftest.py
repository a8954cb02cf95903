"""Real commands in every sandbox available on this machine, each with its own folders and canaries."""

import os
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import NotConfigured
from hob.tools.sandbox.backends.detection import find_backend
from hob.tools.sandbox.backends.landlock import Landlock, landlock_version
from hob.tools.sandbox.job import JobFinished, JobRoot, Limits, SandboxJob
from hob.tools.sandbox.launcher.launcher import Backend
from hob.tools.sandbox.running_command import OutputCallbacks, run
from hob.tools.sandbox.sandbox_environment import SandboxEnvironment, make_caches

PATH = os.environ.get("PATH", "/usr/bin:/bin")


@dataclass
class Place:
    """A backend with folders: `work` is given to commands, `outside` is not."""

    backend: Backend
    sandbox_environment: SandboxEnvironment
    work: Path
    outside: Path
    callbacks: OutputCallbacks = field(default_factory=OutputCallbacks)

    @property
    def canary(self) -> Path:
        """A file outside that no command may see or change."""
        return self.outside / "canary"

    def job(self, *argv: str, **more: object) -> SandboxJob:
        return replace(SandboxJob(argv, self.work, (JobRoot(self.work, writable=True),)), **more)  # type: ignore[arg-type]

    async def run(self, *argv: str, seconds: float = 20.0, stdin: bytes = b"", **more: object) -> JobFinished:
        limits = self.sandbox_environment.limits
        job = self.job(*argv, **more)
        return await run(
            self.backend, job, SystemClock(), limits=limits, seconds=seconds, stdin=stdin, callbacks=self.callbacks
        )

    async def sh(self, script: str, **more: object) -> str:
        """Return the combined output of a shell script."""
        return (await self.run("sh", "-c", script, **more)).output.decode()  # type: ignore[arg-type]

    async def python(self, code: str, **more: object) -> str:
        """Return the output of a Python program."""
        return (await self.run("python3", "-c", code, **more)).output.decode()  # type: ignore[arg-type]


def sandbox_environment(folder: Path, **more: object) -> SandboxEnvironment:
    """A sandbox environment with its caches and state below this folder."""
    make_caches(folder / "caches")
    (folder / "state").mkdir(exist_ok=True)
    plain = SandboxEnvironment(
        caches=folder / "caches", state=folder / "state", limits=Limits(processes=64, open_files=256)
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def make_place(name: str, folder: Path, **more: object) -> Place:
    """Create folders, a canary and a backend. Skips the test if the machine does not support it."""
    folder = folder.resolve()
    for part in ("work", "outside"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "outside" / "canary").write_text("sings")
    around = sandbox_environment(folder, **{"forbidden": (folder / "outside",), **more})
    return Place(make_backend(name, around), around, folder / "work", folder / "outside")


def make_backend(name: str, around: SandboxEnvironment) -> Backend:
    """Create the backend. Landlock is tested even as root, where it is not offered. Skips if unsupported."""
    if name == "landlock" and os.geteuid() == 0 and (version := landlock_version()):
        landlock = Landlock(around, version)
        landlock.write_files()
        return landlock
    try:
        return find_backend(name, around, PATH).backend
    except NotConfigured as problem:
        pytest.skip(str(problem))


@pytest.fixture(params=["bubblewrap", "landlock"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return make_place(request.param, tmp_path)


@pytest.fixture
def wrapped(tmp_path: Path) -> Place:
    return make_place("bubblewrap", tmp_path)


@pytest.fixture
def repository(wrapped: Place) -> Place:
    """A place whose work folder is a git repository."""
    subprocess.run(["git", "init", "--quiet", str(wrapped.work)], check=True)
    around = replace(wrapped.sandbox_environment, protected=(".git/hooks/", ".git/config"))
    return replace(wrapped, sandbox_environment=around, backend=find_backend("bubblewrap", around, PATH).backend)
