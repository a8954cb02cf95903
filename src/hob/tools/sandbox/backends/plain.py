"""No sandbox: commands run with Hob's own rights. Used only by explicit setting; the guard then asks before each
command.
"""

from abc import ABC, abstractmethod
from contextlib import ExitStack
from typing import ClassVar

from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.tools.sandbox.job import SandboxJob
from hob.tools.sandbox.launcher.launcher import Launch
from hob.tools.sandbox.launcher.supervised import supervise
from hob.tools.sandbox.network.hosts import HostDecisionCallback
from hob.tools.sandbox.roots import check_job
from hob.tools.sandbox.sandbox_environment import SandboxEnvironment, make_scratch


@dataclass(frozen=True, slots=True)
class SupervisedBackend(ABC):
    """A backend whose commands run under Hob's launcher, which cannot filter their network access."""

    is_sandbox: ClassVar[bool] = True
    filters_network: ClassVar[bool] = False
    protects_files: ClassVar[bool] = True
    hides_files: ClassVar[bool] = True
    network_refusal: ClassVar[str]
    """The error for commands that need hosts."""

    sandbox_environment: SandboxEnvironment

    def prepare(self, job: SandboxJob, decided: HostDecisionCallback, before: ExitStack, after: ExitStack) -> Launch:
        """Implement `Backend.prepare`. Raises NotConfigured or ToolFailed."""
        del decided
        if job.hosts:
            raise NotConfigured(translatable(self.network_refusal))
        check_job(job, self.sandbox_environment.forbidden)
        return self.launch(job, before, after)

    @abstractmethod
    def launch(self, job: SandboxJob, before: ExitStack, after: ExitStack) -> Launch:
        """Prepare the start of a checked job. Raises NotConfigured or ToolFailed."""


class Plain(SupervisedBackend):
    """Runs commands with Hob's rights, but with an environment and limits of their own, and ends their processes."""

    name: ClassVar[str] = "plain"
    is_sandbox = False
    protects_files = False
    hides_files = False
    network_refusal = translatable("Without a sandbox hosts cannot be limited; commands reach whatever Hob reaches.")

    def launch(self, job: SandboxJob, before: ExitStack, after: ExitStack) -> Launch:
        around = self.sandbox_environment
        own = around.environ_of(job, make_scratch(around.state, after).home)
        return supervise(job, around.limits, own, before, after)
