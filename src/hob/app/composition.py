"""The composition root: the whole architecture on one page.

`open_app` opens everything in four stages, each over the previous ones, and closes them in reverse. Objects are
complete when they are constructed. Only this package sees two peers at once.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from hob.app.daemon.lifecycle import run
from hob.app.features import Features, Opening, open_subsystems
from hob.app.kernel import Kernel, open_kernel
from hob.app.operations import DaemonOperations
from hob.app.plugins import MANIFESTS
from hob.app.subsystem import Subsystem, carried_files
from hob.app.subsystems import SUBSYSTEMS
from hob.app.turn_services.turn_services import TurnServices, make_api, open_turn_services
from hob.bus.bus import Bus
from hob.config.loading import Config
from hob.core.clock import Clock, SystemClock
from hob.core.lazy import Lazy
from hob.core.values import dataclass
from hob.gateway.api import Api
from hob.store.store import Store


@dataclass(frozen=True, slots=True)
class App:
    """An open Hob."""

    kernel: Kernel
    features: Features
    services: TurnServices
    bus: Bus
    api: Api

    @property
    def home(self) -> Path:
        return self.config.home

    @property
    def config(self) -> Config:
        return self.kernel.config

    @property
    def store(self) -> Store:
        return self.kernel.store

    @property
    def operations(self) -> DaemonOperations:
        return self.services.operations


@asynccontextmanager
async def open_app(
    home: Path,
    config: Config,
    *,
    subsystems: Iterable[Subsystem] = SUBSYSTEMS,
    clock: Clock | None = None,
    own_only: bool = False,
    address: str = "",
    dashboard: str = "",
    on_handover: Callable[[], None] | None = None,
) -> AsyncIterator[App]:
    """Open Hob over this home, whose lock the caller holds. Raises NotConfigured and StoreErrors.

    With `own_only` it runs only what is accepted from now on and leaves earlier work to the next daemon (the one-shot
    owner). `address` is the URL of the API, `dashboard` that of the page for browsers.
    """
    subsystems = tuple(subsystems)
    chosen = [each for each in subsystems if each.one_shot or not own_only]
    open_features: Opening = partial(open_subsystems, subsystems=chosen)
    carried = {*carried_files(subsystems)}
    if (home / MANIFESTS).exists():
        open_features, config, carried_by_plugins = _with_plugins()(config, chosen)
        carried.update(carried_by_plugins)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        kernel = await enter(open_kernel(home, config, clock or SystemClock(), one_shot=own_only, carried=carried))
        features = await enter(open_features(kernel))  # creates objects, starts nothing
        services = await enter(open_turn_services(kernel, features, address=address, on_handover=on_handover))
        bus, running = await enter(run(kernel, features, services))  # recovery, workers, channels, jobs
        yield App(kernel, features, services, bus, make_api(kernel, features, services, running.accept, dashboard))


@Lazy
def _with_plugins() -> Callable[[Config, Sequence[Subsystem]], tuple[Opening, Config, Collection[str]]]:
    from hob.app.plugins.loading import with_plugins

    return with_plugins
