"""Turns with the real store, the real prompt and a scripted model."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.agent.prompt.builder import PromptBuilder
from hob.agent.remarks import remarks_of
from hob.agent.settings import AgentSettings
from hob.agent.turn.dependencies import TurnDependencies
from hob.agent.turn.driver import Driver
from hob.agent.turn.entries import NOT_ANSWERED, STOPPED
from hob.agent.turn.hooks import Hooks
from hob.core.content.files import BootstrapFile
from hob.core.errors import ModelError, ModelFault, StoreFull
from hob.core.events.hooks import BeforeModel, BeforeTurn, Decision, Deny, HookEvent, Proceed, UseModel
from hob.core.events.notices import Progress, Retracted, Settled
from hob.core.events.timeline import EventKind
from hob.core.ids import CallId
from hob.core.messages import OutboundKind
from hob.core.models import ModelReply, ModelRequest, Price, StopReason, Usage
from hob.core.states import TurnState
from hob.core.steps import Cancelled, ModelAsked, ModelFailed, ModelReplied, Said, Shortened, Step, Stopped, Waited
from hob.core.tools import ToolCall
from hob.core.translation.code_words import FAULT_WORDS
from hob.core.turns import Finished, Parked, Turn, WaitsFor
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock, settle
from hob.testing.model import Cut, Line, ScriptedModel, Silence
from hob.testing.toolset import AllowAll, FunctionTools
from tests.turns import SESSION, FreeControl, NoticeRecorder, make_turn, put_message


class NoFiles:
    def load(self) -> tuple[BootstrapFile, ...]:
        return ()


class Known:
    """A dollar per million tokens of input, two per million of output; only for `priced`."""

    def max_output(self, model: str, request: ModelRequest) -> int:
        return request.max_output

    def find_price(self, model: str) -> Price | None:
        return Price(1_000_000, 2_000_000, 100_000, 1_000_000) if model == "priced" else None

    async def prepare(self, models: Sequence[str]) -> None: ...


class TurnBench:
    """A driver with everything it needs."""

    def __init__(self, store: Store, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.control = FreeControl()
        self.notices = NoticeRecorder()
        self.model = ScriptedModel()

    def parts(
        self,
        *script: Line,
        spending: SpendingSettings | None = None,
        hooks: Hooks | None = None,
        model: str = "priced",
        settings: AgentSettings | None = None,
    ) -> TurnDependencies:
        store, clock = self.store, self.clock
        settings = settings or AgentSettings()
        self.model = ScriptedModel(*script)
        return TurnDependencies(
            model=self.model,
            journal=store.journal,
            transcript=store.transcript,
            sessions=store.sessions,
            toolset=FunctionTools(),
            judge=AllowAll(),
            prompts=PromptBuilder(settings, clock, NoFiles()),
            notices=self.notices,
            budget=Budget(spending or SpendingSettings(), store.ledger, Known(), clock),
            blobs=store.blobs,
            clock=clock,
            hooks=hooks or Hooks((), clock, 5.0),
            limit_of=lambda _: 4000,
            settings=settings,
            default_model=lambda: model,
        )

    async def steps(self, turn: Turn) -> list[type[Step]]:
        return [type(step) for step in await self.store.journal.load_steps(turn.id)]

    async def reply(self, turn: Turn) -> str:
        result = await self.store.results.find(turn.inbounds[0].id)
        assert result is not None
        return result.reply

    async def said(self) -> list[str]:
        view = await self.store.transcript.load_view(SESSION, 100)
        return [f"{entry.role}: {entry.text}" for entry in view.entries]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[TurnBench]:
    clock = ManualClock()
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        yield TurnBench(store, clock)


async def test_plain_turn_asks_the_model_and_sends_the_answer(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    outcome = await Driver(bench.parts("Hello there.")).run(turn, bench.control)
    assert outcome == Finished(TurnState.DONE)
    assert await bench.steps(turn) == [ModelAsked, ModelReplied, Said]
    assert await bench.reply(turn) == "Hello there."
    assert await bench.said() == ["user: hi", "assistant: Hello there."]
    assert bench.notices.streamed == "Hello there."
    assert isinstance(bench.notices.seen[-1], Settled)


async def test_plain_turn_leaves_its_spans_in_the_timeline(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    await Driver(bench.parts("Hello.")).run(turn, bench.control)
    events = [event for event in await bench.store.timeline.trace(turn.trace) if event.turn == turn.id]
    assert {event.kind for event in events} == {EventKind.MODEL, EventKind.OUTBOUND, EventKind.TURN}
    model = next(event for event in events if event.kind is EventKind.MODEL)
    assert model.parent == turn.span
    assert (model.name, model.status, model.usage is not None, model.cost is not None) == ("priced", "ok", True, True)


async def test_next_turn_sees_the_history(bench: TurnBench) -> None:
    driver = Driver(bench.parts("Hello Ada.", "You are Ada."))
    await driver.run(await make_turn(bench.store, message("I am Ada")), bench.control)
    await driver.run(await make_turn(bench.store, message("Who am I?")), bench.control)
    assert [item.text for item in bench.model.requests[1].messages][:2] == ["I am Ada", "Hello Ada."]


@pytest.mark.parametrize("fault", [fault for fault in ModelFault if fault is not ModelFault.CONTEXT_OVERFLOW])
async def test_model_failure_is_reported_and_never_stored_as_an_answer(bench: TurnBench, fault: ModelFault) -> None:
    turn = await make_turn(bench.store, message("hi"))
    driver = Driver(bench.parts(ModelError(fault, "because"), "Back again."))
    assert await driver.run(turn, bench.control) == Finished(TurnState.FAILED, fault.value)
    result = await bench.store.results.find(turn.inbounds[0].id)
    assert result is not None
    assert (result.kind, result.reason) == (OutboundKind.ERROR, fault.value)
    note = NOT_ANSWERED.format(reason=FAULT_WORDS[fault.value])
    shown = {
        ModelFault.FILTERED: [f"user: {note}"],  # the same text would be filtered again
        ModelFault.BAD_REQUEST: [f"user: hi\n\n{note}"],
    }
    assert await bench.said() == shown.get(fault, ["user: hi", f"user: {note}"])
    kept = await bench.store.transcript.history(turn.session)
    assert [entry.role for entry in kept] == ["user", "user"]
    assert await driver.run(await make_turn(bench.store, message("again")), bench.control) == Finished(TurnState.DONE)
    asked = bench.model.requests[-1].messages[0].text
    before = "" if fault is ModelFault.FILTERED else "hi\n\n"
    assert asked.startswith(f"{before}{note}\n\nagain")


async def test_hidden_turn_keeps_the_beginning_of_its_question(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("Why is this so? " + "long " * 2_000))
    await Driver(bench.parts(ModelError(ModelFault.BAD_REQUEST, "because"))).run(turn, bench.control)
    (said,) = await bench.said()
    assert said.startswith("user: Why is this so? long")
    assert len(said) < 700


async def test_sender_without_a_model_learns_how_to_connect_one(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    await Driver(bench.parts(ModelError(ModelFault.NOT_CONFIGURED, "set THE_KEY"))).run(turn, bench.control)
    assert "set THE_KEY" in await bench.reply(turn)
    assert f"hob retry {turn.inbounds[0].id}" in await bench.reply(turn)


async def test_unusable_settings_are_reported_with_the_reason(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    error = ModelError(ModelFault.SETTINGS, "the API key cannot be read: KEY is not set")
    await Driver(bench.parts(error)).run(turn, bench.control)
    assert "KEY is not set" in await bench.reply(turn)
    assert "hob config check" in await bench.reply(turn)


async def test_failure_names_the_server_and_its_reason(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    error = ModelError(ModelFault.AUTH, "acme/big: acme.example does not accept the API key; check ACME_KEY (401)")
    await Driver(bench.parts(error)).run(turn, bench.control)
    assert str(error) in await bench.reply(turn)


async def test_rate_limit_failure_says_when_to_retry(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    await Driver(bench.parts(ModelError(ModelFault.RATE_LIMIT, retry_after=41.6))).run(turn, bench.control)
    assert "in 42 seconds" in await bench.reply(turn)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (ModelReply(""), "empty_answer"),
        (ModelReply(" \n "), "empty_answer"),
        (ModelReply("I must not", stop=StopReason.FILTER), "filtered"),
        (Cut("Half an ans", ModelError(ModelFault.CUT)), "cut_stream"),
    ],
)
async def test_malformed_answer_is_a_failure(bench: TurnBench, said: Line, reason: str) -> None:
    turn = await make_turn(bench.store, message("hi"))
    assert await Driver(bench.parts(said)).run(turn, bench.control) == Finished(TurnState.FAILED, reason)
    result = await bench.store.results.find(turn.inbounds[0].id)
    assert result is not None
    assert result.reason == reason
    shown = ["user: hi", f"user: {NOT_ANSWERED.format(reason=FAULT_WORDS[reason])}"]
    assert await bench.said() == shown[reason == "filtered" :]


async def test_text_streamed_before_a_failure_is_retracted(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    await Driver(bench.parts(Cut("Half", ModelError(ModelFault.CUT)))).run(turn, bench.control)
    assert len(bench.notices.of(Retracted)) == 1


async def test_shortened_message_is_reported_beside_the_answer(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("a line of a report\n" * 3_000))
    settings = AgentSettings(context_tokens=4_000, max_tokens=500)
    await Driver(bench.parts("An answer.", settings=settings)).run(turn, bench.control)
    (remark,) = remarks_of(await bench.store.journal.load_steps(turn.id))
    assert "no room for the whole message (57000 characters)" in remark


async def test_answer_cut_at_the_length_limit_says_so(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    await Driver(bench.parts(ModelReply("A long sto", stop=StopReason.LENGTH))).run(turn, bench.control)
    assert (await bench.reply(turn)).startswith("A long sto\n\n[The answer was cut off here")


async def test_overflowing_context_is_shortened_at_most_twice(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    overflow = ModelError(ModelFault.CONTEXT_OVERFLOW)
    driver = Driver(bench.parts(overflow, overflow, overflow, "never asked"))
    assert await driver.run(turn, bench.control) == Finished(TurnState.FAILED, "context_overflow")
    assert len(bench.model.requests) == 3
    steps = await bench.store.journal.load_steps(turn.id)
    assert [step.keep for step in steps if isinstance(step, Shortened)] == [10, 0]


async def test_answer_after_one_shortening_counts(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    driver = Driver(bench.parts(ModelError(ModelFault.CONTEXT_OVERFLOW), "Fits now."))
    assert await driver.run(turn, bench.control) == Finished(TurnState.DONE)
    assert await bench.reply(turn) == "Fits now."


async def test_background_work_waits_for_a_busy_model_and_then_answers(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, replace(message("tidy up"), background=True))
    driver = Driver(bench.parts(ModelError(ModelFault.OVERLOAD), "Tidy."))
    parked = await driver.run(turn, bench.control)
    assert parked == Parked(
        WaitsFor.TIME, bench.clock.now().timestamp() + 30, "waits for the model's server (overload)"
    )
    assert await driver.run(turn, bench.control) == parked  # woken too early
    await bench.clock.advance(30)
    assert await driver.run(turn, bench.control) == Finished(TurnState.DONE)
    assert await bench.steps(turn) == [ModelAsked, ModelFailed, Waited, ModelAsked, ModelReplied, Said]


async def test_background_work_stops_waiting_eventually(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, replace(message("tidy up"), background=True))
    busy = ModelError(ModelFault.RATE_LIMIT, retry_after=5)
    driver = Driver(bench.parts(*[busy] * 9))
    for _ in range(8):
        assert isinstance(await driver.run(turn, bench.control), Parked)
        await bench.clock.advance(5)
    assert await driver.run(turn, bench.control) == Finished(TurnState.FAILED, "rate_limit")


async def test_model_that_was_asked_before_a_crash_is_asked_again(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    await bench.store.journal.append(turn.id, [ModelAsked("priced", "h", 10, 5)])
    assert await Driver(bench.parts("Still here.")).run(turn, bench.control) == Finished(TurnState.DONE)
    assert await bench.steps(turn) == [ModelAsked, ModelAsked, ModelReplied, Said]


async def test_journalled_answer_is_sent_without_asking_again(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    await bench.store.journal.append(turn.id, [ModelAsked("priced", "h", 10, 5), ModelReplied("Known.")])
    assert await Driver(bench.parts()).run(turn, bench.control) == Finished(TurnState.DONE)
    assert bench.model.requests == []
    assert await bench.reply(turn) == "Known."


async def test_silent_model_is_reported_and_then_cancelled(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(bench.parts(Silence())).run(turn, bench.control))
        await until_asked(bench)
        await bench.clock.advance(19)
        assert bench.notices.of(Progress) == []
        await bench.clock.advance(1)
        assert [notice.what for notice in bench.notices.seen if isinstance(notice, Progress)] == ["waiting"]
        await bench.clock.advance(100)
    assert task.result() == Finished(TurnState.FAILED, "timeout")
    assert "too long" in await bench.reply(turn)
    assert bench.model.open_streams == 0


async def test_run_that_exceeds_its_time_ends_with_a_message(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    settings = AgentSettings(run_seconds=10)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(bench.parts(Silence(), settings=settings)).run(turn, bench.control))
        await until_asked(bench)
        await bench.clock.advance(10)
    assert task.result() == Finished(TurnState.FAILED, "run_timeout")
    assert await bench.steps(turn) == [ModelAsked, ModelFailed, Stopped, Said]
    assert "after 10 seconds" in await bench.reply(turn)


async def test_person_can_stop_a_turn(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(bench.parts(Silence())).run(turn, bench.control))
        await until_asked(bench)
        bench.control.stop(task, "/stop")
    assert task.result() == Finished(TurnState.CANCELLED, "/stop")
    assert await bench.steps(turn) == [ModelAsked, Cancelled, Said]
    assert await bench.reply(turn) == "Stopped."
    assert await bench.said() == ["user: hi", f"user: {STOPPED}"]


async def test_text_streamed_before_a_stop_is_in_the_next_prompt(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("tell me"))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(bench.parts(Silence("Once upon a time"))).run(turn, bench.control))
        async with asyncio.timeout(10):
            while bench.notices.streamed != "Once upon a time":  # noqa: ASYNC110 - notices tell nobody
                await asyncio.sleep(0)
        bench.control.stop(task, "/stop")
    assert task.result() == Finished(TurnState.CANCELLED, "/stop")
    assert await bench.said() == ["user: tell me", "assistant: Once upon a time", f"user: {STOPPED}"]


async def test_shutdown_leaves_the_turn_to_be_resumed(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    driver = Driver(bench.parts(Silence(), "Here I am."))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(driver.run(turn, bench.control))
        await until_asked(bench)
        task.cancel()
    assert task.cancelled()
    assert await bench.steps(turn) == [ModelAsked]
    assert await driver.run(turn, bench.control) == Finished(TurnState.DONE)


@pytest.mark.parametrize("passes", range(1, 60, 3))  # a task that never started cannot answer for itself
async def test_turn_finishes_exactly_once_wherever_a_stop_occurs(bench: TurnBench, passes: int) -> None:
    turn = await make_turn(bench.store, message("hi"))
    task: asyncio.Task[object]
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Driver(bench.parts("Done.")).run(turn, bench.control))
        for _ in range(passes):
            await asyncio.sleep(0.0002 if passes % 2 else 0)
        if not task.done():
            bench.control.stop(task, "/stop")
    steps = await bench.steps(turn)
    assert steps.count(Said) == 1
    state = (await bench.store.turns.find(turn.id)).state  # type: ignore[union-attr]
    assert task.result() == Finished(state, "/stop" if state is TurnState.CANCELLED else "")


async def test_full_disk_at_the_end_loses_no_answer(bench: TurnBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer was paid for: it is sent when the disk has room again, without asking the model twice."""
    turn = await make_turn(bench.store, message("hi"))
    parts = bench.parts("Precious.")
    journal = Flaky(bench.store)
    driver = Driver(replace(parts, journal=journal))
    journal.full = True
    with pytest.raises(StoreFull):
        await driver.run(turn, bench.control)
    journal.full = False
    assert await driver.run(turn, bench.control) == Finished(TurnState.DONE)
    assert len(bench.model.requests) == 1
    assert await bench.steps(turn) == [ModelAsked, ModelReplied, Said]


