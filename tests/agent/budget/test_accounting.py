"""Every attempt is charged when it ends, before the next one starts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from hob.agent.budget.accounting import stream_outside
from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import PeriodLimits, SpendingSettings
from hob.agent.turn.dependencies import TurnDependencies
from hob.agent.turn.driver import Driver
from hob.core.errors import BudgetExceeded, ModelError, ModelFault
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import new_event_id, new_span_id, new_trace_id
from hob.core.models import ExtraCall, ModelEvent, ModelReply, ModelRequest, Thinking, Usage
from hob.core.ports.model import Model
from hob.core.states import TurnState
from hob.core.steps import ModelAsked, ModelFailed
from hob.core.trust.labels import SenderClass
from hob.core.turns import Finished, Turn
from hob.providers.routing.failover import ModelRoute
from hob.providers.routing.failover_model import Failover
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.model import ScriptedModel, Silence
from tests.agent.turn.test_driver import Known, TurnBench, until_asked
from tests.agent.turn.test_model_call import Router, pending
from tests.turns import SESSION, make_turn

CUT = ModelError(ModelFault.CUT, "broke off")
ANSWER = ModelReply("Hello.", usage=Usage(10, 5), ref="priced")
ASKED = ModelRequest("priced", "", (), max_tokens=1_000, thinking=Thinking.OFF)
WORST = 2_000  # a thousand tokens of answer


class Stumbling(Router):
    """A model whose requests are preceded by these extra calls; `asked` counts the requests it answered."""

    def __init__(self, *extra: ExtraCall, chain: tuple[str, ...] = ("priced",)) -> None:
        super().__init__(ANSWER, ANSWER, chains={"chat": chain})
        self.extra = extra
        self.answered = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        extra, self.extra = self.extra, ()
        for call in extra:
            yield call
        self.answered += 1
        async for event in super().stream(request):
            yield event


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[TurnBench]:
    clock = ManualClock()
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        yield TurnBench(store, clock)


async def run(bench: TurnBench, model: Model, spending: SpendingSettings | None = None) -> tuple[Turn, TurnState]:
    turn = await make_turn(bench.store, message("hi"))
    parts: TurnDependencies = replace(bench.parts(spending=spending), model=model)
    outcome = await Driver(parts).run(turn, bench.control)
    assert isinstance(outcome, Finished)
    return turn, outcome.state


def failed(usage: Usage | None = None, cost: int | None = None, ref: str = "priced") -> ExtraCall:
    return ExtraCall(ref, ModelFault.CUT, usage, cost)


async def test_failed_attempt_is_charged_besides_the_answer(bench: TurnBench) -> None:
    turn, _ = await run(bench, Stumbling(failed(Usage(1_000, 500)), failed(cost=7, ref="other")))
    sums = {model: spent.cost for model, spent in await bench.store.ledger.sums("model")}
    assert sums == {"priced": 2_000 + 20, "other": 7}
    spent = await bench.store.ledger.spent(turn=turn.id)
    assert (spent.cost, spent.calls, spent.reserved, spent.unknown_calls) == (2_027, 3, 0, 0)


async def test_failed_attempt_of_unknown_usage_is_charged_its_worst_case(bench: TurnBench) -> None:
    turn, _ = await run(bench, Stumbling(failed()))
    (asked, *_) = await bench.store.journal.load_steps(turn.id)
    assert isinstance(asked, ModelAsked)
    assert (await bench.store.ledger.spent(turn=turn.id)).cost == (asked.reserved or 0) + 20


async def test_failed_attempts_are_in_the_timeline_of_the_turn(bench: TurnBench) -> None:
    turn, _ = await run(bench, Stumbling(failed(Usage(1, 1)), failed(Usage(2, 2))))
    made = [event for event in await bench.store.timeline.trace(turn.trace) if event.kind is EventKind.MODEL]
    assert sorted((event.status, event.cost) for event in made) == [("cut_stream", 3), ("cut_stream", 6), ("ok", 20)]


async def test_failed_attempt_that_uses_up_the_limit_is_the_last(bench: TurnBench) -> None:
    model = Stumbling(failed(cost=990_000))
    turn, state = await run(bench, model, SpendingSettings(daily=1.0))
    assert (state, model.answered) == (TurnState.FAILED, 0)
    assert "spending.daily" in await bench.reply(turn)
    spent = await bench.store.ledger.spent(turn=turn.id)
    assert (spent.cost, spent.calls, spent.reserved) == (990_000, 1, 0)


async def test_failed_attempt_is_followed_by_a_model_that_still_fits_the_limit(bench: TurnBench) -> None:
    model = Stumbling(failed(cost=995_000), chain=("priced", "cheap/one"))
    _, state = await run(bench, model, SpendingSettings(models={"priced": PeriodLimits(daily=1.0)}))
    assert state is TurnState.DONE
    assert [request.models for request in model.requests] == [("cheap/one",)]
    (told,) = [out.text for out in await pending(bench) if "spending.models" in out.text]
    assert "priced" in told


async def test_last_attempt_keeps_its_own_error_even_if_the_limit_is_used_up(bench: TurnBench) -> None:
    def session_queues(ref: str) -> tuple[ModelRoute, ...]:
        return (ModelRoute(ref, "acme"),)

    cut = ModelError(ModelFault.CUT, "broke off", usage=Usage(990_000, 0))
    model = Failover(session_queues, lambda _: ScriptedModel(cut), bench.clock, max_attempts=1)
    turn, _ = await run(bench, model, SpendingSettings(daily=1.0))
    (step,) = [step for step in await bench.store.journal.load_steps(turn.id) if isinstance(step, ModelFailed)]
    assert (step.fault, step.cost) == ("cut_stream", 0)
    spent = await bench.store.ledger.spent(turn=turn.id)
    assert (spent.cost, spent.calls, spent.reserved) == (990_000, 1, 0)


async def test_cost_of_a_failure_replaces_its_reservation(bench: TurnBench) -> None:
    empty = ModelError(ModelFault.EMPTY, "nothing", usage=Usage(90_000, 100))
    turn, _ = await run(bench, ScriptedModel(empty))
    spent = await bench.store.ledger.spent(turn=turn.id)
    assert (spent.cost, spent.usage, spent.reserved) == (90_200, Usage(90_000, 100), 0)


class Handle:
    """Implements `Model`: a stream that ends its request only when it is closed."""

    def __init__(self, error: ModelError | None) -> None:
        self.error = error
        self.begun = asyncio.Event()
        self.closed = False

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        return self

    def __aiter__(self) -> AsyncIterator[ModelEvent]:
        return self

    async def __anext__(self) -> ModelEvent:
        self.begun.set()
        if self.error is None:
            await asyncio.Event().wait()
        raise self.error or StopAsyncIteration

    async def aclose(self) -> None:
        self.closed = True


async def test_stream_that_failed_is_closed(bench: TurnBench) -> None:
    model = Handle(CUT)
    await run(bench, model)
    assert model.closed


async def test_stream_that_was_stopped_is_closed(bench: TurnBench) -> None:
    model = Handle(None)
    turn = await make_turn(bench.store, message("hi"))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(replace(bench.parts(), model=model)).run(turn, bench.control))
        await model.begun.wait()
        bench.control.stop(task, "/stop")
    assert model.closed


# Outside any turn


async def outside(bench: TurnBench, model: Model, spending: SpendingSettings | None = None) -> None:
    budget = Budget(spending or SpendingSettings(), bench.store.ledger, Known(), bench.clock)

    def event_of(name: str, status: str) -> TimelineEvent:
        return TimelineEvent(
            new_event_id(), new_trace_id(), new_span_id(), None, bench.clock.now().timestamp(), EventKind.MODEL,
            name,
            status, session=SESSION,
        )  # fmt: skip

    async with budget.reserve(SESSION, SenderClass.OWNER, replace(ASKED, task="summary"), 0) as held:
        async for _ in stream_outside(budget, model, held, event_of):
            pass


async def spent_on_summaries(bench: TurnBench) -> int:
    return (await bench.store.ledger.spent(task="summary")).cost


@pytest.mark.parametrize(
    ("line", "cost"),
    [
        (ANSWER, 20),
        (replace(ANSWER, usage=None), WORST),
        (CUT, WORST),
        (ModelError(ModelFault.EMPTY, "", usage=Usage(100, 1)), 102),
        (ModelError(ModelFault.FILTERED, "", cost=3), 3),
        (ModelError(ModelFault.RATE_LIMIT), 0),
    ],
    ids=["answered", "not counted", "cut", "empty", "told", "turned away"],
)
async def test_call_outside_any_turn_is_charged_its_actual_cost(
    bench: TurnBench, line: ModelReply | ModelError, cost: int
) -> None:
    with suppress(ModelError):
        await outside(bench, ScriptedModel(line))
    assert await spent_on_summaries(bench) == cost


async def test_stopped_call_outside_any_turn_is_charged_its_worst_case(bench: TurnBench) -> None:
    model = ScriptedModel(Silence())
    async with asyncio.TaskGroup() as group:
        task = group.create_task(outside(bench, model))
        while not model.open_streams:  # noqa: ASYNC110 - the store's threads need real time
            await asyncio.sleep(0.001)
        task.cancel()
    assert await spent_on_summaries(bench) == WORST


async def test_call_outside_any_turn_makes_no_further_attempt_either(bench: TurnBench) -> None:
    model = Stumbling(failed(cost=999_000))
    with pytest.raises(BudgetExceeded):
        await outside(bench, model, SpendingSettings(daily=1.0))
    assert (model.answered, await spent_on_summaries(bench)) == (0, 999_000)


async def test_reservation_of_a_call_takes_no_room_from_its_next_attempt(bench: TurnBench) -> None:
    model = Stumbling(failed(cost=100))
    # for that attempt and its worst case, not twice its worst case
    await outside(bench, model, SpendingSettings(daily=0.0025))
    assert (model.answered, await spent_on_summaries(bench)) == (1, 120)


# Remarks


async def test_pending_remark_is_delivered_without_an_answer(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    await run(bench, ScriptedModel(replace(ANSWER, cost=850_000)))
    parts = bench.parts(Silence(), spending=SpendingSettings(daily=1.0))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(parts).run(turn, bench.control))
        await until_asked(bench)
        bench.control.stop(task, "/stop")
    assert any("spending.daily" in out.text for out in await pending(bench))
    result = await bench.store.results.find(turn.inbounds[0].id)
    assert result is not None
    assert len(result.notes) == 1


async def test_remark_survives_a_crash_during_the_call(bench: TurnBench) -> None:
    await run(bench, ScriptedModel(replace(ANSWER, cost=850_000)))
    turn = await make_turn(bench.store, message("hi"))
    driver = Driver(bench.parts(Silence(), "Here I am.", spending=SpendingSettings(daily=1.0)))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(driver.run(turn, bench.control))
        await until_asked(bench)
        task.cancel()
    assert await driver.run(turn, bench.control) == Finished(TurnState.DONE)
    assert sum("spending.daily" in out.text for out in await pending(bench)) == 1
