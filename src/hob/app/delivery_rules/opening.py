"""Opening the delivery rules."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from hob.app.contribution import Contribution, Follower
from hob.app.delivery_rules.rules import DeliveryRules
from hob.app.kernel import Kernel
from hob.bus.delivery import SkipsMessages
from hob.bus.settings import DeliverySettings
from hob.core.events.timeline import EventKind
from hob.core.ids import TurnId
from hob.gateway.webusers import WebUsers

GATHER_SECONDS = 0.25
"""Window in which answers for linked chats are collected and sent together."""


@asynccontextmanager
async def open_delivery(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Create the delivery rules with the follower that forwards answers to linked chats."""
    rules = DeliveryRules(
        kernel.config[DeliverySettings],
        kernel.store,
        kernel.records,
        kernel.clock,
        kernel.channels.limit_of,
        kernel.signals.outbox,
    )
    await rules.load()

    async def erased(_: Collection[TurnId]) -> None:
        await rules.load()

    yield Contribution(
        provides={WebUsers: rules, SkipsMessages: rules},
        followers=(Follower("web_users", rules.follow, kinds=(EventKind.TURN,), pause=GATHER_SECONDS),),
        erase=erased,
        on_settings=rules.reconfigure,
    )
