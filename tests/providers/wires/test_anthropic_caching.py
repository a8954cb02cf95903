"""What the prompt cache is asked to keep is what the next request can use."""

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from hob.core.ids import CallId
from hob.core.models import AssistantMessage, ModelMessage, ModelReply, ModelRequest, ToolMessage, Usage, UserMessage
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.server import Server
from hob.providers.http.transport import HttpModel
from hob.providers.wires.anthropic.wire import AnthropicMessages
from hob.testing.clock import ManualClock
from hob.testing.model_server import ModelServer, Reply

TOOLS = tuple(ToolSpec(f"tool_{n}", "Does a thing. " * 20, {"type": "object", "properties": {}}) for n in range(5))
SYSTEM = "You are kind. " * 200
VOLATILE = "\n\nIt is five past nine."
VOLATILE_TOKENS = 10
Said = list[ModelMessage]


@pytest.fixture
async def model() -> AsyncIterator[HttpModel]:
    async with (
        ModelServer(otherwise=Reply("ok"), cache_from=1) as server,
        aclosing(HttpModel(AnthropicMessages(), Server(server.root), ManualClock())) as model,
    ):
        yield model


async def ask(model: HttpModel, said: Said, system: str = SYSTEM) -> Usage:
    """What the request cost."""
    events = [event async for event in model.stream(ModelRequest("claude-x", system, tuple(said), TOOLS))]
    assert isinstance(events[-1], ModelReply)
    assert events[-1].usage is not None
    return events[-1].usage


def steps(turn: int, calls: int) -> Said:
    """One step of a turn: so many calls at once, and their results."""
    ids = [CallId(f"t{turn}c{n}x{calls}") for n in range(calls)]
    asked = AssistantMessage("I look.", tuple(ToolCall(id, "tool_0", "{}") for id in ids))
    return [asked, *(ToolMessage(id, f"result {id} " * 30) for id in ids)]


def opening(turn: int, volatile: str = "") -> UserMessage:
    return UserMessage(f"Question {turn}. {'Think well. ' * 20}{volatile}")


async def play(model: HttpModel, turns: int, rounds: list[int]) -> list[list[Usage]]:
    """Turns as they are rendered: the volatile block stands at the end of the running turn's opening message."""
    history: Said = []
    costs = []
    for turn in range(turns):
        later: Said = []
        costs.append([await ask(model, [*history, opening(turn, VOLATILE)])])
        for place, calls in enumerate(rounds):
            later += steps(100 * turn + place, calls)
            costs[-1].append(await ask(model, [*history, opening(turn, VOLATILE), *later]))
        history += [opening(turn), *later, AssistantMessage(f"Answer {turn}.")]
    return costs


@pytest.mark.parametrize("rounds", [[], [1], [1, 2, 1], [4, 4, 4, 4, 4], [30], [12, 1, 30], [40, 40]])
async def test_turn_before_alone_is_paid_for_twice_however_many_calls_it_made(
    model: HttpModel, rounds: list[int]
) -> None:
    costs = await play(model, 4, rounds)
    for turn in costs:  # within a turn each request reads all of the one before
        for before, after in itertools.pairwise(turn):
            assert after.cache_read == before.cache_read + before.cache_write
    for turn_before_last, turn in zip(costs, costs[2:], strict=False):  # what came before the last turn
        assert turn[0].cache_read >= turn_before_last[-1].input - VOLATILE_TOKENS


async def test_history_is_read_from_the_second_turn_on(model: HttpModel) -> None:
    costs = await play(model, 5, [1])
    assert [turn[0].cache_read > 0 for turn in costs] == [False, True, True, True, True]
    assert costs[4][0].cache_read > costs[3][0].cache_read > costs[2][0].cache_read


async def test_another_system_text_shares_the_tools_in_a_short_talk(model: HttpModel) -> None:
    await ask(model, [opening(0)])
    assert (await ask(model, [opening(0)], "Somebody else asks.")).cache_read > 0


@pytest.mark.parametrize("rounds", [0, 1, 5, 30])
@pytest.mark.parametrize("calls", [1, 30])
def test_marks_are_never_more_than_four(rounds: int, calls: int) -> None:
    said: Said = []
    for turn in range(3):
        said += [opening(turn), *(message for n in range(rounds) for message in steps(100 * turn + n, calls))]
        body = AnthropicMessages().encode(ModelRequest("m", SYSTEM, tuple(said), TOOLS), model="m", images={})
        assert 1 <= body.count(b'"cache_control":{"type":"ephemeral"}') <= 4
        said.append(AssistantMessage("So."))
    assert json.loads(body)["messages"][-1]["role"] == "user"
