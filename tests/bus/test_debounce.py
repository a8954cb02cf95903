"""Debounce: texts in quick succession form one message."""

from dataclasses import replace
from pathlib import Path

import pytest

from hob.bus.settings import BusSettings
from hob.core.ids import SessionKey
from hob.core.messages import Attachment, Inbound
from hob.core.ports.accept import Accepted
from hob.core.turns import QueueMode
from hob.testing.channel import message
from hob.testing.clock import ManualClock, settle
from tests.bus.bench import Bench, open_bench, until
from tests.bus.scripts import TableCommands

SETTINGS = BusSettings(debounce_by_channel={"memory": 2.0})


async def wait_until_it_rests(bench: Bench, clock: ManualClock) -> None:
    """Wait until the session queue has seen the messages and sleeps on the clock."""

    def rests() -> bool:
        session_queues = bench.bus.session_queues._queues.values()
        return (
            any(session_queue.interruptible and not session_queue.changed.is_set() for session_queue in session_queues)
            and clock.sleepers() == 1
        )

    await until(rests)


@pytest.mark.parametrize("mode", list(QueueMode))
async def test_texts_in_quick_succession_make_one_turn(tmp_path: Path, mode: QueueMode) -> None:
    clock = ManualClock()
    async with open_bench(tmp_path, settings=SETTINGS, clock=clock, mode=mode) as bench:
        said: list[Accepted] = []
        for text in ("one", "two", "three"):
            said.append(await bench.say(text))
            await wait_until_it_rests(bench, clock)
            await clock.advance(1.5)
        assert bench.turns.begun == []
        await wait_until_it_rests(bench, clock)
        await clock.advance(0.6)
        assert await bench.replies(*said) == ["one + two + three"] * 3


async def test_texts_of_two_senders_stay_apart_and_the_second_flushes_the_first(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_bench(tmp_path, settings=SETTINGS, clock=clock, mode=QueueMode.FOLLOWUP) as bench:
        first = await bench.bus.accept(message("one", sender="anna"))
        await wait_until_it_rests(bench, clock)
        second = await bench.bus.accept(message("two", sender="bert"))
        assert await bench.replies(first) == ["one"]
        await wait_until_it_rests(bench, clock)
        await clock.advance(2.1)
        assert await bench.replies(second) == ["two"]


async def test_file_flushes_what_waits(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_bench(tmp_path, settings=SETTINGS, clock=clock, mode=QueueMode.FOLLOWUP) as bench:
        first = await bench.say("look")
        await wait_until_it_rests(bench, clock)
        picture = (Attachment("image/png", link="https://example.org/a.png"),)
        second = await bench.bus.accept(replace(message("this"), attachments=picture))
        assert await bench.replies(first, second) == ["look", "this"]


async def test_command_flushes_what_waits(tmp_path: Path) -> None:
    async def fresh(inbound: Inbound, session: SessionKey) -> str:
        return "fresh"

    clock = ManualClock()
    commands = TableCommands(session_queue={"/new": fresh})
    async with open_bench(tmp_path, settings=SETTINGS, clock=clock, commands=commands) as bench:
        first = await bench.say("look")
        await wait_until_it_rests(bench, clock)
        assert await bench.replies(first, await bench.say("/new")) == ["look", "fresh"]


async def test_sender_who_never_pauses_is_answered_eventually(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_bench(tmp_path, settings=SETTINGS, clock=clock, mode=QueueMode.FOLLOWUP) as bench:
        for n in range(10):
            await bench.say(str(n))
            await wait_until_it_rests(bench, clock)
            await clock.advance(1.0)
            await settle()
        await until(lambda: bool(bench.turns.begun))


async def test_other_channels_are_not_debounced(tmp_path: Path) -> None:
    async with open_bench(tmp_path, settings=SETTINGS, clock=ManualClock()) as bench:
        assert await bench.replies(await bench.say("now", channel="api")) == ["now"]


async def test_restart_does_not_wait_for_a_debounce(tmp_path: Path) -> None:
    async with open_bench(tmp_path, settings=SETTINGS, clock=ManualClock()) as bench:
        said = await bench.say("one")
        await bench.store.abandon()
    async with open_bench(tmp_path, settings=SETTINGS, clock=ManualClock()) as bench:
        assert await bench.replies(said) == ["one"]
