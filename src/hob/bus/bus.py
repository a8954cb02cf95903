"""The bus as one block: what is opened here is closed here, and no task of it outlives it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from hob.bus.accept import Acceptor, Questions
from hob.bus.courier import Courier
from hob.bus.lanes import Lanes
from hob.bus.notices import Hub
from hob.bus.performing import Surroundings
from hob.bus.settings import BusSettings
from hob.core.clock import Clock
from hob.core.messages import Address
from hob.core.ports.channel import Channel
from hob.core.ports.guard import Admission
from hob.core.ports.turns import Commands, Routing, Turns
from hob.store import Store

LAST_SENDS_SECONDS = 5.0
"""How long a shutdown waits for messages that are on their way."""


@dataclass(frozen=True, slots=True)
class Bus:
    """Delivery, open."""

    accept: Acceptor
    lanes: Lanes
    courier: Courier
    hub: Hub
    clock: Clock

    async def drain(self, seconds: float) -> None:
        """Accept nothing more (Stopping), let running turns end for so long, leave the rest to be resumed.

        What is on its way to a channel may arrive meanwhile; a send that hangs delays this by a few seconds at most.
        """
        self.accept.stop()
        until = self.clock.monotonic() + seconds
        await self.lanes.drain(seconds)
        left = max(0.0, until - self.clock.monotonic())
        await self.courier.drain(min(left, LAST_SENDS_SECONDS))
        self.hub.close()  # whoever still waits for an outcome learns that it comes later


@asynccontextmanager
async def open_bus(
    store: Store,
    *,
    turns: Turns,
    commands: Commands,
    routing: Routing,
    admission: Admission,
    channels: Sequence[Channel] = (),
    settings: BusSettings,
    clock: Clock,
    hub: Hub | None = None,
    questions: Questions | None = None,
    language: str = "en",
    own_only: bool = False,
    said: Callable[[Address], None] = lambda to: None,
    owing: Callable[[], None] = lambda: None,
) -> AsyncIterator[Bus]:
    """Take up what earlier runs left, and deliver until the block ends; then what runs is left to be resumed.

    With `own_only` nothing is run but what is accepted (or adopted) from now on: the one-shot owner of a home. `said`
    is told where something is sent to, `owing` that something may be owed to a channel.

    The same hub has to be given to the turns. A defect of the bus itself ends the block with that error, after
    running turns were put back. Raises StoreErrors when the store fails while starting.
    """
    hub = hub or Hub()
    with _one_failure_as_itself():
        async with asyncio.TaskGroup() as group:
            courier = Courier(store, channels, settings=settings, clock=clock, group=group, said=said, owing=owing)
            around = Surroundings(
                store=store,
                turns=turns,
                commands=commands,
                routing=routing,
                settings=settings,
                clock=clock,
                hub=hub,
                language=language,
                group=group,
                slots=asyncio.Semaphore(settings.slots),
                owed=courier.owed,
                limit_of=courier.limit_of,
                mine=set() if own_only else None,
            )
            lanes = Lanes(around)
            accept = Acceptor(
                around,
                admission=admission,
                arrived=lanes.arrived,
                adopt=lanes.adopt if own_only else None,
                questions=questions,
            )
            bus = Bus(accept, lanes, courier, hub, clock)
            await lanes.start()
            courier.start()  # after the recovery, which may have left it something to deliver
            try:
                yield bus
            finally:
                await bus.drain(0.0)
                hub.close()


@contextmanager
def _one_failure_as_itself() -> Iterator[None]:
    """A group of one failure is raised as that failure: the owner of the block need not know that there are tasks."""
    try:
        yield
    except BaseExceptionGroup as failed:
        if len(failed.exceptions) == 1:
            raise failed.exceptions[0] from None
        raise
