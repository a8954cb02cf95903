"""The turn without I/O; a test reads like a turn's journal."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.agent.turn.loops import LoopRules
from hob.agent.turn.turn import (
    AskModel,
    Command,
    FoldedTurn,
    Park,
    RunTools,
    Say,
    TurnRules,
    WriteSteps,
    decide,
    fold,
    start,
    substitute_result,
)
from hob.app.subagents.specs import SESSIONS_LIST, SESSIONS_SEND
from hob.core.errors import ModelFault
from hob.core.ids import ApprovalId, CallId, InboundId, SessionKey, SpanId, TraceId, TurnId
from hob.core.messages import OutboundKind
from hob.core.models import StopReason
from hob.core.states import TurnState
from hob.core.steps import (
    ApprovalAnswered,
    ApprovalAsked,
    Cancelled,
    ModelAsked,
    ModelFailed,
    ModelReplied,
    Noted,
    Said,
    Shortened,
    Steered,
    Step,
    Stopped,
    ToolIntended,
    ToolReceived,
    UserAnswered,
    UserAsked,
    Waited,
)
from hob.core.tools import Restart, ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import OWNER_LABEL, Trust
from hob.core.turns import Turn, WaitsFor
from hob.tools.browser.specs import BROWSER_TOOL
from hob.tools.exec.specs import EXEC
from hob.tools.messages.specs import MESSAGE
from hob.tools.web.specs import WEB_FETCH, WEB_SEARCH

RULES = TurnRules(max_rounds=3, parallel=frozenset({"look"}))
TURN = Turn(TurnId("t_1"), SessionKey("s"), TraceId("0" * 32), SpanId("0" * 16), ())
NOBODY_WAITS = FoldedTurn(TurnId("t_1"), background=True)
IN_FRONT = FoldedTurn(TurnId("t_1"))

ASKED = ModelAsked("m", "hash", 100)
LOOK = ToolCall(CallId("a"), "look", "{}")
LOOK_TOO = ToolCall(CallId("b"), "look", '{"n":2}')
PAY = ToolCall(CallId("p"), "pay", "{}")


def replied(*calls: ToolCall, text: str = "", stop: StopReason = StopReason.TOOLS) -> ModelReplied:
    return ModelReplied(text, calls, stop if calls else StopReason.END)


def intended(call: ToolCall, restart: Restart = Restart.NEVER) -> ToolIntended:
    return ToolIntended(call, restart, "rule")


def got(call: ToolCall, text: str = "fine", status: str = "ok") -> ToolReceived:
    return ToolReceived(ToolResult(call.id, text), status=status)


def after(*steps: Step, begin: FoldedTurn = IN_FRONT) -> FoldedTurn:
    state = begin
    for step in steps:
        state = fold(state, step)
    return state


def next_after(*steps: Step, begin: FoldedTurn = IN_FRONT, rules: TurnRules = RULES) -> Command:
    return decide(after(*steps, begin=begin), rules)


def ran(command: Command) -> list[CallId]:
    assert isinstance(command, RunTools)
    return [item.call.id for item in command.calls]


def test_turn_begins_by_asking_the_model() -> None:
    assert next_after(begin=start(TURN)) == AskModel()


def test_answer_without_calls_ends_the_turn() -> None:
    answer = replied(text="Hello.")
    assert next_after(ASKED, answer) == Say("Hello.", OutboundKind.REPLY, TurnState.DONE)
    assert next_after(ASKED, answer, Said("Hello.", OutboundKind.REPLY)) == next_after(ASKED, answer)


def test_request_open_at_a_crash_is_repeated() -> None:
    assert next_after(ASKED) == AskModel()


def test_calls_run_in_order_before_the_next_request() -> None:
    first, second = PAY, ToolCall(CallId("q"), "pay", '{"n":2}')
    lap = (ASKED, replied(first, second))
    assert ran(next_after(*lap)) == ["p"]
    assert ran(next_after(*lap, intended(first), got(first))) == ["q"]
    assert next_after(*lap, intended(first), got(first), intended(second), got(second)) == AskModel()


def test_parallel_calls_run_together_up_to_the_first_sequential_one() -> None:
    assert ran(next_after(ASKED, replied(LOOK, LOOK_TOO, PAY))) == ["a", "b"]
    assert ran(next_after(ASKED, replied(PAY, LOOK, LOOK_TOO))) == ["p"]


def test_call_open_at_a_crash_is_repeated_only_if_its_tool_allows() -> None:
    again = (ASKED, replied(LOOK), intended(LOOK, Restart.AGAIN))
    assert ran(next_after(*again)) == ["a"]
    never = next_after(ASKED, replied(PAY), intended(PAY))
    assert isinstance(never, WriteSteps)
    (told,) = never.steps
    assert isinstance(told, ToolReceived)
    assert told.status == "unknown_outcome"


def test_results_of_a_crashed_batch_are_settled_one_by_one() -> None:
    steps = (ASKED, replied(LOOK, LOOK_TOO), intended(LOOK), intended(LOOK_TOO), got(LOOK_TOO))
    command = next_after(*steps)
    assert isinstance(command, WriteSteps)
    assert [step.result.call for step in command.steps if isinstance(step, ToolReceived)] == ["a"]


def test_same_call_id_in_two_rounds_means_two_calls() -> None:
    first = (ASKED, replied(PAY), intended(PAY), got(PAY))
    assert ran(next_after(*first, ASKED, replied(PAY))) == ["p"]


def test_open_approval_parks_and_its_answer_decides() -> None:
    asked = (ASKED, replied(PAY), ApprovalAsked(ApprovalId("x"), PAY.id, "it costs"))
    parked = next_after(*asked)
    assert isinstance(parked, Park)
    assert parked.on is WaitsFor.APPROVAL
    assert ran(next_after(*asked, ApprovalAnswered(ApprovalId("x"), PAY.id, allowed=True))) == ["p"]
    silence = next_after(*asked, ApprovalAnswered(ApprovalId("x"), PAY.id, allowed=False))
    assert silence == WriteSteps((substitute_result(PAY.id, "Nobody allowed this call in time.", "denied"),))
    denied = next_after(*asked, ApprovalAnswered(ApprovalId("x"), PAY.id, allowed=False, by="me"))
    assert denied == WriteSteps((substitute_result(PAY.id, "The owner did not allow this call.", "denied"),))


def test_question_to_the_user_parks_and_the_answer_is_the_calls_result() -> None:
    asked = (ASKED, replied(PAY), UserAsked(PAY.id, "How much?"))
    parked = next_after(*asked)
    # other turns of the session read the line as Hob's own, so it must not contain the model's question
    assert parked == Park(WaitsFor.ANSWER, "waits for an answer (t_1)")
    assert next_after(*asked, UserAnswered(PAY.id, InboundId("m_2"), "Ten.", OWNER_LABEL)) == AskModel()


def test_new_message_skips_calls_that_have_not_begun() -> None:
    steered = Steered(InboundId("m_2"), "no!", OWNER_LABEL)
    other = ToolCall(CallId("q"), "pay", '{"n":2}')
    command = next_after(ASKED, replied(PAY, other), intended(PAY), got(PAY), steered)
    assert isinstance(command, WriteSteps)
    assert [(step.result.call, step.status) for step in command.steps if isinstance(step, ToolReceived)] == [
        ("q", "skipped")
    ]
    assert next_after(ASKED, replied(PAY), intended(PAY), got(PAY), steered) == AskModel()


def test_rounds_are_counted_by_answers() -> None:
    lap = (ASKED, ASKED, replied(PAY), intended(PAY), got(PAY))
    assert next_after(*lap, *lap) == AskModel()
    ended = next_after(*lap, *lap, *lap)
    assert isinstance(ended, Say)
    assert (ended.kind, ended.state, ended.reason) == (OutboundKind.ERROR, TurnState.FAILED, "iteration_limit")


@pytest.mark.parametrize("fault", ModelFault)
def test_every_failure_ends_with_an_error_message(fault: ModelFault) -> None:
    overflow = (ModelFailed("context_overflow", ""), Shortened(10), ModelFailed("context_overflow", ""), Shortened(0))
    said = next_after(*overflow, ASKED, ModelFailed(fault.value, "why"))
    assert isinstance(said, Say)
    assert (said.kind, said.state, said.reason) == (OutboundKind.ERROR, TurnState.FAILED, fault.value)


def test_background_work_waits_for_a_busy_model_and_a_person_does_not() -> None:
    busy = (ASKED, ModelFailed("rate_limit", "", retry_at=500.0, retry_after=60.0))
    assert next_after(*busy, begin=NOBODY_WAITS) == WriteSteps((Waited(500.0, "rate_limit"),))
    assert next_after(*busy, Waited(500.0, "rate_limit"), begin=NOBODY_WAITS) == AskModel(500.0)
    assert isinstance(next_after(*busy), Say)


def test_answer_resets_the_waiting() -> None:
    waited = (ASKED, ModelFailed("overload", "", retry_at=9.0), Waited(9.0, "overload"), ASKED, replied(PAY))
    state = after(*waited, intended(PAY), got(PAY), begin=NOBODY_WAITS)
    assert (state.waits, decide(state, RULES)) == (0, AskModel())


def test_stopped_turn_stays_stopped_whatever_is_open() -> None:
    open_calls = (ASKED, replied(PAY), intended(PAY))
    assert next_after(*open_calls, Stopped("run_timeout", "Too long.")) == Say(
        "Too long.", OutboundKind.ERROR, TurnState.FAILED, "run_timeout"
    )
    cancelled = next_after(*open_calls, Cancelled("/stop"))
    assert isinstance(cancelled, Say)
    assert cancelled.state is TurnState.CANCELLED


def test_trust_comes_from_the_newest_request() -> None:
    assert after(ModelAsked("m", "h", 1, trust=Trust.TRUSTED)).trust is Trust.TRUSTED
    assert after(ModelAsked("m", "h", 1, trust=Trust.TRUSTED), ASKED).trust is Trust.UNTRUSTED


def test_loop_is_noted_once_then_refused_then_ends_the_turn() -> None:
    rules = TurnRules(max_rounds=99, loops=LoopRules(2, 3, 30))
    lap = (ASKED, replied(PAY), intended(PAY), got(PAY))
    noted = next_after(*lap, *lap, rules=rules)
    assert isinstance(noted, WriteSteps)
    (note,) = noted.steps
    assert isinstance(note, Noted)
    warned = (*lap, *lap, note)
    assert next_after(*warned, rules=rules) == AskModel()
    refused = next_after(*warned, *lap, ASKED, replied(PAY), rules=rules)
    assert isinstance(refused, WriteSteps)
    assert [step.status for step in refused.steps if isinstance(step, ToolReceived)] == ["loop"]
    ended = next_after(*warned, *lap, ASKED, replied(PAY), *refused.steps, ASKED, replied(PAY), rules=rules)
    assert isinstance(ended, Say)
    assert ended.reason == "loop"


CALLS = st.builds(
    ToolCall, st.sampled_from(["a", "b", "c"]).map(CallId), st.sampled_from(["look", "pay"]), st.sampled_from(["{}"])
)
ANY_STEP: st.SearchStrategy[Step] = st.one_of(
    st.just(ASKED),
    st.lists(CALLS, max_size=3, unique_by=lambda call: call.id).map(lambda calls: replied(*calls, text="t")),
    st.builds(ModelFailed, st.sampled_from([fault.value for fault in ModelFault]), st.just("")),
    st.builds(Waited, st.just(5.0), st.just("overload")),
    st.builds(intended, CALLS, st.sampled_from(Restart)),
    st.builds(got, CALLS, st.just("x"), st.sampled_from(["ok", "error", "loop", "skipped"])),
    st.builds(ApprovalAsked, st.just(ApprovalId("x")), st.sampled_from(["a", "b"]).map(CallId), st.just("r")),
    st.builds(ApprovalAnswered, st.just(ApprovalId("x")), st.sampled_from(["a", "b"]).map(CallId), st.booleans()),
    st.just(Steered(InboundId("m"), "s", OWNER_LABEL)),
    st.just(Shortened(3)),
)


@given(st.lists(ANY_STEP, max_size=12), st.booleans())
def test_turn_terminates_whatever_was_journalled(steps: list[Step], background: bool) -> None:
    """From any journal, however odd, performing the commands ends with an answer or a park."""
    state = after(*steps, begin=FoldedTurn(TurnId("t"), background=background))
    for _ in range(200):
        command = decide(state, RULES)
        if isinstance(command, Say | Park):
            return
        for step in performed(command):
            state = fold(state, step)
    raise AssertionError("the turn goes on for ever")


def performed(command: Command) -> tuple[Step, ...]:
    """Return the steps a driver would journal, with a model that always makes another call."""
    match command:
        case AskModel():
            return (ASKED, replied(PAY))
        case RunTools(items):
            intents = [intended(item.call) for item in items if item.intent is None]
            return (*intents, *[got(item.call) for item in items])
        case WriteSteps(steps):
            return steps
        case _:
            return ()


CLAIM = "I've sent the email."


def test_unbacked_claim_is_retried_once_and_then_marked() -> None:
    first = (ASKED, replied(text=CLAIM))
    command = next_after(*first)
    assert isinstance(command, WriteSteps)
    assert next_after(*first, *command.steps) == AskModel()
    end = next_after(*first, *command.steps, ASKED, replied(text=CLAIM))
    assert isinstance(end, Say)
    assert end.reason == "unbacked_claim"
    assert CLAIM in end.text
    assert "Unconfirmed" in end.text


def test_backed_claim_is_the_answer() -> None:
    end = next_after(ASKED, replied(PAY), intended(PAY), got(PAY), ASKED, replied(text=CLAIM))
    assert isinstance(end, Say)
    assert end.text == CLAIM


@pytest.mark.parametrize(
    ("tool", "arguments", "backed"),
    [
        *((EXEC, {}, False), (EXEC, {"network": False}, False)),
        *((EXEC, {"network": True}, True), (EXEC, {"hosts": ["a.example"]}, True)),
        *((WEB_SEARCH, {"query": "Ann"}, False), (WEB_FETCH, {"url": "https://a.example"}, False)),
        *((MESSAGE, {"action": "read"}, False), (MESSAGE, {"action": "send", "text": "hi"}, True)),
        *((SESSIONS_SEND, {"session": "api:work"}, True), (SESSIONS_LIST, {}, False)),
        *((BROWSER_TOOL, {"action": "open"}, False), (BROWSER_TOOL, {"action": "act", "kind": "click"}, True)),
    ],
)
def test_claim_of_a_mail_needs_a_call_that_may_have_sent_it(
    tool: ToolSpec, arguments: Mapping[str, Any], backed: bool
) -> None:
    """Searching the web communicates, too: any search used to back "I've sent the email."."""
    made = ToolCall(CallId("p"), tool.name, json.dumps(arguments))
    steps = (ASKED, replied(made), intended(made), got(made), ASKED, replied(text=CLAIM))
    command = next_after(*steps, rules=replace(RULES, tools={tool.name: tool}))
    assert isinstance(command, Say if backed else WriteSteps)


def test_claim_about_a_failed_call_is_retried() -> None:
    failed = ToolReceived(ToolResult(PAY.id, "no", is_error=True), status="error")
    assert isinstance(next_after(ASKED, replied(PAY), intended(PAY), failed, ASKED, replied(text=CLAIM)), WriteSteps)
