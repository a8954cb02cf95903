"""Queues over the store alone: without workers they still stop, cancel, wake and resume."""

from pathlib import Path

from hob.bus.accept import Acceptor
from hob.bus.notices import Hub
from hob.bus.session_queues import SessionQueues
from hob.bus.settings import BusSettings
from hob.bus.signals import Signal
from hob.bus.turn_runner import BusContext
from hob.core.clock import SystemClock
from hob.core.ids import SessionKey
from hob.core.turns import Parked, WaitsFor
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from tests.bus.bench import open_bench
from tests.bus.scripts import ChatRouting, OpenDoor, TableCommands

CHAT = SessionKey("chat")


def queues_over(store: Store) -> tuple[SessionQueues, Acceptor]:
    context = BusContext(store, ChatRouting(), BusSettings(), SystemClock(), Hub(), "en", Signal())
    session_queues = SessionQueues(context)
    return session_queues, Acceptor(
        context, commands=TableCommands(), admission=OpenDoor(), arrived=session_queues.arrived
    )


async def test_queues_without_workers_cancel_waiting_messages(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        session_queues, accept = queues_over(store)
        said = await accept(message("hi", chat="chat"))
        assert await session_queues.cancel(said.id, "not needed")
        assert await store.inbox.waiting(CHAT) == ()


async def test_queues_without_workers_cancel_a_parked_turn(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        session_queues, accept = queues_over(store)
        said = await accept(message("hi", chat="chat"))
        turn = await store.inbox.claim(CHAT, [said.id])
        await store.turns.park(turn.id, Parked(WaitsFor.APPROVAL))
        assert await session_queues.wake(turn.id)
        assert await session_queues.stop(CHAT, "not needed")
        assert (await store.results.find(said.id)).state == "cancelled"  # type: ignore[union-attr]


async def test_session_resumed_without_workers_is_answered_once_they_start(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        session_queues, accept = queues_over(store)
        said = await accept(message("hi", chat="chat"))
        await store.sessions.change(CHAT, paused=True)
        await session_queues.resume(CHAT)
        await session_queues.drain(0)
    async with open_bench(tmp_path) as bench:
        assert await bench.replies(said) == ["hi"]
