"""Applying new settings to the turn services while Hob runs."""

from collections.abc import Callable

from hob.agent.budget.limits import SpendingSettings
from hob.app.kernel import Kernel
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.trust.lazy_guard import LazyGuard
from hob.app.turn_services.models import ModelServices
from hob.config.loading import Config
from hob.guard.settings import ApprovalSettings
from hob.workspace.settings import WorkspaceSettings


def make_renewal(
    kernel: Kernel, models: ModelServices, guard: LazyGuard, tool_runtime: LazyToolRuntime
) -> Callable[[Config], None]:
    """Return the callback that applies changed settings."""
    workspace = kernel.config[WorkspaceSettings]

    def renew(new: Config) -> None:
        nonlocal workspace
        if workspace.work != new[WorkspaceSettings].work:
            workspace = new[WorkspaceSettings]
            tool_runtime.reconfigure(new)
            guard.renew()
        models.routes.refresh()
        models.budget.reconfigure(new[SpendingSettings])
        guard.reconfigure(new[ApprovalSettings])
        kernel.keyring.forget()

    return renew
