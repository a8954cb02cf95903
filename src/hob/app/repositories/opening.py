"""The owner's repositories; the git code is loaded on first use."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.config.loading import Config
from hob.core.lazy import Lazy
from hob.gateway.lazy_ports import Repositories
from hob.workspace.settings import WorkspaceSettings

SEARCHED = "searched"
"""The folder to search for repositories (`workspace.search_path`)."""


@Lazy
def _over() -> Callable[..., Any]:
    from hob.app.repositories.repositories import OwnerRepositories

    return OwnerRepositories


@asynccontextmanager
async def open_repositories(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Create the repositories; folders are read from the current settings on each use."""
    now = kernel.config[WorkspaceSettings]

    def reconfigure(config: Config) -> None:
        nonlocal now
        now = config[WorkspaceSettings]

    folders = {"work": lambda: now.work, "identity": lambda: now.path, SEARCHED: lambda: now.search_path or now.work}
    repositories = Lazy(lambda: _over()(folders, kernel.environ))
    yield Contribution(provides={Repositories: repositories}, on_settings=reconfigure)
