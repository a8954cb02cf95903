"""Session queues: order, one turn per session at a time, modes, stopping, parking."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hob.bus.running_turn import RunningTurn
from hob.bus.settings import BusSettings
from hob.core.errors import StoreFull
from hob.core.events.notices import Progress
from hob.core.ids import SessionKey, TurnId
from hob.core.messages import Inbound, OutboundKind
from hob.core.ports.accept import Accepted
from hob.core.ports.turns import TurnControl
from hob.core.states import TurnState
from hob.core.translation.sentences import Sentence, say
from hob.core.turns import Outcome, Parked, QueueMode, Session, Turn, WaitsFor
from hob.store.messages.inbox import Waiting
from hob.store.messages.results import Result
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from tests.bus.bench import open_bench, until
from tests.bus.scripts import ChatRouting, Script, ScriptedTurns, TableCommands

CHAT = SessionKey("chat")


class Gate:
    """A script that answers only when the gate is opened."""

    def __init__(self) -> None:
        self.open = asyncio.Event()

    async def __call__(self, turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        await self.open.wait()
        return await turns.echo(turn)


async def test_message_is_answered(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        assert await bench.replies(await bench.say("hello")) == ["hello"]


async def test_session_queue_is_closed_when_its_work_is_done(tmp_path: Path, rounds: Callable[[int, int], int]) -> None:
    async with open_bench(tmp_path) as bench:
        for n in range(rounds(30, 3_000)):
            await bench.outcome(await bench.say("hello", chat=f"chat {n}"))
        await until(lambda: not bench.bus.session_queues._queues)
        assert not bench.bus.session_queues._context.running_turns


async def test_messages_of_a_session_run_in_order_and_never_concurrently(tmp_path: Path) -> None:
    async with open_bench(tmp_path, mode=QueueMode.FOLLOWUP) as bench:
        said = [await bench.say(f"number {n}") for n in range(15)]
        assert await bench.replies(*said) == [f"number {n}" for n in range(15)]
        assert [turn.inbounds[0].text for turn in bench.turns.begun] == [f"number {n}" for n in range(15)]
        assert bench.turns.overlaps == []


async def test_concurrent_turns_are_limited(tmp_path: Path) -> None:
    gate = Gate()
    async with open_bench(tmp_path, scripts={"hold": gate}, settings=BusSettings(slots=3)) as bench:
        said = [await bench.say("hold", chat=f"chat {n}") for n in range(9)]
        await until(lambda: bench.turns.active == 3)
        gate.open.set()
        await bench.replies(*said)
        assert bench.turns.maximum == 3


async def test_busy_session_does_not_block_another(tmp_path: Path) -> None:
    gate = Gate()
    async with open_bench(tmp_path, scripts={"hold": gate}) as bench:
        await bench.say("hold", chat="one")
        assert await bench.replies(await bench.say("hello", chat="two")) == ["hello"]
        gate.open.set()


async def test_collect_merges_waiting_messages_into_one_turn(tmp_path: Path) -> None:
    gate = Gate()
    async with open_bench(tmp_path, scripts={"hold": gate}, mode=QueueMode.COLLECT) as bench:
        first = await bench.say("hold")
        await until(lambda: bench.turns.active == 1)
        said = [await bench.say(text) for text in ("one", "two", "three")]
        gate.open.set()
        assert await bench.replies(first, *said) == ["hold"] + ["one + two + three"] * 3
        assert (await bench.outcome(said[2])).merged_into == said[0].id


async def test_collect_includes_a_message_that_arrives_right_before_the_turn(tmp_path: Path) -> None:
    async with open_bench(tmp_path, mode=QueueMode.COLLECT) as bench:
        queue = bench.store.inbox.queue
        late: list[Accepted] = []

        async def slow(session: SessionKey) -> tuple[Session, tuple[Waiting, ...]]:
            found = await queue(session)
            if not late:
                late.append(await bench.say("two"))
            return found

        bench.store.inbox.queue = slow  # type: ignore[method-assign]
        assert await bench.replies(await bench.say("one")) == ["one + two"]


async def test_message_during_a_turn_joins_it_at_the_next_round(tmp_path: Path) -> None:
    arrived = asyncio.Event()

    async def steerable(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        arrived.set()
        await until(lambda: bool(control.joinable()))
        taken = await turns.journal.steer(turn.id, control.joinable())
        control.mark_joined([inbound.id for inbound in taken])
        assert not control.joinable()
        return await turns.finish(turn, f"with {taken[0].text}")

    async with open_bench(tmp_path, scripts={"work": steerable}) as bench:
        first = await bench.say("work")
        await arrived.wait()
        second = await bench.say("no, blue")
        assert await bench.replies(first, second) == ["with no, blue"] * 2
        assert (await bench.outcome(second)).merged_into == first.id


async def test_messages_waiting_before_a_turn_may_join_it(tmp_path: Path) -> None:
    gate = Gate()

    async def asking(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        taken = await turns.journal.steer(turn.id, control.joinable())
        return await turns.finish(turn, f"with {len(taken)}")

    async with open_bench(tmp_path, scripts={"hold": gate, "ask": asking}) as bench:
        said = [await bench.say(text) for text in ("hold", "ask", "more", "and more")]
        gate.open.set()
        assert await bench.replies(*said) == ["hold", "with 2", "with 2", "with 2"]


async def test_message_that_did_not_join_the_turn_runs_next(tmp_path: Path) -> None:
    gate = Gate()
    async with open_bench(tmp_path, scripts={"hold": gate}) as bench:
        first = await bench.say("hold")
        await until(lambda: bench.turns.active == 1)
        second = await bench.say("later")
        gate.open.set()
        assert await bench.replies(first, second) == ["hold", "later"]


async def test_messages_do_not_join_in_followup_and_collect_modes(tmp_path: Path) -> None:
    for mode in (QueueMode.FOLLOWUP, QueueMode.COLLECT):
        seen: list[bool] = []

        async def asking(turns: ScriptedTurns, turn: Turn, control: TurnControl, seen: list[bool] = seen) -> Outcome:
            await bench.say("more")
            await asyncio.sleep(0.02)
            seen.append(bool(control.joinable()))
            return await turns.echo(turn)

        async with open_bench(tmp_path / mode, scripts={"ask": asking}, mode=mode) as bench:
            await bench.outcome(await bench.say("ask"))
        assert seen == [False]


async def test_interrupt_cancels_the_turn_and_merges_waiting_messages(tmp_path: Path) -> None:
    gate = Gate()
    async with open_bench(tmp_path, scripts={"hold": gate}, mode=QueueMode.INTERRUPT) as bench:
        first = await bench.say("hold")
        await until(lambda: bench.turns.active == 1)
        second = await bench.say("instead")
        assert await bench.replies(first, second) == ["stopped: a newer message came in", "instead"]
        assert (await bench.outcome(first)).state == TurnState.CANCELLED


async def test_session_may_choose_its_own_mode(tmp_path: Path) -> None:
    gate = Gate()
    async with open_bench(tmp_path, scripts={"hold": gate}, mode=QueueMode.STEER) as bench:
        await bench.store.sessions.change(CHAT, mode=QueueMode.INTERRUPT)
        first = await bench.say("hold")
        await until(lambda: bench.turns.active == 1)
        await bench.say("instead")
        assert (await bench.outcome(first)).state == TurnState.CANCELLED


async def test_session_command_runs_in_order(tmp_path: Path) -> None:
    heard: list[str] = []
    gate = Gate()

    async def new(inbound: Inbound, session: SessionKey) -> str:
        heard.extend(text for _, _, text in bench.turns.ended)
        return "fresh"

    commands = TableCommands(session_queue={"/new": new})
    async with open_bench(tmp_path, scripts={"hold": gate}, commands=commands, mode=QueueMode.COLLECT) as bench:
        said = [await bench.say(text) for text in ("hold", "before", "/new", "after")]
        gate.open.set()
        assert (await bench.replies(*said))[2:] == ["fresh", "after"]
        assert "after" not in " ".join(heard)
        assert "before" in " ".join(heard)


async def test_waiting_command_keeps_later_messages_out_of_the_running_turn(tmp_path: Path) -> None:
    async def fine(inbound: Inbound, session: SessionKey) -> str:
        return "fresh"

    gate = Gate()
    taken: list[Inbound] = []

    async def steering(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        await gate.open.wait()
        taken.extend(await turns.journal.steer(turn.id, control.joinable()))
        return await turns.echo(turn)

    commands = TableCommands(session_queue={"/new": fine})
    async with open_bench(tmp_path, scripts={"hold": steering}, commands=commands) as bench:
        said = [await bench.say(text) for text in ("hold", "/new", "after")]
        gate.open.set()
        assert await bench.replies(*said) == ["hold", "fresh", "after"]
        assert taken == []


async def test_failing_session_command_does_not_block_its_queue(tmp_path: Path) -> None:
    async def broken(inbound: Inbound, session: SessionKey) -> str:
        raise ZeroDivisionError

    async with open_bench(tmp_path, commands=TableCommands(session_queue={"/new": broken})) as bench:
        said = [await bench.say(text) for text in ("/new", "hello")]
        replies = await bench.replies(*said)
        assert "/new failed" in replies[0]
        assert replies[1] == "hello"


async def test_stopping_ends_the_running_turn_only(tmp_path: Path) -> None:
    gate = Gate()
    async with open_bench(tmp_path, scripts={"hold": gate}, mode=QueueMode.FOLLOWUP) as bench:
        first, second = await bench.say("hold"), await bench.say("next")
        await until(lambda: bench.turns.active == 1)
        assert await bench.bus.session_queues.stop(CHAT, "you said so")
        assert await bench.replies(first, second) == ["stopped: you said so", "next"]
        assert not await bench.bus.session_queues.stop(CHAT, "again")


async def test_waiting_message_can_be_cancelled_by_its_id(tmp_path: Path) -> None:
    gate = Gate()
    async with open_bench(tmp_path, scripts={"hold": gate}, mode=QueueMode.FOLLOWUP) as bench:
        first, second, third = [await bench.say(text) for text in ("hold", "no", "yes")]
        await until(lambda: bench.turns.active == 1)
        assert await bench.bus.session_queues.cancel(second.id, "changed my mind")
        assert not await bench.bus.session_queues.cancel(second.id, "again")
        gate.open.set()
        assert await bench.replies(first, third) == ["hold", "yes"]
        told = "This message was not answered: it was cancelled before its turn came (changed my mind)."
        result = await bench.outcome(second)
        assert (result.state, result.reply, result.kind) == ("cancelled", told, OutboundKind.NOTICE)
        pending = await bench.store.outbox.next("memory", "", 1e12)
        assert [row.outbound.text for row in pending] == [told]


async def test_sender_to_a_paused_session_is_told_at_once(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        await bench.store.sessions.change(CHAT, paused=True)
        with bench.bus.hub.subscribe(session=CHAT) as notices:
            said = await bench.say("hello")
            notice = await anext(notices)
        assert isinstance(notice, Progress)
        assert (notice.trace, notice.text) == (said.trace, say(Sentence.PAUSED))


async def test_cancelling_an_unknown_or_ended_message_returns_false(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        done = await bench.say("hello")
        await bench.outcome(done)
        assert not await bench.bus.session_queues.cancel(done.id, "late")
        assert not await bench.bus.session_queues.cancel("m_unknown", "what")


async def test_paused_session_keeps_its_messages_and_runs_nothing(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        await bench.store.sessions.change(CHAT, paused=True)
        said = [await bench.say(text) for text in ("one", "two")]
        await until(lambda: not bench.bus.session_queues._queues)
        assert bench.turns.begun == []
        await bench.bus.session_queues.resume(CHAT)
        assert await bench.replies(*said) == ["one", "two"]


def parking(on: WaitsFor = WaitsFor.APPROVAL, until: float | None = None) -> Script:
    """A script that parks when it first runs and answers when it runs again."""
    parked: set[TurnId] = set()

    async def park(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        if turn.id in parked:
            return await turns.echo(turn)
        parked.add(turn.id)
        return Parked(on, until, "waits")

    return park


async def test_parked_turn_releases_queue_and_slot_and_resumes_when_woken(tmp_path: Path) -> None:
    settings = BusSettings(slots=1)
    async with open_bench(tmp_path, scripts={"park": parking()}, settings=settings) as bench:
        first = await bench.say("park")
        assert await bench.replies(await bench.say("hello")) == ["hello"]
        assert await bench.bus.session_queues.wake(bench.turns.begun[0].id)
        assert await bench.replies(first) == ["park"]
        assert not await bench.bus.session_queues.wake(bench.turns.begun[0].id)


async def test_wake_during_parking_is_not_lost(tmp_path: Path) -> None:
    async def hasty(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        if len(turns.begun) > 1:
            return await turns.echo(turn)
        assert await bench.bus.session_queues.wake(turn.id)
        return Parked(WaitsFor.APPROVAL)

    async with open_bench(tmp_path, scripts={"hasty": hasty}) as bench:
        assert await bench.replies(await bench.say("hasty")) == ["hasty"]


async def test_stop_during_parking_is_not_lost(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"park": parking()}) as bench:
        park = bench.store.turns.park

        async def stopping(*arguments: Any) -> None:
            await park(*arguments)
            assert await bench.bus.session_queues.stop(CHAT, "enough")

        bench.store.turns.park = stopping  # type: ignore[assignment, method-assign]
        result = await bench.outcome(await bench.say("park"))
        assert (result.state, result.reply) == ("cancelled", "Stopped (enough).")


@pytest.mark.parametrize("fault", ["start", "finish"])
async def test_turn_whose_cancellation_was_not_written_continues(tmp_path: Path, fault: str) -> None:
    gate = Gate()

    async def fail(*arguments: Any) -> None:
        raise StoreFull

    settings = BusSettings(slots=1, failure_seconds=0.01)
    scripts: dict[str, Script] = {"park": parking(), "hold": gate}
    async with open_bench(tmp_path, scripts=scripts, settings=settings) as bench:
        said = await bench.say("park")
        await until(lambda: bool(bench.turns.begun) and not bench.bus.session_queues._queues)
        await bench.say("hold", chat="other")
        await until(lambda: bench.turns.active == 1)
        assert await bench.bus.session_queues.wake(bench.turns.begun[0].id)  # ready, but there is no slot
        owner: Any = bench.store.turns if fault == "start" else bench.store.journal
        real = getattr(owner, fault)
        setattr(owner, fault, fail)
        with pytest.raises(StoreFull):
            await bench.bus.session_queues.cancel(said.id, "no")
        setattr(owner, fault, real)
        gate.open.set()
        assert await bench.replies(said) == ["park"]


async def test_parked_turn_wakes_at_its_time(tmp_path: Path) -> None:
    clock = ManualClock(jump=True)
    script = parking(WaitsFor.TIME, clock.now().timestamp() + 1_200)
    async with open_bench(tmp_path, scripts={"park": script}, clock=clock) as bench:
        assert await bench.replies(await bench.say("park")) == ["park"]
        assert clock.monotonic() - 1000 >= 1_200


async def test_parked_turn_resumes_after_a_restart(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"park": parking()}) as bench:
        said = await bench.say("park")
        await until(lambda: bool(bench.turns.begun) and not bench.bus.session_queues._queues)
        await bench.crash()
    async with open_bench(tmp_path) as bench:
        row = await bench.store.turns.find(said.id)
        assert row is not None
        assert row.state is TurnState.PARKED
        assert await bench.bus.session_queues.wake(row.id)
        assert await bench.replies(said) == ["park"]


async def test_parked_turn_can_be_cancelled_and_its_sender_is_told(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"park": parking()}) as bench:
        said = await bench.say("park")
        await until(lambda: bool(bench.turns.begun) and not bench.bus.session_queues._queues)
        assert await bench.bus.session_queues.cancel(said.id, "not needed")
        result: Result = await bench.outcome(said)
        assert (result.state, result.kind, result.reply) == ("cancelled", OutboundKind.NOTICE, "Stopped (not needed).")
        assert [row.outbound.text for row in await bench.store.outbox.next("memory", "", 1e12)] == [result.reply]


@pytest.mark.parametrize("on", list(WaitsFor))
async def test_stop_ends_a_parked_turn(tmp_path: Path, on: WaitsFor) -> None:
    """Only running and ready turns were looked at: `/stop` of a waiting turn said that nothing was running."""
    async with open_bench(tmp_path, scripts={"park": parking(on)}) as bench:
        said, other = await bench.say("park"), await bench.say("park", chat="other")
        await until(lambda: len(bench.turns.begun) == 2 and not bench.bus.session_queues._queues)
        assert await bench.bus.session_queues.stop(CHAT, "enough")
        assert await bench.replies(said) == ["Stopped (enough)."]
        assert not await bench.bus.session_queues.stop(CHAT, "again")
        row = await bench.store.turns.find(other.id)
        assert row is not None
        assert row.state is TurnState.PARKED


async def test_stop_ends_the_running_turn_and_the_parked_ones(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"hold": Gate(), "park": parking()}) as bench:
        parked = await bench.say("park")
        await until(lambda: bool(bench.turns.begun) and not bench.bus.session_queues._queues)
        running = await bench.say("hold")
        await until(lambda: bench.turns.active == 1)
        assert await bench.bus.session_queues.stop(CHAT, "enough")
        assert await bench.replies(parked, running) == ["Stopped (enough).", "stopped: enough"]


async def test_stop_ends_the_pause_before_the_next_attempt(tmp_path: Path) -> None:
    async def broken(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        raise ZeroDivisionError

    settings = BusSettings(failure_seconds=3600, failure_most_seconds=3600)
    async with open_bench(tmp_path, scripts={"broken": broken}, settings=settings) as bench:
        said = await bench.say("broken")
        await until(
            lambda: any(
                session_queue.interruptible and session_queue.running
                for session_queue in bench.bus.session_queues._queues.values()
            )
        )
        assert await bench.bus.session_queues.stop(CHAT, "enough")
        assert (await bench.outcome(said)).state == "cancelled"


async def test_paused_session_does_not_lose_its_ready_turn(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"park": parking()}) as bench:
        said = await bench.say("park")
        await until(lambda: bool(bench.turns.begun) and not bench.bus.session_queues._queues)
        await bench.store.sessions.change(CHAT, paused=True)
        assert await bench.bus.session_queues.wake(bench.turns.begun[0].id)
        await until(lambda: not bench.bus.session_queues._queues)
        await bench.bus.session_queues.resume(CHAT)
        assert await bench.replies(said) == ["park"]


async def test_joined_message_is_not_offered_again_by_a_late_hint(tmp_path: Path) -> None:
    late = message("late")
    running = RunningTurn(Turn(TurnId("t"), CHAT, trace=None, span=None, inbounds=()))  # type: ignore[arg-type]
    running.mark_joined([late.id])
    running.let_join(late)
    assert not running.joinable()
    assert running.inbounds == (late.id,)


@pytest.mark.parametrize("other", [{"model": "m2"}, {"background": True}])
async def test_message_for_another_model_neither_joins_nor_is_overtaken(tmp_path: Path, other: dict[str, Any]) -> None:
    gate = Gate()
    joined: list[str] = []

    async def asking(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        await gate.open.wait()
        joined.extend(one.text for one in await turns.journal.steer(turn.id, control.joinable()))
        return await turns.echo(turn)

    async with open_bench(tmp_path, scripts={"ask": asking}) as bench:
        first = await bench.say("ask")
        await until(lambda: bench.turns.active == 1)
        await bench.say("too")
        different = await bench.bus.accept(replace(message("different"), **other))
        last = await bench.say("last")
        gate.open.set()
        assert await bench.replies(first, different, last) == ["ask", "different", "last"]
        assert joined == ["too"]


async def test_message_during_a_claim_may_join_the_turn(tmp_path: Path) -> None:
    async def asking(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        taken = await turns.journal.steer(turn.id, control.joinable())
        control.mark_joined([inbound.id for inbound in taken])
        return await turns.finish(turn, f"with {len(taken)}")

    async with open_bench(tmp_path, scripts={"ask": asking}) as bench:
        claim, late = bench.store.inbox.claim, []

        async def slow(*arguments: Any) -> Turn:
            turn = await claim(*arguments)
            late.append(await bench.say("late"))
            return turn

        bench.store.inbox.claim = slow  # type: ignore[assignment, method-assign]
        assert await bench.replies(await bench.say("ask"), *late) == ["with 1"]
        assert (await bench.outcome(late[0])).reply == "with 1"


class BrokenRouting(ChatRouting):
    """A routing that fails for one chat, as a defect would."""

    def mode_of(self, channel: str) -> QueueMode:
        if channel == "broken":
            raise RuntimeError("a defect")
        return super().mode_of(channel)


async def test_defect_in_one_session_does_not_affect_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    slowly = BusSettings(failure_seconds=60)
    async with open_bench(tmp_path, routing=BrokenRouting(), settings=slowly) as bench:
        kept = await bench.say("hi", chat="one", channel="broken")
        fine = await bench.say("hi", chat="two")
        assert (await bench.outcome(fine)).state == "done"
        assert [row.inbound.id for row in await bench.store.inbox.waiting(SessionKey("one"))] == [kept.id]
    assert "the session one broke" in caplog.text
    async with open_bench(tmp_path) as bench:
        assert (await bench.outcome(kept)).state == "done"


async def test_woken_turn_resumes_after_a_defect_in_its_queue(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"park": parking()}) as bench:
        said = await bench.say("park")
        await until(lambda: not bench.bus.session_queues._queues)
        start = bench.store.turns.start
        broken: list[TurnId] = []

        async def breaking(turn: TurnId) -> Turn:
            if len(broken) < 3:
                broken.append(turn)
                raise RuntimeError("a defect")
            return await start(turn)

        bench.store.turns.start = breaking  # type: ignore[method-assign]
        assert await bench.bus.session_queues.wake(bench.turns.begun[0].id)
        assert await bench.replies(said) == ["park"]
        assert len(broken) == 3
