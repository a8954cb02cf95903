"""The composition root: the whole architecture on one page.

`open_app` opens everything in four stages, each over the previous ones, and closes them in reverse. Objects are
complete when they are constructed. Only this package sees two peers at once.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from hob.app.contribution import Contribution
from hob.app.daemon.lifecycle import run
from hob.app.features import Opening, open_subsystems
from hob.app.kernel import Kernel, open_kernel
from hob.app.operations import DaemonOperations
from hob.app.plugins import MANIFESTS
from hob.app.settings.reload import SettingsReload
from hob.app.subsystem import Subsystem, carried_files
from hob.app.subsystems import SUBSYSTEMS
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.turn_services.api import make_api
from hob.app.turn_services.turn_services import make_turn_services
from hob.bus.bus import Bus
from hob.config.loading import Config
from hob.core.clock import Clock, SystemClock
from hob.core.lazy import Lazy
from hob.core.values import dataclass
from hob.gateway.api import Api
from hob.providers.routing.choice import Choice
from hob.store.store import Store


@dataclass(frozen=True, slots=True)
class App:
    """An open Hob."""

    home: Path
    config: Config
    store: Store
    bus: Bus
    operations: DaemonOperations
    api: Api
    choice: Choice
    tool_runtime: LazyToolRuntime
    reload: SettingsReload
    kernel: Kernel
    contributions: Mapping[str, Contribution]
    subsystems: tuple[Subsystem, ...]


@Lazy
def _with_plugins() -> Callable[[Config, Sequence[Subsystem]], tuple[Opening, Config]]:
    from hob.app.plugins.loading import with_plugins

    return with_plugins


@Lazy
def _carried_by_plugins() -> Callable[[Path], Collection[str]]:
    from hob.app.plugins.manifest import carried_by_plugins

    return carried_by_plugins


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
    chosen = tuple(each for each in subsystems if each.one_shot or not own_only)
    opening: Opening = partial(open_subsystems, subsystems=chosen)
    if (home / MANIFESTS).exists():
        opening, config = _with_plugins()(config, chosen)
    carried = {*carried_files(subsystems), *(_carried_by_plugins()(home) if (home / MANIFESTS).exists() else ())}
    async with AsyncExitStack() as stack:
        opened = open_kernel(home, config, clock or SystemClock(), one_shot=own_only, carried=carried)
        kernel = await stack.enter_async_context(opened)
        features = await stack.enter_async_context(opening(kernel))
        services = await make_turn_services(stack, kernel, features, address=address, on_handover=on_handover)
        bus, running = await stack.enter_async_context(run(kernel, features, services))
        config, api = kernel.config, make_api(kernel, features, services, running.accept, dashboard)
        yield App(
            config.home, config, kernel.store, bus, services.operations, api, kernel.choice, services.tool_runtime,
            services.reloading, kernel, {name: contribution for name, (_, contribution) in features.opened.items()},
            tuple(each for each, _ in features.opened.values()),
        )  # fmt: skip
