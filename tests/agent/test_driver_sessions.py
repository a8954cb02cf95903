"""What a turn does to its session: silence, beginning afresh, what is done afterwards."""

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
from hob.testing.turns import SESSION, make_turn, put_message

from .test_driver import Desk, Known, until_asked


@pytest.fixture
async def operations(tmp_path: Path) -> AsyncIterator[Desk]:
    clock = ManualClock()
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        yield Desk(store, clock)


async def test_silence_is_an_outcome_with_its_reason_and_owes_nothing(operations: Desk) -> None:
    turn = await make_turn(operations.store, message("fyi"))
    assert await Driver(operations.parts("NO_REPLY")).run(turn, operations.control) == Finished(
        TurnState.SILENT, "the model chose to say nothing"
    )
    result = await operations.store.inbox.find_result(turn.inbounds[0].id)
    assert result is not None
    assert (result.state, result.reply) == ("silent", "")
    assert "chose to say nothing" in result.reason
    assert (await operations.store.outbox.counts()).open == 0


async def test_word_about_silence_is_a_reply(operations: Desk) -> None:
    turn = await make_turn(operations.store, message("what does NO_REPLY mean?"))
    outcome = await Driver(operations.parts("NO_REPLY means silence.")).run(turn, operations.control)
    assert outcome == Finished(TurnState.DONE)


@pytest.mark.parametrize(("minutes", "texts"), [(29, ["I am Ada", "Hello.", "Who?"]), (31, ["Who?"])])
async def test_session_begins_afresh_after_its_idle_time(operations: Desk, minutes: int, texts: list[str]) -> None:
    driver = Driver(operations.parts("Hello.", "Ada.", settings=AgentSettings(reset_idle_minutes=30)))
    await driver.run(await make_turn(operations.store, message("I am Ada")), operations.control)
    await operations.clock.advance(minutes * 60)
    await driver.run(await make_turn(operations.store, message("Who?")), operations.control)
    shown = [item.text.split("\n", 1)[0] for item in operations.model.requests[1].messages]
    assert shown == texts


async def test_everybody_who_shares_an_outcome_is_named_in_its_notice(operations: Desk) -> None:
    turn = await make_turn(operations.store, message("first"))
    late = message("and this")
    await put_message(operations.store, late)
    operations.control.waiting.add(late.id)
    # a tool that is not there makes a second round, before which the message joins
    await Driver(operations.parts(calls(("nothing", "{}")), "done")).run(turn, operations.control)
    settled = operations.notices.of(Settled)[-1]
    assert isinstance(settled, Settled)
    assert settled.inbounds == (turn.inbounds[0].id, late.id)


async def test_lane_does_not_wait_for_what_comes_afterwards(operations: Desk) -> None:
    later: list[Coroutine[Any, Any, None]] = []
    parts = operations.parts("hi")
    driver = Driver(replace(parts, background_tasks=later.append))
    assert await driver.run(await make_turn(operations.store, message("hi")), operations.control) == Finished(
        TurnState.DONE
    )
    assert len(later) == 1
    await later[0]


async def test_compaction_stops_before_spending_what_is_not_there(operations: Desk) -> None:
    driver = Driver(operations.parts(*["fine"] * 6))
    for n in range(6):
        await driver.run(await make_turn(operations.store, message(f"message {n}")), operations.control)
    model = ScriptedModel()
    compactor = Compactor(
        AgentSettings(window=4),
        model=model,
        transcript=operations.store.transcript,
        budget=Budget(SpendingSettings(daily=0.000001), operations.store.ledger, Known(), operations.clock),
        clock=operations.clock,
    )
    done = await compactor.compact(SESSION, reason="test", model="priced")
    assert isinstance(done, NotCompacted)
    assert "spending.daily" in done.reason
    assert model.requests == []


class Naming(ScriptedModel):
    """A server that has one model, and tells its name unless it is broken."""

    broken: ModelError | None = None

    async def default_model(self) -> str:
        if self.broken is not None:
            raise self.broken
        return "priced"


async def test_limit_holds_where_the_server_chooses_the_model(operations: Desk) -> None:
    turn = await make_turn(operations.store, message("hi"))
    model = Naming("Expensive.")
    parts = replace(operations.parts(spending=SpendingSettings(per_turn=0.001), model=""), model=model)
    assert await Driver(parts).run(turn, operations.control) == Finished(TurnState.FAILED, "budget")
    assert model.requests == []
    assert "spending.per_turn" in await operations.reply(turn)


