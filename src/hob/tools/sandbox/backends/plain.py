"""No sandbox: commands run as Hob does. Only by explicit setting, and the guard then asks before every one."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import ClassVar

from hob.core.errors import NotConfigured
from hob.tools.sandbox.homes import make_scratch
from hob.tools.sandbox.job import Job
from hob.tools.sandbox.launcher.launcher import Launch
from hob.tools.sandbox.launcher.supervised import supervise
from hob.tools.sandbox.network.hosts import Decided
from hob.tools.sandbox.roots import check_job
from hob.tools.sandbox.sandbox_environment import SandboxEnvironment


@dataclass(frozen=True, slots=True)
class Plain:
    """Commands that may do what Hob may do. They still get their own environment, limits and end."""

    name: ClassVar[str] = "plain"
    confines: ClassVar[bool] = False
    networks: ClassVar[bool] = False
    protects: ClassVar[bool] = False
    hides: ClassVar[bool] = False

    sandbox_environment: SandboxEnvironment

    def prepare(self, job: Job, decided: Decided, before: ExitStack, after: ExitStack) -> Launch:
        """Raises NotConfigured or ToolFailed."""
        del decided
        if job.hosts:
            raise NotConfigured("Without a sandbox hosts cannot be limited; commands reach whatever Hob reaches.")
        around = self.sandbox_environment
        check_job(job, around.forbidden)
        home = make_scratch(around.state, after).home
        own = around.environ_of(job, home)
        return supervise(job, around.limits, own, before, after)
