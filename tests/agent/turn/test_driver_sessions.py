"""Effects of a turn on its session: silence, reset, follow-up work."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.agent.compaction.compaction import Compactor, NotCompacted
from hob.agent.settings import AgentSettings
from hob.agent.turn.driver import Driver
from hob.core.errors import ModelError, ModelFault
from hob.core.events.notices import Progress, Settled
from hob.core.states import TurnState
from hob.core.turns import Finished
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.model import ScriptedModel, Silence, calls
from tests.turns import SESSION, make_turn, put_message

from .test_driver import Known, TurnBench, until_asked


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[TurnBench]:
    clock = ManualClock()
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        yield TurnBench(store, clock)


async def test_silence_is_an_outcome_with_a_reason_and_sends_nothing(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("fyi"))
    assert await Driver(bench.parts("NO_REPLY")).run(turn, bench.control) == Finished(
        TurnState.SILENT, "the model chose to say nothing"
    )
    result = await bench.store.results.find(turn.inbounds[0].id)
    assert result is not None
    assert (result.state, result.reply) == ("silent", "")
    assert "chose to say nothing" in result.reason
    assert (await bench.store.outbox.counts()).open == 0


async def test_mentioning_the_silence_word_is_a_reply(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("what does NO_REPLY mean?"))
    outcome = await Driver(bench.parts("NO_REPLY means silence.")).run(turn, bench.control)
    assert outcome == Finished(TurnState.DONE)


@pytest.mark.parametrize(("minutes", "texts"), [(29, ["I am Ada", "Hello.", "Who?"]), (31, ["Who?"])])
async def test_session_is_reset_after_its_idle_time(bench: TurnBench, minutes: int, texts: list[str]) -> None:
    driver = Driver(bench.parts("Hello.", "Ada.", settings=AgentSettings(reset_idle_minutes=30)))
    await driver.run(await make_turn(bench.store, message("I am Ada")), bench.control)
    await bench.clock.advance(minutes * 60)
    await driver.run(await make_turn(bench.store, message("Who?")), bench.control)
    shown = [item.text.split("\n", 1)[0] for item in bench.model.requests[1].messages]
    assert shown == texts


async def test_outcome_notice_names_all_messages_that_share_it(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("first"))
    late = message("and this")
    await put_message(bench.store, late)
    bench.control.waiting.add(late.id)
    # a tool that does not exist makes a second round, before which the message joins
    await Driver(bench.parts(calls(("nothing", "{}")), "done")).run(turn, bench.control)
    settled = bench.notices.of(Settled)[-1]
    assert isinstance(settled, Settled)
    assert settled.inbounds == (turn.inbounds[0].id, late.id)


async def test_session_queue_does_not_wait_for_follow_up_work(bench: TurnBench) -> None:
    later: list[Coroutine[Any, Any, None]] = []
    parts = bench.parts("hi")
    driver = Driver(replace(parts, background_tasks=later.append))
    assert await driver.run(await make_turn(bench.store, message("hi")), bench.control) == Finished(TurnState.DONE)
    assert len(later) == 1
    await later[0]


async def test_compaction_stops_before_exceeding_the_limit(bench: TurnBench) -> None:
    driver = Driver(bench.parts(*["fine"] * 6))
    for n in range(6):
        await driver.run(await make_turn(bench.store, message(f"message {n}")), bench.control)
    model = ScriptedModel()
    compactor = Compactor(
        AgentSettings(window=4),
        model=model,
        transcript=bench.store.transcript,
        budget=Budget(SpendingSettings(daily=0.000001), bench.store.ledger, Known(), bench.clock),
        clock=bench.clock,
    )
    done = await compactor.compact(SESSION, reason="test", model="priced")
    assert isinstance(done, NotCompacted)
    assert "spending.daily" in done.reason
    assert model.requests == []


class Naming(ScriptedModel):
    """A server that has one model, and names it unless it is broken."""

    broken: ModelError | None = None

    async def default_model(self) -> str:
        if self.broken is not None:
            raise self.broken
        return "priced"


async def test_limit_applies_if_the_server_chooses_the_model(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    model = Naming("Expensive.")
    parts = replace(bench.parts(spending=SpendingSettings(per_turn=0.001), model=""), model=model)
    assert await Driver(parts).run(turn, bench.control) == Finished(TurnState.FAILED, "budget")
    assert model.requests == []
    assert "spending.per_turn" in await bench.reply(turn)


async def test_spending_is_known_if_the_server_chooses_the_model(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    model = Naming("Hello.")
    await Driver(replace(bench.parts(model=""), model=model)).run(turn, bench.control)
    spent = await bench.store.ledger.spent(model="priced")
    assert (spent.calls, spent.unknown_calls, spent.cost > 0) == (1, 0, True)
    assert model.requests[0].model == "priced"


async def test_server_that_cannot_name_its_model_fails_like_any_other(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    model = Naming("never asked")
    model.broken = ModelError(ModelFault.NETWORK, "away")
    assert await Driver(replace(bench.parts(model=""), model=model)).run(turn, bench.control) == Finished(
        TurnState.FAILED, "network"
    )
    assert "\naway\n" in await bench.reply(turn)


async def test_idle_limit_shorter_than_the_notice_applies(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    settings = AgentSettings(idle_seconds=6, idle_notice_seconds=20)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(bench.parts(Silence(), settings=settings)).run(turn, bench.control))
        await until_asked(bench)
        await bench.clock.advance(6)
    assert task.result() == Finished(TurnState.FAILED, "timeout")


async def test_owner_is_told_once_that_no_model_can_summarise(bench: TurnBench) -> None:
    settings = AgentSettings(window=4, compact_above=8)
    parts = bench.parts(settings=settings)
    compactor = Compactor(
        settings,
        model=ScriptedModel(otherwise="no"),
        transcript=bench.store.transcript,
        budget=parts.budget,
        clock=bench.clock,
    )
    parts = replace(parts, model=ScriptedModel(otherwise="fine"), compactor=compactor)
    for n in range(12):
        await Driver(parts).run(await make_turn(bench.store, message(f"message {n}")), bench.control)
    told = [each.text for each in bench.notices.of(Progress) if isinstance(each, Progress) and each.what == "remark"]
    assert ["could not summarise the older messages" in text for text in told] == [True]


async def test_message_during_a_hanging_request_makes_a_new_one(bench: TurnBench) -> None:
    """Regression: the message waited for the two-minute idle limit and was then answered by nobody."""
    turn = await make_turn(bench.store, message("hi"))
    late = message("are you there?")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(bench.parts(Silence("Half"), "Here.")).run(turn, bench.control))
        await until_asked(bench)
        await bench.clock.advance(25)
        await put_message(bench.store, late)
        bench.control.waiting.add(late.id)
        await bench.clock.advance(2)
    assert task.result() == Finished(TurnState.DONE)
    assert [request.messages[-1].text.split("\n")[0] for request in bench.model.requests] == ["hi", "hi"]
    assert "are you there?" in bench.model.requests[1].messages[-1].text
    assert await bench.reply(turn) == "Here."
    told = [each.text for each in bench.notices.of(Progress) if isinstance(each, Progress) and each.what == "waiting"]
    assert told[-1].startswith("The model has sent nothing for 2")


async def test_sender_of_a_message_behind_a_hanging_request_is_told_at_once(bench: TurnBench) -> None:
    """Regression: in other queue modes than `steer` its sender heard nothing for two minutes."""
    turn = await make_turn(bench.store, message("hi"))
    late = message("are you there?")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(bench.parts(Silence())).run(turn, bench.control))
        await until_asked(bench)
        await bench.clock.advance(25)
        bench.control.later.append(late)
        for _ in range(3):
            await bench.clock.advance(1)
        bench.control.stop(task, "/stop")
    told = [each.text for each in bench.notices.seen if isinstance(each, Progress) and each.trace == late.trace]
    assert told == ["Your message waits: the model has sent nothing for 26 seconds. /stop ends that turn."]


async def test_message_while_the_model_thinks_interrupts_nothing(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    bench.control.waiting.add(message("and?").id)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(bench.parts(Silence())).run(turn, bench.control))
        await until_asked(bench)
        await bench.clock.advance(15)
        assert len(bench.model.requests) == 1
        bench.control.stop(task, "/stop")
