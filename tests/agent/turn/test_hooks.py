"""Hooks, and the wall around them."""

import asyncio
import json
import logging

import pytest

from hob.agent.turn.hooks import HookDecision, Hooks
from hob.core.events.hooks import BeforeModel, BeforeTool, Decision, Deny, HookEvent, Proceed, Replace, UseModel
from hob.core.ids import CallId, SessionKey, SpanId, TraceId, TurnId
from hob.core.models import ModelRequest
from hob.core.tools import ToolCall
from hob.core.turns import Turn
from hob.testing.clock import ManualClock, settle

TURN = Turn(TurnId("t"), SessionKey("s"), TraceId("0"), SpanId("0"), ())
CALL = BeforeTool(TURN, ToolCall(CallId("c"), "rm", '{"path":"/"}'))
ASK = BeforeModel(TURN, ModelRequest("big", "", ()))


class Fixed:
    """A hook that always decides the same and remembers what it saw."""

    def __init__(self, decision: Decision, name: str = "fixed") -> None:
        self.name = name
        self.seen: list[HookEvent] = []
        self._decision = decision

    async def __call__(self, event: HookEvent) -> Decision:
        self.seen.append(event)
        return self._decision


class Broken:
    name = "broken"

    async def __call__(self, event: HookEvent) -> Decision:
        raise RuntimeError("oops")


class Late:
    name = "late"

    async def __call__(self, event: HookEvent) -> Decision:
        await asyncio.Event().wait()
        return Deny("never said")


def hooks(*members: Fixed | Broken | Late) -> Hooks:
    return Hooks(members, ManualClock(), 5)


async def test_call_without_hooks_proceeds() -> None:
    assert not hooks()
    assert await hooks().decide(CALL) == HookDecision()


async def test_first_refusal_wins_and_later_hooks_are_not_asked() -> None:
    later = Fixed(Deny("second"))
    assert await hooks(Fixed(Proceed()), Fixed(Deny("first")), later).decide(CALL) == HookDecision(denied="first")
    assert later.seen == []


async def test_later_hook_sees_the_arguments_of_an_earlier_one() -> None:
    second = Fixed(Proceed())
    decided = await hooks(Fixed(Replace({"path": "/tmp"})), second).decide(CALL)
    assert decided.arguments == {"path": "/tmp"}
    (event,) = second.seen
    assert isinstance(event, BeforeTool)
    assert json.loads(event.call.arguments) == {"path": "/tmp"}


async def test_last_chosen_model_wins_and_each_hook_sees_the_previous_choice() -> None:
    second = Fixed(UseModel("tiny"))
    assert (await hooks(Fixed(UseModel("small")), second).decide(ASK)).model == "tiny"
    (event,) = second.seen
    assert isinstance(event, BeforeModel)
    assert event.request.model == "small"


async def test_hook_that_fails_counts_as_proceed_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert await hooks(Broken(), Fixed(Deny("no"))).decide(CALL) == HookDecision(denied="no")
    assert "hook broken failed: RuntimeError('oops') at BeforeTool" in caplog.text


async def test_hook_that_times_out_counts_as_proceed(caplog: pytest.LogCaptureFixture) -> None:
    clock = ManualClock()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Hooks([Late()], clock, 5).decide(CALL))
        await settle()
        await clock.advance(5)
    assert task.result() == HookDecision()
    assert "hook late was late" in caplog.text


async def test_cancelled_turn_does_not_wait_for_its_hooks() -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(hooks(Late()).decide(CALL))
        await settle()
        task.cancel()
    assert task.cancelled()
