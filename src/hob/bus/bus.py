"""The bus: opens and closes queues, workers and delivery, and waits for the last sends on shutdown."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from hob.bus.accept import Acceptor
from hob.bus.delivery import OutboxDelivery
from hob.bus.halt import cancel_halted, load_halt
from hob.bus.notices import Hub
from hob.bus.session_queues import SessionQueues
from hob.bus.waiting import unwrap_single_error
from hob.bus.worker_pool import WorkerPool
from hob.core.clock import Clock
from hob.core.messages import Address, Outbound
from hob.core.ports.channel import Channel
from hob.core.ports.turns import Commands, Turns
from hob.core.values import dataclass

LAST_SENDS_SECONDS = 5.0
"""Seconds for which a shutdown waits for sends in progress."""


@dataclass(frozen=True, slots=True)
class Bus:
    """The running bus."""

    accept: Acceptor
    session_queues: SessionQueues
    delivery: OutboxDelivery
    hub: Hub
    clock: Clock

    async def drain(self, seconds: float) -> None:
        """Refuse new messages (Stopping), give running turns this long to end, and leave the rest to be resumed.

        Sends in progress may finish meanwhile; a hanging send delays this by a few seconds at most.
        """
        self.accept.stop()
        until = self.clock.monotonic() + seconds
        await self.session_queues.drain(seconds)
        left = max(0.0, until - self.clock.monotonic())
        await self.delivery.drain(min(left, LAST_SENDS_SECONDS))
        self.hub.close()  # clients waiting for an outcome are informed that it comes later


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
    """Resume the work of earlier processes and deliver until the block ends; unfinished turns are then left to be
    resumed.

    A process that runs only its own messages (`BusContext.mine`), the one-shot owner of a home, resumes nothing.
    `on_sent` is called with the address of each send, `skips` returns why a chunk is not sent. A defect of the bus
    itself ends the block with that error, after running turns were released. Raises StoreErrors if the store fails
    during startup.
    """
    context = session_queues.context
    with unwrap_single_error():
        async with asyncio.TaskGroup() as group:
            store, settings, clock = context.store, context.settings, context.clock
            delivery = OutboxDelivery(
                store, channels, settings=settings, clock=clock, group=group, on_sent=on_sent, skips=skips
            )
            bus = Bus(accept, session_queues, delivery, context.hub, clock)
            await load_halt(context)
            if context.mine is None:
                await session_queues.recover()
                await cancel_halted(session_queues, "/stop all")
            with (
                context.outbox.subscribed(delivery.pending),
                WorkerPool(session_queues, turns, commands, group).working(),
            ):
                delivery.start()  # after the recovery, which may have written to the outbox
                try:
                    yield bus
                finally:
                    await bus.drain(0.0)
