"""The bus: opens and closes queues, workers and delivery, and waits at the end for the last sends."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from hob.bus.accept import Acceptor
from hob.bus.delivery import OutboxDelivery
from hob.bus.halt import end_halted, load_halt
from hob.bus.notices import Hub
from hob.bus.session_queues import SessionQueues
from hob.bus.waiting import one_failure_as_itself
from hob.bus.worker_pool import WorkerPool
from hob.core.clock import Clock
from hob.core.messages import Address, Outbound
from hob.core.ports.channel import Channel
from hob.core.ports.turns import Commands, Turns
from hob.core.values import dataclass

LAST_SENDS_SECONDS = 5.0
"""How long a shutdown waits for messages that are on their way."""


@dataclass(frozen=True, slots=True)
class Bus:
    """Delivery, open."""

    accept: Acceptor
    session_queues: SessionQueues
    delivery: OutboxDelivery
    hub: Hub
    clock: Clock

    async def drain(self, seconds: float) -> None:
        """Accept nothing more (Stopping), let running turns end for so long, leave the rest to be resumed.

        What is on its way to a channel may arrive meanwhile; a send that hangs delays this by a few seconds at most.
        """
        self.accept.stop()
        until = self.clock.monotonic() + seconds
        await self.session_queues.drain(seconds)
        left = max(0.0, until - self.clock.monotonic())
        await self.delivery.drain(min(left, LAST_SENDS_SECONDS))
        self.hub.close()  # anyone who still waits for an outcome learns that it comes later


@asynccontextmanager
async def run_bus(
    session_queues: SessionQueues,
    accept: Acceptor,
    *,
    turns: Turns,
    commands: Commands,
    channels: Sequence[Channel] = (),
    on_sent: Callable[[Address], None] = lambda to: None,
    skips: Callable[[Outbound], str] = lambda outbound: "",
) -> AsyncIterator[Bus]:
    """Take up what earlier runs left, and deliver until the block ends; then what runs is left to be resumed.

    Where only own messages are to be run (`BusContext.mine`), nothing earlier is taken up: the one-shot owner of a
    home. `on_sent` is told where something is sent to, `skips` tells why a chunk is not. A defect of the bus itself
    ends the block with that error, after running turns were put back. Raises StoreErrors when the store fails
    while starting.
    """
    context = session_queues.context
    with one_failure_as_itself():
        async with asyncio.TaskGroup() as group:
            store, settings, clock = context.store, context.settings, context.clock
            delivery = OutboxDelivery(
                store, channels, settings=settings, clock=clock, group=group, on_sent=on_sent, skips=skips
            )
            bus = Bus(accept, session_queues, delivery, context.hub, clock)
            await load_halt(context)
            if context.mine is None:
                await session_queues.recover()
                await end_halted(session_queues, "/stop all")
            with (
                context.outbox.subscribed(delivery.pending),
                WorkerPool(session_queues, turns, commands, group).working(),
            ):
                delivery.start()  # after the recovery, which may have left it something to deliver
                try:
                    yield bus
                finally:
                    await bus.drain(0.0)
