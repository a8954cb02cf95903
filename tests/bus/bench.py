"""A bus over a real store in a directory: tests put their turns, channels and crashes around it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from hob.bus.accept import Acceptor
from hob.bus.bus import Bus, run_bus
from hob.bus.directory import ChannelDirectory
from hob.bus.notices import Hub
from hob.bus.session_queues import SessionQueues
from hob.bus.settings import BusSettings
from hob.bus.signals import Signal
from hob.bus.turn_runner import BusContext
from hob.core.clock import Clock, SystemClock
from hob.core.ports.accept import Accepted
from hob.core.ports.channel import Channel
from hob.core.turns import QueueMode
from hob.store.messages.results import Result
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from tests.bus.scripts import ChatRouting, OpenDoor, Script, ScriptedTurns, TableCommands


@dataclass(frozen=True, slots=True)
class Bench:
    """One process of the bus."""

    store: Store
    bus: Bus
    turns: ScriptedTurns

    async def say(self, text: str, chat: str = "chat", *, key: str = "", channel: str = "memory") -> Accepted:
        """The owner writes in a chat, which is a session of its own."""
        return await self.bus.accept(message(text, key=key, channel=channel, chat=chat))

    async def outcome(self, accepted: Accepted) -> Result:
        """Return the message's result once it is settled. Raises TimeoutError after ten seconds."""
        with self.bus.hub.subscribe() as notices:
            async with asyncio.timeout(10):
                while True:
                    result = await self.store.results.find(accepted.id)
                    if result is not None and result.settled:
                        return result
                    await anext(notices)

    async def replies(self, *accepted: Accepted) -> list[str]:
        """Return the replies to these messages."""
        return [(await self.outcome(one)).reply for one in accepted]

    async def crash(self) -> None:
        """End as if the process were killed: nothing more is written. Leave the block next."""
        await self.store.abandon()


@asynccontextmanager
async def open_bench(
    home: Path,
    *,
    scripts: dict[str, Script] | None = None,
    commands: TableCommands | None = None,
    mode: QueueMode = QueueMode.STEER,
    door: OpenDoor | None = None,
    channels: Sequence[Channel] = (),
    settings: BusSettings | None = None,
    clock: Clock | None = None,
    own_only: bool = False,
    routing: ChatRouting | None = None,
) -> AsyncIterator[Bench]:
    """A process in this home that continues the work of earlier ones."""
    clock = clock or SystemClock()
    async with open_store(home, StoreSettings(), clock) as store:
        hub = Hub()
        turns = ScriptedTurns(store.journal, scripts, hub)
        context = BusContext(
            store,
            routing or ChatRouting(mode),
            settings or BusSettings(failure_seconds=0.01),
            clock,
            hub,
            "en",
            Signal(),
            ChannelDirectory(channels).limit_of,
            set() if own_only else None,
        )
        session_queues, commands = SessionQueues(context), commands or TableCommands()
        accept = Acceptor(
            context,
            commands=commands,
            admission=door or OpenDoor(),
            arrived=session_queues.arrived,
            adopt=session_queues.adopt if own_only else None,
        )
        async with run_bus(session_queues, accept, turns=turns, commands=commands, channels=channels) as bus:
            yield Bench(store, bus, turns)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition brought about by real threads. Raises TimeoutError after ten seconds."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - the condition is the test's, nobody sets an event for it
            await asyncio.sleep(0.001)