async def test_spending_is_known_where_the_server_chooses_the_model(operations: Desk) -> None:
    turn = await make_turn(operations.store, message("hi"))
    model = Naming("Hello.")
    await Driver(replace(operations.parts(model=""), model=model)).run(turn, operations.control)
    spent = await operations.store.ledger.spent(model="priced")
    assert (spent.calls, spent.unknown_calls, spent.cost > 0) == (1, 0, True)
    assert model.requests[0].model == "priced"


async def test_server_that_cannot_name_its_model_is_a_failure_like_others(operations: Desk) -> None:
    turn = await make_turn(operations.store, message("hi"))
    model = Naming("never asked")
    model.broken = ModelError(ModelFault.NETWORK, "away")
    assert await Driver(replace(operations.parts(model=""), model=model)).run(turn, operations.control) == Finished(
        TurnState.FAILED, "network"
    )
    assert "\naway\n" in await operations.reply(turn)


async def test_limit_shorter_than_the_notice_holds(operations: Desk) -> None:
    turn = await make_turn(operations.store, message("hi"))
    settings = AgentSettings(idle_seconds=6, idle_notice_seconds=20)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(operations.parts(Silence(), settings=settings)).run(turn, operations.control))
        await until_asked(operations)
        await operations.clock.advance(6)
    assert task.result() == Finished(TurnState.FAILED, "timeout")


async def test_owner_is_told_once_that_no_model_summarises_the_conversation(operations: Desk) -> None:
    settings = AgentSettings(window=4, compact_above=8)
    parts = operations.parts(settings=settings)
    compactor = Compactor(
        settings,
        model=ScriptedModel(otherwise="no"),
        transcript=operations.store.transcript,
        budget=parts.budget,
        clock=operations.clock,
    )
    parts = replace(parts, model=ScriptedModel(otherwise="fine"), compactor=compactor)
    for n in range(12):
        await Driver(parts).run(await make_turn(operations.store, message(f"message {n}")), operations.control)
    told = [
        each.text for each in operations.notices.of(Progress) if isinstance(each, Progress) and each.what == "remark"
    ]
    assert ["could not summarise the older messages" in text for text in told] == [True]


async def test_message_that_comes_while_the_model_hangs_has_it_asked_again(operations: Desk) -> None:
    """It waited for the two minutes after which a silent model is given up, and was then answered by nobody."""
    turn = await make_turn(operations.store, message("hi"))
    late = message("are you there?")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(operations.parts(Silence("Half"), "Here.")).run(turn, operations.control))
        await until_asked(operations)
        await operations.clock.advance(25)
        await put_message(operations.store, late)
        operations.control.waiting.add(late.id)
        await operations.clock.advance(2)
    assert task.result() == Finished(TurnState.DONE)
    assert [request.messages[-1].text.split("\n")[0] for request in operations.model.requests] == ["hi", "hi"]
    assert "are you there?" in operations.model.requests[1].messages[-1].text
    assert await operations.reply(turn) == "Here."
    told = [
        each.text for each in operations.notices.of(Progress) if isinstance(each, Progress) and each.what == "waiting"
    ]
    assert told[-1].startswith("The model has sent nothing for 2")


async def test_sender_of_a_message_behind_a_hanging_model_is_told_at_once(operations: Desk) -> None:
    """In other queue modes than `steer` it waited for two minutes without a word."""
    turn = await make_turn(operations.store, message("hi"))
    late = message("are you there?")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(operations.parts(Silence())).run(turn, operations.control))
        await until_asked(operations)
        await operations.clock.advance(25)
        operations.control.later.append(late)
        for _ in range(3):
            await operations.clock.advance(1)
        operations.control.stop(task, "/stop")
    told = [each.text for each in operations.notices.seen if isinstance(each, Progress) and each.trace == late.trace]
    assert told == ["Your message waits: the model has sent nothing for 26 seconds. /stop ends that turn."]


async def test_message_that_comes_while_the_model_thinks_interrupts_nothing(operations: Desk) -> None:
    turn = await make_turn(operations.store, message("hi"))
    operations.control.waiting.add(message("and?").id)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(operations.parts(Silence())).run(turn, operations.control))
        await until_asked(operations)
        await operations.clock.advance(15)
        assert len(operations.model.requests) == 1
        operations.control.stop(task, "/stop")
