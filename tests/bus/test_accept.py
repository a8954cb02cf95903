"""Accepting messages: admission, exactly once, and durably or not at all."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hob.bus.settings import MODES, BusSettings
from hob.core.errors import Busy, BusyScope, InvalidRequest, NotAllowed, ShuttingDown, StoreError, StoreFull
from hob.core.events.timeline import EventKind
from hob.core.ids import SessionKey
from hob.core.messages import Attachment, Inbound, Quoted
from hob.core.ports.accept import Accepted
from hob.core.translation.sentences import BUSY_SENTENCES, say
from hob.core.turns import QueueMode
from hob.testing.channel import message
from tests.bus.bench import open_bench, until
from tests.bus.scripts import OpenDoor, TableCommands


async def test_same_key_makes_one_turn_concurrently_later_and_after_a_restart(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        many = await asyncio.gather(*(bench.say("hello", key="k1") for _ in range(10)))
        assert len({accepted.id for accepted in many}) == 1
        assert sorted(accepted.duplicate for accepted in many) == [False] + [True] * 9
        await bench.outcome(many[0])
        assert (await bench.say("hello", key="k1")).id == many[0].id
    async with open_bench(tmp_path) as bench:
        again = await bench.say("hello", key="k1")
        assert (again.id, again.trace, again.duplicate) == (many[0].id, many[0].trace, True)
        assert await bench.replies(again) == ["hello"]
        assert bench.turns.begun == []


async def test_arrival_command_is_answered_at_once_and_always_the_same(tmp_path: Path) -> None:
    counted = 0

    async def count(inbound: Inbound, session: SessionKey) -> str:
        nonlocal counted
        counted += 1
        await asyncio.sleep(0)
        return f"{session} {counted}"

    commands = TableCommands(arrival={"/count": count})
    async with open_bench(tmp_path, commands=commands) as bench:
        both = await asyncio.gather(*(bench.say("/count", key="k") for _ in range(2)))
        assert [accepted.answer for accepted in both] == ["chat 1", "chat 1"]
        assert (await bench.outcome(both[0])).reply == "chat 1"
    async with open_bench(tmp_path, commands=commands) as bench:
        again = await bench.say("/count", key="k")
        assert (again.answer, again.duplicate, counted) == ("chat 1", True, 1)
        kinds = [event.kind for event in await bench.store.timeline.trace(again.trace)]
        assert (kinds[0], kinds.count(EventKind.COMMAND)) == (EventKind.INBOUND, 1)


async def test_arrival_command_does_not_wait_for_the_running_turn(tmp_path: Path) -> None:
    async def stop(inbound: Inbound, session: SessionKey) -> str:
        return "stopped" if await bench.bus.session_queues.stop(session, "/stop") else "nothing"

    async def forever(*_: object) -> None:
        await asyncio.Event().wait()

    commands = TableCommands(arrival={"/stop": stop})
    async with open_bench(tmp_path, commands=commands, scripts={"hold": forever}) as bench:  # type: ignore[dict-item]
        first = await bench.say("hold")
        await until(lambda: bench.turns.active == 1)
        assert (await bench.say("/stop")).answer == "stopped"
        assert await bench.replies(first) == ["stopped: /stop"]


async def test_command_applies_to_the_session_its_chat_was_switched_to(tmp_path: Path) -> None:
    async def where(inbound: Inbound, session: SessionKey) -> str:
        return session

    async with open_bench(tmp_path, commands=TableCommands(arrival={"/where": where})) as bench:
        await bench.store.sessions.switch(message("").origin.key(), SessionKey("work"))
        accepted = await bench.say("/where")
        assert (accepted.answer, accepted.session) == ("work", "work")
        assert (await bench.say("hello")).session == "work"


async def test_failing_arrival_command_is_answered_with_an_error(tmp_path: Path) -> None:
    async def broken(inbound: Inbound, session: SessionKey) -> str:
        raise ZeroDivisionError

    async with open_bench(tmp_path, commands=TableCommands(arrival={"/broken": broken})) as bench:
        assert "/broken failed" in str((await bench.say("/broken")).answer)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(message("x"), key=""),
        message(""),
        message(" \n\t"),
        message("x" * 101),
        replace(message("x"), quoted=(Quoted("y" * 100),)),
    ],
)
async def test_empty_or_too_long_message_is_refused(tmp_path: Path, wrong: Inbound) -> None:
    async with open_bench(tmp_path, settings=BusSettings(max_text=100)) as bench:
        with pytest.raises(InvalidRequest):
            await bench.bus.accept(wrong)
        assert (await bench.store.timeline.latest(10)) == ()


async def test_message_may_consist_of_files_only(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        await bench.store.sessions.change(SessionKey("chat"), paused=True)
        inbound = replace(message(""), attachments=(Attachment("image/png", link="https://example.org/a.png"),))
        accepted = await bench.bus.accept(inbound)
        event = (await bench.store.timeline.trace(accepted.trace))[0]
        assert event.type == "IMAGE"


async def test_blocked_sender_is_told_so_and_leaves_no_trace(tmp_path: Path) -> None:
    async with open_bench(tmp_path, door=OpenDoor("mallory")) as bench:
        with pytest.raises(NotAllowed) as refused:
            await bench.bus.accept(message("hello", sender="mallory"))
        assert refused.value.line == "You may not."
        assert (await bench.store.timeline.latest(10)) == ()


async def test_chain_of_self_made_messages_is_limited(tmp_path: Path) -> None:
    async with open_bench(tmp_path, settings=BusSettings(max_hops=2)) as bench:
        await bench.bus.accept(replace(message("x"), hops=2))
        with pytest.raises(NotAllowed):
            await bench.bus.accept(replace(message("x"), hops=3))


async def test_self_made_messages_have_an_hourly_cap(tmp_path: Path) -> None:
    async with open_bench(tmp_path, settings=BusSettings(self_made_per_hour=2)) as bench:
        for _ in range(2):
            await bench.outcome(await bench.bus.accept(replace(message("x"), hops=1)))
        with pytest.raises(Busy) as busy:
            await bench.bus.accept(replace(message("x"), hops=1))
        assert busy.value.scope is BusyScope.SELF
        assert await bench.replies(await bench.say("a person may")) == ["a person may"]


@pytest.mark.parametrize(
    ("settings", "scope"),
    [
        (BusSettings(session_waiting=2), BusyScope.LANE),
        (BusSettings(sender_waiting=2), BusyScope.SENDER),
        (BusSettings(total_waiting=2), BusyScope.TOTAL),
    ],
)
async def test_full_queue_refuses_but_not_a_repeated_key(
    tmp_path: Path, settings: BusSettings, scope: BusyScope
) -> None:
    async with open_bench(tmp_path, settings=settings, mode=QueueMode.FOLLOWUP) as bench:
        await bench.store.sessions.change(SessionKey("chat"), paused=True)
        said = [await bench.say(str(n), key=str(n)) for n in range(2)]
        with pytest.raises(Busy) as busy:
            await bench.say("3")
        assert busy.value.scope is scope
        assert busy.value.retry_after > 0
        assert str(busy.value) == say(BUSY_SENTENCES[scope], wait="10 seconds")
        assert (await bench.say("0", key="0")).id == said[0].id
        await bench.bus.session_queues.resume(SessionKey("chat"))
        assert await bench.replies(*said) == ["0", "1"]


async def test_draining_bus_refuses_messages(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        await bench.bus.drain(1)
        with pytest.raises(ShuttingDown):
            await bench.say("hello")


async def test_bus_acknowledges_nothing_without_a_store(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        await bench.crash()
        with pytest.raises(StoreError, match="this message was not taken"):
            await bench.say("hello")


async def test_full_disk_is_reported_in_the_configured_language(tmp_path: Path) -> None:
    async def full(*arguments: Any, **named: Any) -> Accepted:
        raise StoreFull

    async with open_bench(tmp_path) as bench:
        bench.store.inbox.accept = full  # type: ignore[method-assign]
        with pytest.raises(StoreFull, match="this message was not taken"):
            await bench.say("hello")


async def test_message_is_classified_and_labelled_in_the_timeline(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        accepted = await bench.say("hello")
        event = (await bench.store.timeline.trace(accepted.trace))[0]
        assert (event.kind, event.classification, event.sender_id) == (EventKind.INBOUND, "owner", "owner")
        assert event.label == message("").label
        assert (event.text, event.session) == ("hello", "chat")


def test_every_queue_mode_can_be_set_for_all_channels_and_for_one() -> None:
    assert tuple(mode.value for mode in QueueMode) == MODES
    settings = BusSettings(queue_mode="collect", queue_mode_by_channel={"a": "steer"})
    assert [settings.mode_of(channel) for channel in "ab"] == ["steer", "collect"]
