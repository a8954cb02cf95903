"""Turns across stops and crashes: attempts, parking, retries."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import NotFound
from hob.core.ids import CallId, InboundId, TurnId, outbox_id
from hob.core.messages import OutboundKind
from hob.core.states import TURN_MOVES, TaskState, TurnState
from hob.core.steps import ModelFailed, Noted, Said, Step, ToolIntended, ToolReceived
from hob.core.tools import Restart, ToolCall, ToolResult
from hob.core.turns import Parked, WaitsFor
from hob.store.database.state_moves import IllegalMove
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.store.turns.turns import Recovered
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.samples import ASKED, finish_of
from tests.turns import SESSION, make_turn, put_message


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


def say(turn: TurnId) -> str:
    return f"I gave up; `hob retry {turn}`"


@asynccontextmanager
async def run(home: Path, *, crash: bool) -> AsyncIterator[Store]:
    """One process run that ends with a crash, or cleanly."""
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        yield store
        if crash:
            await store.abandon()


async def crashed(home: Path, turns: int = 1) -> list[TurnId]:
    """The turns that run when the first process crashes."""
    async with run(home, crash=True) as store:
        return [(await make_turn(store, message(f"number {n}"))).id for n in range(turns)]


async def test_unclean_end_makes_running_turns_suspects(tmp_path: Path) -> None:
    turns = await crashed(tmp_path, 2)
    async with run(tmp_path, crash=False) as store:
        assert store.unclean
        assert await store.turns.recover(say) == Recovered(quarantine=tuple(turns))
        assert (await store.turns.start(turns[0])).attempt == 1


async def test_clean_end_makes_no_suspects(tmp_path: Path) -> None:
    async with run(tmp_path, crash=False) as store:
        turn = await make_turn(store, message("hello"))
    async with run(tmp_path, crash=False) as store:
        assert not store.unclean
        assert await store.turns.recover(say) == Recovered(ready=(turn.id,))


async def test_three_unclean_ends_at_one_step_quarantine_the_turn_and_tell_its_sender(tmp_path: Path) -> None:
    (turn,) = await crashed(tmp_path)
    for _ in range(2):
        async with run(tmp_path, crash=True) as store:
            assert (await store.turns.recover(say)).quarantine == (turn,)
            await store.turns.start(turn)
    async with run(tmp_path, crash=False) as store:
        assert await store.turns.recover(say) == Recovered(set_aside=(turn,), has_suspected=True)
        (pending,) = await store.outbox.next("memory", "", 1e12)
        assert (pending.outbound.text, pending.outbound.kind) == (say(turn), OutboundKind.ERROR)
        (task,) = await store.tasks.find()
        assert task.state is TaskState.FAILED
        result = await store.results.find(InboundId(task.id))
        assert result is not None
        assert (result.state, result.kind, result.settled) == ("set_aside", OutboundKind.ERROR, True)


async def test_progress_resets_attempts(tmp_path: Path) -> None:
    (turn,) = await crashed(tmp_path)
    for _ in range(6):
        async with run(tmp_path, crash=True) as store:
            assert (await store.turns.recover(say)).quarantine == (turn,)
            assert (await store.turns.start(turn)).attempt == 1
            await store.journal.append(turn, [Noted("on")])


async def test_clean_end_resets_attempts(tmp_path: Path) -> None:
    (turn,) = await crashed(tmp_path)
    async with run(tmp_path, crash=True) as store:
        await store.turns.recover(say)
        await store.turns.start(turn)
    async with run(tmp_path, crash=False) as store:
        await store.turns.recover(say)
        assert (await store.turns.start(turn)).attempt == 2
        await store.turns.release(turn)
    async with run(tmp_path, crash=False) as store:
        assert await store.turns.recover(say) == Recovered(ready=(turn,))


async def test_waiting_suspect_is_cleared_by_a_clean_end(tmp_path: Path) -> None:
    (turn,) = await crashed(tmp_path)
    async with run(tmp_path, crash=False) as store:
        assert await store.turns.recover(say) == Recovered(quarantine=(turn,))
    async with run(tmp_path, crash=False) as store:
        assert await store.turns.recover(say) == Recovered(ready=(turn,))
        assert (await store.turns.start(turn)).attempt == 0


async def test_released_turn_starts_without_attempts(store: Store) -> None:
    turn = (await make_turn(store, message("hello"))).id
    await store.turns.record_defect(turn, say)
    assert (await store.turns.start(turn)).attempt == 1
    await store.turns.release(turn)
    assert (await store.turns.start(turn)).attempt == 0


async def test_turn_that_a_failed_write_left_running_restarts_without_attempts(store: Store) -> None:
    turn = (await make_turn(store, message("hello"))).id
    await store.turns.record_defect(turn, say)
    assert (await store.turns.start(turn)).attempt == 1
    assert (await store.turns.start(turn)).attempt == 0


async def test_suspect_that_was_not_running_when_the_process_died_is_cleared(tmp_path: Path) -> None:
    guilty, innocent = await crashed(tmp_path, 2)
    async with run(tmp_path, crash=True) as store:
        assert (await store.turns.recover(say)).quarantine == (guilty, innocent)
        await store.turns.start(guilty)
    async with run(tmp_path, crash=True) as store:
        assert await store.turns.recover(say) == Recovered(quarantine=(guilty,), ready=(innocent,))
        await store.turns.start(guilty)
    async with run(tmp_path, crash=False) as store:
        assert await store.turns.recover(say) == Recovered(ready=(innocent,), set_aside=(guilty,), has_suspected=True)
        assert (await store.turns.start(innocent)).attempt == 0


async def test_turn_that_fails_three_times_alone_is_quarantined_for_good(store: Store) -> None:
    await set_aside(store)
    assert await store.turns.retry_suspected() == ()


async def test_turn_quarantined_after_crashes_is_retried_twice(
    tmp_path: Path,
) -> None:
    (turn,) = await crashed(tmp_path)
    for _ in range(2):
        async with run(tmp_path, crash=True) as store:
            await store.turns.recover(say)
            await store.turns.start(turn)
    for last in (False, True):
        async with run(tmp_path, crash=True) as store:
            assert await store.turns.recover(say) == Recovered(set_aside=(turn,), has_suspected=True)
            assert await store.turns.retry_suspected(last=not last) == ()
            (turn,) = await store.turns.retry_suspected(last=last)
            await store.turns.start(turn)
    async with run(tmp_path, crash=False) as store:
        assert await store.turns.recover(say) == Recovered(set_aside=(turn,))
        assert await store.turns.retry_suspected() == await store.turns.retry_suspected(last=True) == ()


async def test_suspect_parked_for_people_is_cleared(tmp_path: Path) -> None:
    (turn,) = await crashed(tmp_path)
    async with run(tmp_path, crash=True) as store:
        await store.turns.recover(say)
        await store.turns.start(turn)
        await store.turns.park(turn, Parked(WaitsFor.APPROVAL))
    async with run(tmp_path, crash=False) as store:
        await store.turns.recover(say)
        assert await store.turns.wake(turn)
        assert (await store.turns.start(turn)).attempt == 0


async def test_defect_counts_like_an_unclean_end(store: Store) -> None:
    turn = (await make_turn(store, message("hello"))).id
    states = []
    for _ in range(3):
        states.append(await store.turns.record_defect(turn, say))
        if states[-1] is TurnState.READY:
            await store.turns.start(turn)
    assert states == [TurnState.READY, TurnState.READY, TurnState.SET_ASIDE]
    assert len(await store.outbox.next("memory", "", 1e12)) == 1


async def set_aside(store: Store, *steps: Step) -> TurnId:
    """A turn that was quarantined after these steps."""
    turn = (await make_turn(store, message("hello"))).id
    await store.journal.append(turn, steps)
    while await store.turns.record_defect(turn, say) is TurnState.READY:
        await store.turns.start(turn)
    return turn


async def test_quarantined_turn_releases_its_reservation(store: Store) -> None:
    await set_aside(store, ASKED)
    spent = await store.ledger.spent()
    assert (spent.cost, spent.reserved) == (ASKED.reserved, 0)


async def test_retry_keeps_the_call_of_unknown_outcome(store: Store) -> None:
    intended = ToolIntended(ToolCall(CallId("c"), "pay", "{}"), Restart.NEVER, "rule")
    new = await store.turns.retry(await set_aside(store, ASKED, intended))
    assert new is not None
    assert await store.journal.load_steps(new) == (ASKED, intended)


async def test_parked_turns_wake_by_time_or_on_request_and_show_their_line(store: Store) -> None:
    timed = (await make_turn(store, message("one"))).id
    asking = (await make_turn(store, message("two"))).id
    await store.turns.park(timed, Parked(WaitsFor.TIME, until=100.0))
    await store.turns.park(asking, Parked(WaitsFor.APPROVAL, line="waits for a yes"))
    assert await store.turns.next_wake() == 100.0
    assert await store.turns.due(99.0) == ()
    assert await store.turns.due(100.0) == (timed,)
    assert (await store.transcript.load_view(SESSION, 5)).parked == ("waits for a yes",)
    assert [await store.turns.wake(asking) for _ in range(2)] == [True, True]
    assert (await store.turns.start(asking)).inbounds[0].text == "two"
    assert not await store.turns.wake(asking), "it runs"
    assert {task.state for task in await store.tasks.find()} == {TaskState.WAITING, TaskState.RUNNING}


async def test_results_of_sub_agents_wake_the_waiting_turn(store: Store) -> None:
    waiting = (await make_turn(store, message("one"))).id
    await store.turns.park(waiting, Parked(WaitsFor.CHILD))
    commits = store.commits
    await store.subagents.hand_over((), waiting, ToolResult(CallId("c"), "42"), ())
    assert store.commits == commits + 1
    assert await store.late_results.find(waiting, CallId("c")) is not None
    assert (await store.turns.start(waiting)).inbounds[0].text == "one"


async def test_parked_turn_stays_parked_across_a_crash(tmp_path: Path) -> None:
    async with run(tmp_path, crash=True) as store:
        turn = (await make_turn(store, message("hello"))).id
        await store.turns.park(turn, Parked(WaitsFor.TIME, until=7.0))
    async with run(tmp_path, crash=False) as store:
        assert await store.turns.recover(say) == Recovered()
        assert await store.turns.due(8.0) == (turn,)


async def test_illegal_moves_are_refused(store: Store) -> None:
    turn = (await make_turn(store, message("hello"))).id
    await store.turns.release(turn)
    with pytest.raises(IllegalMove):
        await store.turns.park(turn, Parked(WaitsFor.TIME))
    with pytest.raises(NotFound):
        await store.turns.start(TurnId("t_unknown"))
    row = await store.turns.find(turn)
    assert row is not None
    assert row.state is TurnState.READY
    assert TurnState.PARKED not in TURN_MOVES[TurnState.READY]


async def failed_turn(store: Store) -> TurnId:
    """A turn whose model failed after a tool had been called."""
    turn = await make_turn(store, message("hello"))
    call = ToolCall(CallId("c"), "clock", "{}")
    await store.journal.append(turn.id, [ASKED, ToolIntended(call, Restart.NEVER, "rule")])
    await store.journal.append(turn.id, [ToolReceived(ToolResult(call.id, "noon")), ASKED])
    last = (ModelFailed("network", "gone"), Said("no model", OutboundKind.ERROR))
    await store.journal.finish(finish_of(turn, "no model", state=TurnState.FAILED, steps=last))
    return turn.id


async def test_retry_continues_after_the_last_finished_step(store: Store) -> None:
    old = await failed_turn(store)
    new = await store.turns.retry(old)
    assert new is not None
    assert [type(step).__name__ for step in await store.journal.load_steps(new)] == [
        "ModelAsked", "ToolIntended", "ToolReceived",
    ]  # fmt: skip
    assert len(await store.journal.load_steps(old)) == 6
    turn = await store.turns.start(new)
    await store.journal.finish(finish_of(turn, "hi"))
    result = await store.results.find(turn.inbounds[0].id)
    assert result is not None
    assert (result.state, result.reply, result.turn) == ("done", "hi", new)


async def test_only_failed_turns_are_retried_and_only_once(store: Store) -> None:
    old = await failed_turn(store)
    row = await store.turns.find(old)
    assert row is not None
    assert row.retried_by is None
    assert await store.turns.retry(old) is not None
    assert await store.turns.retry(old) is None
    running = await make_turn(store, message("other"))
    assert await store.turns.retry(running.id) is None
    assert await store.turns.retry("unknown") is None


async def test_retry_can_be_asked_for_by_message_and_by_chunk(store: Store) -> None:
    old = await failed_turn(store)
    chunk = outbox_id(old, 0)
    assert await store.turns.retry(chunk) is None
    await store.outbox.sending(chunk)
    await store.outbox.failed(chunk, "blocked", None)
    assert await store.turns.retry(chunk) == old
    (task,) = await store.tasks.find()
    new = await store.turns.retry(task.id)
    found = await store.turns.find(task.id)
    assert found is not None
    assert found.id == new


async def test_turns_are_counted_by_state(store: Store) -> None:
    turns = [(await make_turn(store, message(f"number {n}"))).id for n in range(3)]
    await store.turns.release(turns[0])
    await store.turns.park(turns[1], Parked(WaitsFor.ANSWER))
    await put_message(store, message("waiting"))
    counts = await store.turns.counts()
    assert (counts.ready, counts.running, counts.parked) == (1, 1, 1)
