"""After crashes, defects, full disks and shutdowns every accepted message still has exactly one outcome."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hob.bus.accept import Acceptor
from hob.bus.bus import Bus, run_bus
from hob.bus.notices import Hub
from hob.bus.session_queues import SessionQueues
from hob.bus.settings import BusSettings
from hob.bus.signals import Signal
from hob.bus.turn_runner import BusContext
from hob.core.clock import SystemClock
from hob.core.errors import StoreFull
from hob.core.events.notices import Progress
from hob.core.ids import SessionKey
from hob.core.messages import OutboundKind
from hob.core.ports.accept import Accepted
from hob.core.ports.turns import TurnControl
from hob.core.states import TurnState
from hob.core.steps import Noted
from hob.core.turns import Outcome, QueueMode, Turn
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from tests.bus.bench import Bench, open_bench, until
from tests.bus.scripts import ChatRouting, OpenDoor, Script, ScriptedTurns, TableCommands


async def forever(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
    await asyncio.Event().wait()
    raise AssertionError


def dying(bench: list[Bench], died: asyncio.Event) -> Script:
    """A script during which the process dies."""

    async def die(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        await bench[0].crash()
        died.set()
        return await forever(turns, turn, control)

    return die


SOON = BusSettings(suspect_seconds=0.05)
"""Settings under which quarantined turns are retried at once."""


async def run_until_death(home: Path, *say: tuple[str, str], settings: BusSettings | None = None) -> list[Accepted]:
    """One process that `poison` kills before any other message ends; return what it accepted."""
    box: list[Bench] = []
    died = asyncio.Event()
    said = []
    scripts: dict[str, Script] = {"poison": dying(box, died)}
    if say:
        scripts["slow"] = forever
    async with open_bench(home, scripts=scripts, settings=settings) as bench:
        box.append(bench)
        for text, chat in say:
            said.append(await bench.say(text, chat=chat))
        async with asyncio.timeout(10):
            await died.wait()
    return said


async def test_messages_waiting_at_a_crash_are_answered_at_the_next_start(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"slow": forever}, mode=QueueMode.FOLLOWUP) as bench:
        said = [await bench.say(text) for text in ("slow", "two", "three")]
        await until(lambda: bench.turns.active == 1)
        await bench.crash()
    async with open_bench(tmp_path, mode=QueueMode.FOLLOWUP) as bench:
        assert await bench.replies(*said) == ["slow", "two", "three"]
        assert [turn.inbounds[0].text for turn in bench.turns.begun] == ["slow", "two", "three"]


async def test_only_the_crashing_message_is_quarantined(tmp_path: Path) -> None:
    said = await run_until_death(tmp_path, ("slow", "one"), ("poison", "two"), ("slow", "three"), ("slow", "two"))
    for _ in range(2):
        await run_until_death(tmp_path)
    async with open_bench(tmp_path) as bench:
        results = [await bench.outcome(one) for one in said]
        assert [result.state for result in results] == ["done", "set_aside", "done", "done"]
        assert results[1].kind is OutboundKind.ERROR
        assert "hob retry" in results[1].reply
        pending = await bench.store.outbox.next("memory", "", 1e12)
        assert results[1].reply in [row.outbound.text for row in pending]


async def test_suspects_run_alone_one_at_a_time_and_oldest_first(tmp_path: Path) -> None:
    chats = ("one", "two", "three")
    async with open_bench(tmp_path, scripts={"slow": forever}) as bench:
        said = []
        for chat in chats:  # each begins before the next is sent; otherwise any may be the oldest
            said.append(await bench.say("slow", chat=chat))
            await until(lambda: bench.turns.active == len(said))
        await bench.crash()
    gates = {chat: asyncio.Event() for chat in chats}
    beside: list[Accepted] = []

    async def gated(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        await gates[turn.session].wait()
        return await turns.echo(turn)

    async with open_bench(tmp_path, scripts={"slow": gated}) as bench:
        for chat, accepted in zip(chats, said, strict=True):
            await until(lambda: bench.turns.active == 1)
            assert bench.turns.begun[-1].session == chat
            assert bench.turns.begun[-1].attempt == 1
            beside.append(await bench.say("hello", chat=f"beside {chat}"))
            await bench.store.inbox.counts()
            assert bench.turns.begun[-1].session == chat
            gates[chat].set()
            await bench.outcome(accepted)
        assert await bench.replies(*beside) == ["hello"] * 3


async def test_long_running_suspect_lets_the_next_start(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"slow": forever}) as bench:
        for chat in ("one", "two"):
            await bench.say("slow", chat=chat)
        await until(lambda: bench.turns.active == 2)
        await bench.crash()
    async with open_bench(tmp_path, scripts={"slow": forever}, settings=SOON) as bench:
        await until(lambda: bench.turns.active == 2)
        assert await bench.replies(await bench.say("hello", chat="three")) == ["hello"]


async def test_message_quarantined_with_others_is_retried_later(tmp_path: Path) -> None:
    said = await run_until_death(tmp_path, ("slow", "one"), ("poison", "two"))
    for _ in range(2):
        await run_until_death(tmp_path)
    async with open_bench(tmp_path, settings=SOON) as bench:
        assert (await bench.outcome(said[1])).state in ("set_aside", "done")
        await until(lambda: len(bench.turns.ended) == 1)
        assert await bench.replies(said[1]) == ["poison"]


async def test_message_killed_in_its_retry_is_retried_once_more(tmp_path: Path) -> None:
    said = await run_until_death(tmp_path, ("slow", "one"), ("poison", "two"))
    for _ in range(2):
        await run_until_death(tmp_path)
    await run_until_death(tmp_path, settings=SOON)
    async with open_bench(tmp_path, settings=SOON) as bench:
        await until(lambda: len(bench.turns.ended) == 1)
        assert await bench.replies(said[1]) == ["poison"]


async def test_paused_suspect_does_not_block_the_others(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"slow": forever}) as bench:
        first, second = await bench.say("slow", chat="one"), await bench.say("slow", chat="two")
        await until(lambda: bench.turns.active == 2)
        await bench.store.sessions.change(SessionKey("one"), paused=True)
        await bench.crash()
    async with open_bench(tmp_path) as bench:
        assert await bench.replies(second) == ["slow"]
        await bench.bus.session_queues.resume(SessionKey("one"))
        assert await bench.replies(first) == ["slow"]


async def test_turn_that_makes_progress_is_never_quarantined(tmp_path: Path) -> None:
    async def one_step_further(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        if len(await turns.journal.load_steps(turn.id)) > 4:
            return await turns.echo(turn)
        await turns.journal.append(turn.id, [Noted("further")])
        raise ZeroDivisionError

    async with open_bench(tmp_path, scripts={"slow": one_step_further}) as bench:
        assert await bench.replies(await bench.say("slow")) == ["slow"]
        assert len(bench.turns.begun) == 6


async def test_failing_turn_is_quarantined_after_three_attempts_and_reported(tmp_path: Path) -> None:
    async def broken(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        raise ZeroDivisionError

    async with open_bench(tmp_path, scripts={"broken": broken}, mode=QueueMode.FOLLOWUP) as bench:
        first, second = await bench.say("broken"), await bench.say("hello")
        result = await bench.outcome(first)
        assert (result.state, result.kind) == ("set_aside", OutboundKind.ERROR)
        assert await bench.replies(second) == ["hello"]
        assert [turn.inbounds[0].text for turn in bench.turns.begun] == ["broken"] * 3 + ["hello"]


async def test_turn_that_fails_after_its_end_stays_ended(tmp_path: Path) -> None:
    async def late(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        await turns.echo(turn)
        raise ZeroDivisionError

    async with open_bench(tmp_path, scripts={"late": late}) as bench:
        assert await bench.replies(await bench.say("late"), await bench.say("hello")) == ["late", "hello"]
        assert len(bench.turns.begun) == 2


async def test_turn_that_cancels_itself_counts_as_a_defect(tmp_path: Path) -> None:
    async def odd(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        raise asyncio.CancelledError

    async with open_bench(tmp_path, scripts={"odd": odd}) as bench:
        assert (await bench.outcome(await bench.say("odd"))).state == "set_aside"


async def test_retried_turn_runs_again(tmp_path: Path) -> None:
    async def at_the_fourth(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        if len(turns.begun) < 4:
            raise ZeroDivisionError
        return await turns.echo(turn)

    async with open_bench(tmp_path, scripts={"try": at_the_fourth}) as bench:
        said = await bench.say("try")
        assert (await bench.outcome(said)).state == "set_aside"
        retried = await bench.store.turns.retry(said.id)
        assert retried is not None
        assert await bench.bus.session_queues.wake(retried)
        await until(lambda: len(bench.turns.ended) == 1)
        assert await bench.replies(said) == ["try"]


async def test_full_disk_pauses_the_turn_with_one_notice_until_there_is_room(tmp_path: Path) -> None:
    async def full(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        if len(turns.begun) < 5:
            raise StoreFull
        return await turns.echo(turn)

    async with open_bench(tmp_path, scripts={"full": full}) as bench:
        with bench.bus.hub.subscribe() as notices:
            assert await bench.replies(await bench.say("full")) == ["full"]
            seen = [await anext(notices) for _ in range(2)]
        assert [isinstance(notice, Progress) for notice in seen] == [True, False]


async def test_turn_waiting_for_the_disk_releases_its_slot(tmp_path: Path) -> None:
    async def full(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        raise StoreFull

    settings = BusSettings(slots=1, failure_seconds=3600, failure_most_seconds=3600)
    async with open_bench(tmp_path, scripts={"full": full}, settings=settings) as bench:
        await bench.say("full", chat="one")
        assert await bench.replies(await bench.say("hello", chat="two")) == ["hello"]


async def test_drain_lets_running_turns_end(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def hold(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        await gate.wait()
        return await turns.echo(turn)

    async with open_bench(tmp_path, scripts={"hold": hold}, mode=QueueMode.FOLLOWUP) as bench:
        said = [await bench.say(text) for text in ("hold", "next")]
        await until(lambda: bench.turns.active == 1)
        async with asyncio.TaskGroup() as group:
            group.create_task(bench.bus.drain(10))
            await asyncio.sleep(0.01)
            gate.set()
        assert bench.turns.ended[0][2] == "hold"
        assert len(bench.turns.begun) == 1
    async with open_bench(tmp_path) as bench:
        assert await bench.replies(*said) == ["hold", "next"]


async def test_drain_releases_turns_that_do_not_end_in_time(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"slow": forever}) as bench:
        said = await bench.say("slow")
        await until(lambda: bench.turns.active == 1)
        await bench.bus.drain(0.05)
        row = await bench.store.turns.find(said.id)
        assert row is not None
        assert (row.state, row.attempts) == (TurnState.READY, 0)
    async with open_bench(tmp_path) as bench:
        assert await bench.replies(said) == ["slow"]
        assert bench.turns.begun[0].attempt == 0


async def test_drain_does_not_wait_for_paused_turns_or_for_slots(tmp_path: Path) -> None:
    async def full(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        raise StoreFull

    settings = BusSettings(slots=1, failure_seconds=3600, failure_most_seconds=3600)
    scripts: dict[str, Script] = {"full": full, "slow": forever}
    async with open_bench(tmp_path, scripts=scripts, settings=settings) as bench:
        for text, chat in (("full", "one"), ("slow", "two"), ("hello", "three")):
            await bench.say(text, chat=chat)
        await until(
            lambda: (
                bench.turns.active == 1 and sum(x.interruptible for x in bench.bus.session_queues._queues.values()) == 2
            )
        )
        async with asyncio.timeout(5):
            await bench.bus.drain(0.01)
        assert not bench.bus.session_queues._queues
        assert (await bench.store.turns.counts()).running == 0


async def test_leaving_the_block_leaves_running_turns_to_be_resumed(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"slow": forever}) as bench:
        said = await bench.say("slow")
        await until(lambda: bench.turns.active == 1)
    async with open_bench(tmp_path) as bench:
        assert await bench.replies(said) == ["slow"]


async def test_error_of_the_block_is_raised_as_itself(tmp_path: Path) -> None:
    async def fail() -> None:
        async with open_bench(tmp_path, scripts={"slow": forever}) as bench:
            await bench.say("slow")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()


async def test_start_with_a_broken_store_fails_at_once(tmp_path: Path) -> None:
    clock = SystemClock()
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        await store.abandon()
        context = BusContext(store, ChatRouting(), BusSettings(), clock, Hub(), "en", Signal())
        session_queues, commands = SessionQueues(context), TableCommands()
        accept = Acceptor(context, commands=commands, admission=OpenDoor(), arrived=session_queues.arrived)
        with pytest.raises(Exception, match="closed"):
            async with run_bus(session_queues, accept, turns=ScriptedTurns(store.journal), commands=commands) as bus:
                assert isinstance(bus, Bus)


async def test_one_shot_process_runs_only_its_own_message(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"slow": forever}) as bench:
        left = [await bench.say(text, chat=chat) for text, chat in (("slow", "a"), ("old", "a"), ("slow", "b"))]
        await until(lambda: bench.turns.active == 2)
        await bench.crash()
    async with open_bench(tmp_path, own_only=True) as bench:
        assert await bench.replies(await bench.say("mine", chat="a")) == ["mine"]
        assert len(bench.turns.begun) == 1
        await bench.bus.session_queues.adopt(left[0].id)
        assert await bench.replies(left[0]) == ["slow"]
    async with open_bench(tmp_path) as bench:
        assert await bench.replies(*left) == ["slow", "old", "slow"]
        assert sorted(turn.inbounds[0].text for turn in bench.turns.begun) == ["old", "slow"]


async def test_key_repeated_during_a_claim_runs_once(tmp_path: Path) -> None:
    async with open_bench(tmp_path, own_only=True) as bench:
        claim, claimed, go = bench.store.inbox.claim, asyncio.Event(), asyncio.Event()

        async def slow(*arguments: Any) -> Turn:
            turn = await claim(*arguments)
            claimed.set()
            await go.wait()
            return turn

        bench.store.inbox.claim = slow  # type: ignore[assignment, method-assign]
        first = await bench.say("hello", key="k")
        await claimed.wait()
        async with asyncio.TaskGroup() as group:
            again = group.create_task(bench.say("hello", key="k"))
            for _ in range(5):  # a key that did not wait for the claim would get past it
                await bench.store.inbox.counts()
            go.set()
        assert await bench.replies(first, again.result()) == ["hello", "hello"]
        await until(lambda: not bench.bus.session_queues._queues)
        row = await bench.store.turns.find(first.id)
        assert row is not None
        assert (len(bench.turns.begun), row.attempts) == (1, 0)


async def test_one_shot_process_merges_no_older_message(tmp_path: Path) -> None:
    started, go = asyncio.Event(), asyncio.Event()
    joined: list[str] = []

    async def ask(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        started.set()
        await go.wait()
        joined.extend(one.text for one in await turns.journal.steer(turn.id, control.joinable()))
        return await turns.echo(turn)

    async with open_bench(tmp_path) as bench:
        await bench.store.sessions.change(SessionKey("chat"), paused=True)
        old = await bench.say("old and dangerous")
    async with open_bench(tmp_path, scripts={"ask": ask}, own_only=True) as bench:
        await bench.bus.session_queues.resume(SessionKey("chat"))
        mine = await bench.say("ask me")
        await started.wait()
        more = await bench.say("and more")
        go.set()
        assert await bench.replies(mine, more) == ["ask me", "and more"]
        assert joined == []
        row = await bench.store.results.find(old.id)
        assert row is not None
        assert row.state == "waiting"


async def test_one_shot_process_runs_an_older_message_with_the_same_key(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        await bench.store.sessions.change(SessionKey("chat"), paused=True)
        old = await bench.say("old", key="k")
        await bench.crash()
    async with open_bench(tmp_path, own_only=True) as bench:
        await bench.bus.session_queues.resume(SessionKey("chat"))
        assert bench.turns.begun == []
        again = await bench.say("old", key="k")
        assert again.id == old.id
        assert await bench.replies(again) == ["old"]
