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
from hob.app.attempts import Attempts
from hob.app.desk import Desk
from hob.app.extras import Extras as Extras
from hob.app.hands_when_needed import HandsWhenNeeded, open_hands
from hob.app.kernel import Kernel, open_kernel
from hob.app.operating.alarm import OutboxAlarm
from hob.app.operating.reloading import Reloading
from hob.app.operating.upkeep import Upkeep, open_upkeep
from hob.app.services import Features, TurnServices, make_turn_services
from hob.app.webhooks import WebhookParts
from hob.bus import Bus, run_bus
from hob.config import Config
from hob.core.remarks import Remark
from hob.core.tracing import OWN
from hob.gateway.api import Api
from hob.gateway.settings import GatewaySettings
from hob.gateway.webhooks.reception import Reception
from hob.gateway.webhooks.settings import Webhooks
from hob.providers import Choice
from hob.store import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class App:
    """Hob, open."""

    home: Path
    config: Config
    store: Store
    bus: Bus
    desk: Desk
    api: Api
    choice: Choice
    hands: HandsWhenNeeded
    reload: Reloading
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
    config, store, clock, telling, signals = kernel.config, kernel.store, kernel.clock, kernel.telling, kernel.signals
    opened = open_hands(config, store, kernel.hub, clock, kernel.environ, kernel.known, partial(_warn, kernel))
    hands = await stack.enter_async_context(opened)
    webhooks = WebhookParts(config, store, clock, telling, kernel.language, signals.outbox)
    alarm = OutboxAlarm(store, clock, telling.tell_late, kernel.language)
    upkeep = open_upkeep(config, store, hands, alarm, clock)
    stack.enter_context(signals.settings.heard_by(upkeep.change))

    def views() -> dict[str, Any]:
        return {"followers": list(webhooks.followers()), **upkeep.view()}

    return _Parts(Features(hands, views), webhooks, alarm, upkeep)


async def _warn(kernel: Kernel, remark: Remark) -> None:
    await kernel.telling.tell(render(remark, kernel.language), "obeyed")


async def _run(stack: AsyncExitStack, kernel: Kernel, parts: _Parts, services: TurnServices, extras: Extras) -> App:
    """Take up earlier work, deliver, and begin what goes on as long as Hob is open."""
    own = () if kernel.one_shot else parts.webhooks.channels
    channels = (*extras.channels, *own)
    stack.enter_context(kernel.channels.running(channels))
    bus = await stack.enter_async_context(
        run_bus(
            kernel.lanes,
            services.accept,
            turns=services.driver,
            commands=services.commands,
            channels=channels,
            said=services.door.said,
        )
    )
    attempts = Attempts(kernel.store.audit, kernel.clock)
    if not kernel.one_shot:
        services.prepare()
        await parts.webhooks.announcer.begin()
        alarm = parts.alarm
        owing = kernel.signals.outbox.heard_by(lambda to: alarm.owing() if kernel.channels.lead_to(to) else None)
        stack.enter_context(owing)
        announcing = parts.webhooks.announcer.run()
        await _watch(stack, kernel, services.guard.watch(), attempts.run(), parts.upkeep.run(), alarm.run(), announcing)
    accept = extras.wrap_accept(services.door.entrance(bus.accept))
    for channel in channels:
        await stack.enter_async_context(channel.run(accept))
    api = Api(
        accept,
        kernel.store,
        kernel.hub,
        services.desk,
        kernel.config[GatewaySettings],
        kernel.clock,
        kernel.keyring,
        kernel.registrar,
        services.guard.approving,
        services.offering,
        kernel.known,
        attempts,
        Reception(kernel.config[Webhooks]),
    )
    stack.enter_context(kernel.signals.settings.heard_by(lambda _: kernel.keyring.forget()))
    config, hands = kernel.config, parts.features.hands
    return App(
        config.home, config, kernel.store, bus, services.desk, api, kernel.choice, hands, services.reloading, kernel
    )


async def _watch(stack: AsyncExitStack, kernel: Kernel, *watches: Coroutine[Any, Any, None]) -> None:
    """What runs as long as a daemon does."""
    if kernel.store.unclean:
        log.warning("the last run did not end by itself; what it had in hand goes on", extra=OWN)
    watching = await stack.enter_async_context(asyncio.TaskGroup())
    for watch in watches:
        stack.callback(watching.create_task(watch).cancel)