async def test_messages_wait_for_the_next_turn_if_no_round_follows(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    other = message("and another thing")
    await put_message(bench.store, other)
    bench.control.waiting.add(other.id)
    await Driver(bench.parts("Hello.")).run(turn, bench.control)
    assert len(await bench.store.inbox.waiting(SESSION)) == 1


async def test_limit_stops_a_call_before_the_money_is_spent(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    driver = Driver(bench.parts("Expensive.", spending=SpendingSettings(per_turn=0.001)))
    assert await driver.run(turn, bench.control) == Finished(TurnState.FAILED, "budget")
    assert bench.model.requests == []
    assert await bench.steps(turn) == [Stopped, Said]
    assert "spending.per_turn" in await bench.reply(turn)


async def test_cost_of_a_call_replaces_its_reservation(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    await Driver(bench.parts(ModelReply("Hi.", usage=Usage(1000, 100)))).run(turn, bench.control)
    assert (await bench.store.ledger.spent()).cost == 1200


async def test_unknown_price_is_counted_as_unknown(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    await Driver(bench.parts("Hi.", model="nameless")).run(turn, bench.control)
    spent = await bench.store.ledger.spent()
    assert (spent.cost, spent.unknown_calls) == (0, 1)


async def test_model_of_the_message_outranks_session_and_settings(bench: TurnBench) -> None:
    await bench.store.sessions.change(SESSION, model="of-session")
    driver = Driver(bench.parts())
    await driver.run(await make_turn(bench.store, message("hi")), bench.control)
    await driver.run(await make_turn(bench.store, replace(message("hi"), model="of-message")), bench.control)
    assert [request.model for request in bench.model.requests] == ["of-session", "of-message"]


async def test_hook_can_refuse_a_turn_and_its_reason_is_shown(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    hooks = Hooks([AtBeforeTurn(Deny("quiet hours"))], bench.clock, 5)
    assert await Driver(bench.parts("Hi.", hooks=hooks)).run(turn, bench.control) == Finished(TurnState.FAILED, "hook")
    assert bench.model.requests == []
    assert "quiet hours" in await bench.reply(turn)


async def test_hook_can_choose_another_model(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    hooks = Hooks([AtBeforeModel(UseModel("cheaper"))], bench.clock, 5)
    await Driver(bench.parts("Hi.", hooks=hooks)).run(turn, bench.control)
    assert bench.model.requests[0].model == "cheaper"


async def test_long_reply_is_pending_in_chunks_in_order(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    text = "\n\n".join(f"Paragraph {n}. " + "word " * 100 for n in range(12))
    await Driver(bench.parts(text)).run(turn, bench.control)
    first = await bench.store.outbox.next("memory", "", bench.clock.now().timestamp())
    assert len(first) == 1
    assert len(first[0].outbound.text) <= 4000
    assert (await bench.store.outbox.counts()).open == 2


class Flaky:
    """The store's journal; while `full`, turns cannot be finished."""

    def __init__(self, store: Store) -> None:
        self.full = False
        self.load_steps = store.journal.load_steps
        self.append = store.journal.append
        self.steer = store.journal.steer
        self._store = store

    async def finish(self, finish: object) -> None:
        if self.full:
            raise StoreFull
        await self._store.journal.finish(finish)  # type: ignore[arg-type]


class AtBeforeTurn:
    name = "before turn"

    def __init__(self, decision: Decision) -> None:
        self._decision = decision

    async def __call__(self, event: HookEvent) -> Decision:
        return self._decision if isinstance(event, BeforeTurn) else Proceed()


class AtBeforeModel(AtBeforeTurn):
    async def __call__(self, event: HookEvent) -> Decision:
        return self._decision if isinstance(event, BeforeModel) else Proceed()


async def until_asked(bench: TurnBench) -> None:
    while not bench.model.open_streams:  # noqa: ASYNC110 - the store's threads need real time
        await asyncio.sleep(0.001)
    await settle()


async def test_call_without_a_result_gets_one_before_the_next_request(bench: TurnBench) -> None:
    """Regression: the reservation of a refused call stayed, and the second request found no room."""
    turn = await make_turn(bench.store, message("hi"))
    refused = ModelReply("", calls=(ToolCall(CallId("c1"), "no_such_tool", "{}"),), usage=Usage(10, 10))
    settings = AgentSettings(patience_seconds=0)
    parts = bench.parts(refused, "Done.", spending=SpendingSettings(per_turn=0.025), settings=settings)
    assert await Driver(parts).run(turn, bench.control) == Finished(TurnState.DONE)
