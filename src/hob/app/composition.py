"""The composition root: the whole architecture on one page.

`open_app` opens everything in four stages, each over those before it, and closes them backwards: nothing is completed
after it was made. Nothing else sees two peers at once.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from hob.app.contribution import Contribution
from hob.app.extras import Extras as Extras
from hob.app.kernel import Kernel, open_kernel
from hob.app.lifecycle import run
from hob.app.maintenance.reload import SettingsReload
from hob.app.operations import DaemonOperations
from hob.app.plugins.loading import load_plugins, open_with
from hob.app.subsystem import Subsystem
from hob.app.subsystems import SUBSYSTEMS
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.turn_services import make_api, make_turn_services
from hob.bus.bus import Bus
from hob.config.loading import Config
from hob.gateway.api import Api
from hob.providers.routing.choice import Choice
from hob.store.store import Store


@dataclass(frozen=True, slots=True)
class App:
    """Hob, open."""

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


@asynccontextmanager
async def open_app(
    home: Path,
    config: Config,
    *,
    subsystems: Iterable[Subsystem] = SUBSYSTEMS,
    extras: Extras | None = None,
    own_only: bool = False,
    address: str = "",
    dashboard: str = "",
    on_hand_over: Callable[[], None] | None = None,
) -> AsyncIterator[App]:
    """Hob over this home, whose lock the caller holds.

    With `own_only` it runs what is accepted from now on and leaves earlier work to the next daemon: the one-shot
    owner. `address` is where the API can be reached, `dashboard`
    where the page for browsers is. Raises NotConfigured and StoreErrors.
    """
    extras = extras or Extras()
    plugins, config = load_plugins(config)
    own = (*subsystems, plugins.feature()) if plugins.manifests else tuple(subsystems)
    chosen = tuple(each for each in own if each.one_shot or not own_only)
    async with AsyncExitStack() as stack:
        kernel = await stack.enter_async_context(open_kernel(home, config, extras.clock, one_shot=own_only))
        features = await open_with(stack, kernel, chosen, plugins)
        services = await make_turn_services(stack, kernel, features, extras, address=address, on_hand_over=on_hand_over)
        bus, running = await stack.enter_async_context(run(kernel, features, services, extras))
        config, api = kernel.config, make_api(kernel, services, running.accept, dashboard)
        yield App(
            config.home, config, kernel.store, bus, services.operations, api, kernel.choice, services.tool_runtime,
            services.reloading, kernel, {name: contribution for name, (_, contribution) in features.opened.items()},
            tuple(each for each, _ in features.opened.values()),
        )  # fmt: skip
