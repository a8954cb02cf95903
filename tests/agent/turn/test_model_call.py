"""A model that chooses who answers, its remarks, and continuations."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from hob.agent.budget.limits import PeriodLimits, SpendingSettings
from hob.agent.compaction.compaction import Compacted, Compactor
from hob.agent.compaction.summaries import HEADINGS
from hob.agent.remarks import remarks_of, render
from hob.agent.settings import AgentSettings
from hob.agent.turn.driver import Driver
from hob.agent.turn.hooks import Hooks
from hob.core.errors import ModelError, ModelFault
from hob.core.events.hooks import BeforeModel, Decision, HookEvent, Proceed, UseModel
from hob.core.events.notices import Progress
from hob.core.events.timeline import EventKind
from hob.core.messages import Outbound, OutboundKind, Sender
from hob.core.models import (
    AssistantMessage,
    Continuation,
    ModelReply,
    ModelRequest,
    Remark,
    Route,
    Thinking,
    Usage,
)
from hob.core.states import TurnState
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied, Stopped
from hob.core.tools import ToolCall
from hob.core.translation.sentences import Sentence, say
from hob.core.trust.labels import SenderClass
from hob.core.turns import Finished, Turn
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.model import Line, ScriptedModel, calls
from tests.turns import SESSION, make_turn

from .test_driver import TurnBench

STOOD_IN = Remark("stand_in_overload", (("model", "a/one"), ("other", "b/two")))
LINE = say(Sentence.STAND_IN_OVERLOAD, model="a/one", other="b/two")


class Router(ScriptedModel):
    """A `Routes` implementation: `chains` by the name or else the task of a request, with the remarks `on_route`."""

    def __init__(self, *script: Line, chains: Mapping[str, tuple[str, ...]] | None = None) -> None:
        super().__init__(*script)
        self.chains = {"chat": ("a/one", "b/two")} | dict(chains or {})
        self.on_route: tuple[Remark, ...] = ()
        self.routed: list[ModelRequest] = []

    async def route(self, request: ModelRequest) -> Route:
        if request.messages:
            self.routed.append(request)
        chain = request.models or self.chains.get(request.model or request.task)
        if chain is None:
            raise ModelError(ModelFault.NOT_FOUND, f"nobody is called {request.model}")
        return Route(replace(request, models=chain), self.on_route if request.messages else ())


class OnceOther:
    """Implements `Hook`: chooses a model for the first call it sees."""

    name = "once"

    def __init__(self) -> None:
        self.used = False

    async def __call__(self, event: HookEvent) -> Decision:
        if self.used or not isinstance(event, BeforeModel):
            return Proceed()
        self.used = True
        return UseModel("other")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[TurnBench]:
    clock = ManualClock()
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        yield TurnBench(store, clock)


async def perform(bench: TurnBench, router: Router, turn: Turn, **parts: object) -> TurnState:
    driver = Driver(replace(bench.parts(), model=router, **parts))  # type: ignore[arg-type]
    outcome = await driver.run(turn, bench.control)
    assert isinstance(outcome, Finished)
    return outcome.state


async def pending(bench: TurnBench) -> list[Outbound]:
    found = []
    while rows := await bench.store.outbox.next("memory", "", bench.clock.now().timestamp()):
        for row in rows:
            found.append(row.outbound)
            await bench.store.outbox.sending(row.outbound.id)
            await bench.store.outbox.sent(row.outbound.id)
    return found


async def test_model_without_room_under_its_limit_is_not_asked(bench: TurnBench) -> None:
    router = Router("Hello.")
    turn = await make_turn(bench.store, message("hi"))
    limits = SpendingSettings(models={"a/one": PeriodLimits(daily=0)})
    assert await perform(bench, router, turn, budget=bench.parts(spending=limits).budget) is TurnState.DONE
    assert [request.models for request in router.requests] == [("b/two",)]
    asked, *_ = await bench.store.journal.load_steps(turn.id)
    assert isinstance(asked, ModelAsked)
    assert (asked.model, asked.models) == ("b/two", ("b/two",))
    assert '`spending.models."a/one".daily`' in asked.remarks[0]


async def test_route_is_chosen_before_journalling_and_used_for_the_request(bench: TurnBench) -> None:
    router = Router("Hello.")
    turn = await make_turn(bench.store, message("hi"))
    assert await perform(bench, router, turn) is TurnState.DONE
    (sent,) = router.requests
    assert (sent.model, sent.models, sent.task) == ("", ("a/one", "b/two"), "chat")
    asked = next(step for step in await bench.store.journal.load_steps(turn.id) if isinstance(step, ModelAsked))
    assert asked.model == "a/one"


async def test_session_and_message_choose_the_routed_model(bench: TurnBench) -> None:
    router = Router(chains={"fast": ("c/small",), "smart": ("d/large",)})
    await bench.store.sessions.change(SESSION, model="fast")
    await perform(bench, router, await make_turn(bench.store, message("hi")))
    await perform(bench, router, await make_turn(bench.store, replace(message("hi"), model="smart")))
    assert [request.models for request in router.requests] == [("c/small",), ("d/large",)]


async def test_unknown_model_is_reported_and_nothing_is_asked(bench: TurnBench) -> None:
    router = Router()
    turn = await make_turn(bench.store, replace(message("hi"), model="nobody"))
    assert await perform(bench, router, turn) is TurnState.FAILED
    assert "nobody is called nobody" in await bench.reply(turn)
    assert router.requests == []


async def test_turn_continues_with_the_models_it_began_with(bench: TurnBench) -> None:
    router = Router(calls(("nothing", "{}")), "done")
    router.chains["chat"] = ("cheap/one",)
    turn = await make_turn(bench.store, message("hi"))
    await perform(bench, router, turn)
    assert [request.models for request in router.routed] == [(), ("cheap/one",)]


async def test_hooks_choice_holds_for_one_call(bench: TurnBench) -> None:
    router = Router(calls(("nothing", "{}")), "done", chains={"other": ("c/other",)})
    hooks = Hooks([OnceOther()], bench.clock, 5.0)
    await perform(bench, router, await make_turn(bench.store, message("hi")), hooks=hooks)
    assert [request.models for request in router.requests] == [("c/other",), ("a/one", "b/two")]


async def test_session_sets_the_thinking_level(bench: TurnBench) -> None:
    router = Router()
    await perform(bench, router, await make_turn(bench.store, message("hi")))
    await bench.store.sessions.change(SESSION, thinking=Thinking.HIGH)
    await perform(bench, router, await make_turn(bench.store, message("hi")))
    assert [request.thinking for request in router.requests] == [None, Thinking.HIGH]


async def test_providers_own_charge_counts_and_the_answering_model_is_named(bench: TurnBench) -> None:
    router = Router(ModelReply("Hello.", usage=Usage(10, 5), model="two-2026-01-01", ref="b/two", cost=77))
    turn = await make_turn(bench.store, message("hi"))
    await perform(bench, router, turn)
    replied = next(step for step in await bench.store.journal.load_steps(turn.id) if isinstance(step, ModelReplied))
    assert (replied.ref, replied.model, replied.cost) == ("b/two", "two-2026-01-01", 77)
    event = next(e for e in await bench.store.timeline.trace(turn.trace) if e.kind is EventKind.MODEL)
    assert (event.name, event.cost) == ("b/two", 77)
    assert (await bench.store.ledger.spent(model="b/two")).cost == 77


async def test_price_is_that_of_the_model_that_answered(bench: TurnBench) -> None:
    router = Router(ModelReply("Hello.", usage=Usage(10, 5), ref="priced"))
    turn = await make_turn(bench.store, message("hi"))
    await perform(bench, router, turn)
    assert (await bench.store.ledger.spent(model="priced")).cost == 20


async def test_overflow_teaches_the_limit_of_the_model_that_was_asked(bench: TurnBench) -> None:
    parts = bench.parts()
    router = Router(ModelError(ModelFault.CONTEXT_OVERFLOW), "ok")
    turn = await make_turn(bench.store, message("word " * 2_000))
    await perform(bench, router, turn, context_room=parts.context_room)
    rooms = [parts.context_room.measure(name, AgentSettings(), 4_096) for name in ("a/one", "b/two")]
    assert [room.prompt < room.maximum for room in rooms] == [True, False]


# Remarks


async def test_remark_is_delivered_once_and_never_shown_to_a_model(bench: TurnBench) -> None:
    router = Router(calls(("nothing", "{}")), "Done.", "And?")
    router.remarks = (STOOD_IN,)
    turn = await make_turn(bench.store, message("hi"))
    await perform(bench, router, turn)
    assert bench.notices.of(Progress)[0] == Progress(turn.trace, SESSION, "remark", text=LINE)
    assert sum(isinstance(notice, Progress) and notice.what == "remark" for notice in bench.notices.seen) == 1
    assert [(out.kind, out.text) for out in await pending(bench)] == [
        (OutboundKind.REPLY, "Done."),
        (OutboundKind.NOTICE, LINE),
    ]
    result = await bench.store.results.find(turn.inbounds[0].id)
    assert result is not None
    assert (result.reply, result.notes) == ("Done.", (LINE,))
    await perform(bench, router, await make_turn(bench.store, message("go on")))
    assert all(LINE not in item.text for request in router.requests for item in request.messages)
    assert all(LINE not in entry.text for entry in await bench.store.transcript.history(SESSION))


async def test_remark_is_in_the_timeline(bench: TurnBench) -> None:
    router = Router("Done.")
    router.on_route = (STOOD_IN,)
    turn = await make_turn(bench.store, message("hi"))
    await perform(bench, router, turn)
    event = next(e for e in await bench.store.timeline.trace(turn.trace) if e.kind is EventKind.MODEL)
    assert event.text == LINE


async def test_failure_keeps_its_remarks(bench: TurnBench) -> None:
    router = Router(ModelError(ModelFault.AUTH, "no"))
    router.remarks = (STOOD_IN,)
    turn = await make_turn(bench.store, message("hi"))
    assert await perform(bench, router, turn) is TurnState.FAILED
    failed = next(step for step in await bench.store.journal.load_steps(turn.id) if isinstance(step, ModelFailed))
    assert failed.remarks == (LINE,)
    assert [out.kind for out in await pending(bench)] == [OutboundKind.ERROR, OutboundKind.NOTICE]


async def test_other_senders_receive_only_the_answer(bench: TurnBench) -> None:
    router = Router("To a member.", "To a group.")
    router.remarks = (STOOD_IN,)
    member = replace(message("hi"), sender=Sender("m", cls=SenderClass.MEMBER))
    await perform(bench, router, await make_turn(bench.store, member))
    await perform(bench, router, await make_turn(bench.store, replace(message("hi"), group=True)))
    assert [out.text for out in await pending(bench)] == ["To a member.", "To a group."]


async def test_fetched_reply_leaves_no_second_message_waiting(bench: TurnBench) -> None:
    router = Router("Done.")
    router.remarks = (STOOD_IN,)
    turn = await make_turn(bench.store, message("hi", channel="api"))
    await perform(bench, router, turn)
    assert (await bench.store.outbox.counts()).unread == 1


async def test_silent_turn_sends_no_remarks(bench: TurnBench) -> None:
    router = Router("NO_REPLY")
    router.remarks = (STOOD_IN,)
    turn = await make_turn(bench.store, message("fyi"))
    assert await perform(bench, router, turn) is TurnState.SILENT
    assert await pending(bench) == []
    assert remarks_of(await bench.store.journal.load_steps(turn.id)) == (LINE,)


async def test_unsent_request_leaves_no_remark(bench: TurnBench) -> None:
    router = Router("never")
    router.on_route = (STOOD_IN,)
    turn = await make_turn(bench.store, message("hi"))
    parts = replace(bench.parts(spending=SpendingSettings(daily=1.0, on_unknown="refuse")), model=router)
    await Driver(parts).run(turn, bench.control)
    assert any(isinstance(step, Stopped) for step in await bench.store.journal.load_steps(turn.id))
    assert bench.notices.of(Progress) == []


def test_remark_is_one_line_in_the_owners_language() -> None:
    hostile = Remark("STAND_IN_OVERLOAD", (("model", "a\n\x1b[31mb"), ("other", "c" * 2_000)))
    line = render(hostile, "de")
    assert line.startswith("a [31mb ist gerade überlastet")
    assert len(line) <= 500
    assert line.isprintable()


@pytest.mark.parametrize("remark", [Remark("of_tomorrow", (("a", "b"),)), Remark("stand_in_overload")])
def test_remark_without_a_known_sentence_is_still_shown(remark: Remark) -> None:
    assert render(remark, "en").startswith(remark.sentence)


# Continuations


def signed(text: str, data: str, *called: ToolCall) -> ModelReply:
    reply = calls(("nothing", "{}"), text=text)
    return replace(reply, calls=called or reply.calls, continuation=Continuation("anthropic", data))


async def test_signed_reasoning_is_returned_unchanged_within_the_turn_only(bench: TurnBench) -> None:
    data = '[{"type":"thinking","signature":"x/ü=="}]'
    router = Router(signed("", data), signed("Half done.", "second"), "Done.", "Bye.")
    await perform(bench, router, await make_turn(bench.store, message("hi")))
    await perform(bench, router, await make_turn(bench.store, message("bye")))

    def sent(place: int) -> list[Continuation | None]:
        messages = router.requests[place].messages
        return [item.continuation for item in messages if isinstance(item, AssistantMessage)]

    first, second = Continuation("anthropic", data), Continuation("anthropic", "second")
    assert [sent(place) for place in range(4)] == [[], [first], [first, second], [None, None, None]]
    assert all(entry.continuation is None for entry in await bench.store.transcript.history(SESSION))


async def test_signed_reasoning_survives_a_crash(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("hi"))
    replied = signed("", "sealed")
    step = ModelReplied("", replied.calls, replied.stop, continuation=replied.continuation)
    await bench.store.journal.append(turn.id, [ModelAsked("a/one", "0", 1), step])
    router = Router("Done.")
    await perform(bench, router, turn)
    (said,) = [item for item in router.requests[0].messages if isinstance(item, AssistantMessage)]
    assert said.continuation == Continuation("anthropic", "sealed")


async def test_sealed_reasoning_counts_as_input(bench: TurnBench) -> None:
    router = Router(signed("", "s" * 40_000), "Done.")
    turn = await make_turn(bench.store, message("hi"))
    await perform(bench, router, turn)
    asked = [step for step in await bench.store.journal.load_steps(turn.id) if isinstance(step, ModelAsked)]
    assert asked[1].input_estimate > asked[0].input_estimate + 10_000


async def test_summary_has_its_own_task(bench: TurnBench) -> None:
    text = "\n".join(f"## {heading}\nA line." for heading in HEADINGS)
    router = Router(*(["Hello."] * 3), ModelReply(text, usage=Usage(10, 5)), chains={"summary": ("priced",)})
    settings = AgentSettings(window=2)
    for _ in range(3):
        await perform(bench, router, await make_turn(bench.store, message("hi")))
    router.remarks = (STOOD_IN,)
    compactor = Compactor(
        settings, model=router, transcript=bench.store.transcript,
        budget=bench.parts().budget, clock=bench.clock,
    )  # fmt: skip
    done = await compactor.compact(SESSION, reason="/compact", model="")
    assert isinstance(done, Compacted), done
    made = [event for event in await bench.store.timeline.latest(9, SESSION) if event.kind is EventKind.MODEL]
    assert [event.text for event in made if event.turn is None] == [LINE]
    assert (router.requests[-1].task, router.requests[-1].models) == ("summary", ("priced",))
    assert (done.summary.model, (await bench.store.ledger.spent(model="priced")).cost) == ("priced", 20)
