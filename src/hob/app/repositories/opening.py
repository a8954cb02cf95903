"""The repositories over the kernel; what asks git is loaded when somebody looks."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.config.loading import Config
from hob.core.lazy import Lazy
from hob.gateway.lazy_ports import LazyRepositories
from hob.workspace.settings import WorkspaceSettings

SEARCHED = "searched"
"""The folder below which repositories are looked for (`workspace.search_path`)."""


@Lazy
def _over() -> Callable[..., Any]:
    from hob.app.repositories.repositories import OwnerRepositories

    return OwnerRepositories


@asynccontextmanager
async def open_repositories(kernel: Kernel) -> AsyncIterator[Contribution]:
    """The folders are those of the settings as they are when somebody looks."""
    now = kernel.config[WorkspaceSettings]

    def reconfigure(config: Config) -> None:
        nonlocal now
        now = config[WorkspaceSettings]

    folders = {"work": lambda: now.work, "identity": lambda: now.path, SEARCHED: lambda: now.search_path or now.work}
    at_hand = LazyRepositories(Lazy(lambda: _over()(folders, kernel.environ)))
    yield Contribution(provides={LazyRepositories: at_hand}, on_settings=reconfigure)
