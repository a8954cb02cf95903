"""Docker and Podman: each command in a new container, which is removed afterwards.

https://docs.docker.com/reference/cli/docker/container/run/. The image provides the programs; folders are mounted at
their own paths. There is no network, because a container's network cannot be tied to Hob's proxy from outside.
"""

import csv
import io
import os
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.tools.sandbox.backends.plain import SupervisedBackend
from hob.tools.sandbox.environment_variables import USER, job_environ
from hob.tools.sandbox.job import JobRoot, Limits, SandboxJob
from hob.tools.sandbox.launcher.launcher import Launch
from hob.tools.sandbox.launcher.supervised import supervise
from hob.tools.sandbox.roots import effective_roots, open_place, open_protected_mounts
from hob.tools.sandbox.sandbox_environment import empty_file

HOME = Path("/home") / USER


@dataclass(frozen=True, slots=True)
class Containers(SupervisedBackend):
    """Runs commands in containers. `name` is docker or podman, `program` is its client."""

    network_refusal: ClassVar[str] = translatable(
        "Commands in containers have no network. Use bubblewrap for those that need hosts."
    )

    name: str
    program: str

    def launch(self, job: SandboxJob, before: ExitStack, after: ExitStack) -> Launch:
        around = self.sandbox_environment
        container = f"hob-{uuid.uuid4().hex}"
        client = SandboxJob(tuple(self.arguments(job, container)), Path("/"), (), window=job.window)
        last = (self.program, "rm", "--force", container)
        return supervise(client, Limits(), around.engine, before, after, last=last)

    def arguments(self, job: SandboxJob, container: str) -> Iterator[str]:
        """Yield the client's command line."""
        around = self.sandbox_environment
        limits = around.limits
        yield from (
            self.program,
            "run",
            "--rm",
            "--init",
            "--interactive",
            "--name",
            container,
            "--label",
            "hob=sandbox",
        )
        yield from ("--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
        yield from ("--pids-limit", str(limits.processes), "--memory", str(limits.memory))
        yield from ("--memory-swap", str(limits.memory), "--ulimit", f"nofile={limits.open_files}")
        yield from ("--ulimit", f"cpu={limits.cpu_seconds}", "--ulimit", f"fsize={limits.file}", "--ulimit", "core=0")
        yield from ("--user", f"{os.getuid()}:{os.getgid()}", "--hostname", "sandbox")
        if self.name == "podman":
            yield from ("--userns", "keep-id")
        for place in ("/tmp", "/run", str(HOME)):  # noqa: S108 - the container's own
            yield from ("--tmpfs", f"{place}:rw,nosuid,nodev,size={limits.scratch}")
        if job.window is not None:
            yield "--tty"
        for name, value in job_environ(around.environ, job.environ, HOME, ()).items():
            yield from ("--env", f"{name}={value}")
        for root in effective_roots(job):
            yield from self._mount(root, root.path)
            if root.writable:
                yield from self._protect(root)
        for path in job.hidden:
            yield from _mounted(empty_file(around.state), path, readonly=True)
        yield from ("--workdir", str(job.folder), "--entrypoint", "", around.image, *job.argv)

    def _mount(self, root: JobRoot, at: Path) -> tuple[str, str]:
        os.close(open_place(root.path))
        return _mounted(root.path, at, readonly=not root.writable)

    def _protect(self, root: JobRoot) -> Iterator[str]:
        with ExitStack() as opened:

            def keep(place: int) -> int:
                opened.callback(os.close, place)
                return place

            for wall in open_protected_mounts(keep(open_place(root.path)), self.sandbox_environment.protected, keep):
                yield from self._mount(JobRoot(root.path / wall.name, wall.writable), root.path / wall.name)


def _mounted(source: Path, at: Path, *, readonly: bool) -> tuple[str, str]:
    line = io.StringIO()
    fields = ["type=bind", f"source={source}", f"target={at}", *(["readonly"] if readonly else [])]
    csv.writer(line, lineterminator="").writerow(fields)
    return "--mount", line.getvalue()
