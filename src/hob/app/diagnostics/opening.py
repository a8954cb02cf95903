"""Opens the administration; the checks load on first use."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.config.loading import Config
from hob.core.lazy import Lazy
from hob.gateway.administration import Administration


@Lazy
def _load_administration() -> Callable[..., Administration]:
    from hob.app.diagnostics.administration import OwnerAdministration

    return OwnerAdministration


@asynccontextmanager
async def open_administration(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Open the administration; nothing is checked before a request."""
    now = kernel.config

    def reconfigure(config: Config) -> None:
        nonlocal now
        now = config

    def make() -> Administration:
        return _load_administration()(kernel.config.home, kernel.environ, kernel.store, kernel.channels, lambda: now)

    yield Contribution(provides={Administration: Lazy(make)}, on_settings=reconfigure)
