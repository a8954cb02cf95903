"""The composition root: the whole architecture on one page.

`open_app` opens everything in dependency order and closes it backwards. Nothing else sees two peers at once.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hob.agent.remarks import render
from hob.app.extras import Extras as Extras
from hob.app.kernel import Kernel, open_kernel
from hob.app.maintenance.reload import SettingsReload
from hob.app.maintenance.upkeep import Upkeep, open_upkeep
from hob.app.notifications.outbox_alarm import OutboxAlarm
from hob.app.notifications.webhooks import WebhookParts
from hob.app.operations import DaemonOperations
from hob.app.tools.lazy_runtime import LazyToolRuntime, open_tool_runtime
from hob.app.trust.auth_failures import AuthFailureLog
from hob.app.turn_services import Features, TurnServices, make_turn_services
from hob.bus.bus import Bus, run_bus
from hob.config.loading import Config
from hob.core.remarks import Remark
from hob.core.tracing import OWN
from hob.gateway.api import Api
from hob.gateway.settings import GatewaySettings
from hob.gateway.webhooks.receiver import WebhookReceiver
from hob.gateway.webhooks.settings import Webhooks
from hob.providers.routing.choice import Choice
from hob.store.store import Store

log = logging.getLogger(__name__)


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


@asynccontextmanager
async def open_app(
    home: Path,
    config: Config,
    *,
    extras: Extras | None = None,
    own_only: bool = False,
    address: str = "",
    on_hand_over: Callable[[], None] | None = None,
) -> AsyncIterator[App]:
    """Hob over this home, whose lock the caller holds.

    With `own_only` it runs what is accepted from now on and leaves earlier work to the next daemon: the one-shot
    owner. `address` is where the API can be reached. Raises NotConfigured and StoreErrors.
    """
    extras = extras or Extras()
    async with AsyncExitStack() as stack:
        kernel = await stack.enter_async_context(open_kernel(home, config, extras.clock, one_shot=own_only))
        parts = await _open_parts(stack, kernel)
        services = await make_turn_services(
            stack, kernel, parts.features, extras, address=address, on_hand_over=on_hand_over
        )
        yield await _run(stack, kernel, parts, services, extras)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The features beside the kernel, opened."""

    features: Features
    webhooks: WebhookParts
    alarm: OutboxAlarm
    upkeep: Upkeep


async def _open_parts(stack: AsyncExitStack, kernel: Kernel) -> _Parts:
    config, store, clock, notifier, signals = kernel.config, kernel.store, kernel.clock, kernel.notifier, kernel.signals
    opened = open_tool_runtime(config, store, kernel.hub, clock, kernel.environ, kernel.known, partial(_warn, kernel))
    tool_runtime = await stack.enter_async_context(opened)
    webhooks = WebhookParts(config, store, clock, notifier, kernel.language, signals.outbox)
    alarm = OutboxAlarm(store, clock, notifier.tell_late, kernel.language)
    upkeep = open_upkeep(config, store, tool_runtime, alarm, clock)
    stack.enter_context(signals.settings.heard_by(upkeep.change))

    def views() -> dict[str, Any]:
        return {"followers": list(webhooks.followers()), **upkeep.view()}

    return _Parts(Features(tool_runtime, views), webhooks, alarm, upkeep)


async def _warn(kernel: Kernel, remark: Remark) -> None:
    await kernel.notifier.tell(render(remark, kernel.language), "obeyed")


async def _run(stack: AsyncExitStack, kernel: Kernel, parts: _Parts, services: TurnServices, extras: Extras) -> App:
    """Take up earlier work, deliver, and begin what goes on as long as Hob is open."""
    own = () if kernel.one_shot else parts.webhooks.channels
    channels = (*extras.channels, *own)
    stack.enter_context(kernel.channels.running(channels))
    bus = await stack.enter_async_context(
        run_bus(
            kernel.session_queues,
            services.accept,
            turns=services.driver,
            commands=services.commands,
            channels=channels,
            said=services.door.said,
        )
    )
    attempts = AuthFailureLog(kernel.store.audit, kernel.clock)
    if not kernel.one_shot:
        services.prepare()
        await parts.webhooks.dispatcher.begin()
        alarm = parts.alarm
        on_pending = kernel.signals.outbox.heard_by(
            lambda to: alarm.on_pending() if kernel.channels.lead_to(to) else None
        )
        stack.enter_context(on_pending)
        announcing = parts.webhooks.dispatcher.run()
        await _watch(stack, kernel, services.guard.watch(), attempts.run(), parts.upkeep.run(), alarm.run(), announcing)
    accept = extras.wrap_accept(services.door.entrance(bus.accept))
    for channel in channels:
        await stack.enter_async_context(channel.run(accept))
    api = Api(
        accept,
        kernel.store,
        kernel.hub,
        services.operations,
        kernel.config[GatewaySettings],
        kernel.clock,
        kernel.keyring,
        kernel.pairing_service,
        services.guard.approving,
        services.model_catalog,
        kernel.known,
        attempts,
        WebhookReceiver(kernel.config[Webhooks]),
    )
    stack.enter_context(kernel.signals.settings.heard_by(lambda _: kernel.keyring.forget()))
    config, tool_runtime = kernel.config, parts.features.tool_runtime
    return App(
        config.home,
        config,
        kernel.store,
        bus,
        services.operations,
        api,
        kernel.choice,
        tool_runtime,
        services.reloading,
        kernel,
    )


async def _watch(stack: AsyncExitStack, kernel: Kernel, *watches: Coroutine[Any, Any, None]) -> None:
    """What runs as long as a daemon does."""
    if kernel.store.unclean:
        log.warning("the last run did not end by itself; what it had in hand goes on", extra=OWN)
    watching = await stack.enter_async_context(asyncio.TaskGroup())
    for watch in watches:
        stack.callback(watching.create_task(watch).cancel)
