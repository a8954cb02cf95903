"""After a model rejected a request as too long, later requests fit."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hob.agent.compaction.compaction import Compactor
from hob.agent.compaction.summaries import HEADINGS, INSTRUCTIONS
from hob.agent.prompt.builder import PromptBuilder
from hob.agent.prompt.context_room import ContextRoom, Room, result_characters
from hob.agent.prompt.tokens import estimate_messages, estimate_tokens
from hob.agent.settings import AgentSettings
from hob.agent.turn.driver import Driver
from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelRequest
from hob.core.states import TurnState
from hob.core.tools import ToolSpec
from hob.core.turns import Finished
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.toolset import FunctionTool, FunctionTools
from tests.agent.turn.test_driver import NoFiles, TurnBench
from tests.turns import SESSION, make_turn

REAL = 4_000  # tokens the server accepts, far below the configured limit
TURNS = 8


def answer(request: ModelRequest) -> str:
    if estimate_tokens(request.system) + estimate_messages(request.messages) > REAL:
        raise ModelError(ModelFault.CONTEXT_OVERFLOW)
    if request.system == INSTRUCTIONS:
        return "\n\n".join(f"## {heading}\n- this and that" for heading in HEADINGS)
    return "word " * 400


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[TurnBench]:
    clock = ManualClock()
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        yield TurnBench(store, clock)


def driver_of(bench: TurnBench, *, compacts: bool = True) -> Driver:
    room, settings, store = ContextRoom(), AgentSettings(), bench.store
    parts = bench.parts(*[answer] * 100)
    compactor = Compactor(
        settings,
        model=bench.model,
        transcript=store.transcript,
        budget=parts.budget,
        clock=bench.clock,
        context_room=room,
    )
    prompts = PromptBuilder(settings, bench.clock, NoFiles(), context_room=room)
    return Driver(replace(parts, prompts=prompts, compactor=compactor if compacts else None, context_room=room))


async def costs(bench: TurnBench, driver: Driver, count: int = TURNS) -> list[int]:
    """Return the number of requests each turn took; every turn is answered."""
    taken = []
    for number in range(count):
        before = len(bench.model.requests)
        turn = await make_turn(bench.store, message(f"question {number} " + "more " * 400))
        assert await driver.run(turn, bench.control) == Finished(TurnState.DONE)
        taken.append(len(bench.model.requests) - before)
    return taken


async def test_turns_after_one_overflow_take_one_request_each(bench: TurnBench) -> None:
    assert sorted(await costs(bench, driver_of(bench, compacts=False))) == [1] * (TURNS - 1) + [2]


async def test_session_is_summarised_after_an_overflow(bench: TurnBench) -> None:
    taken = await costs(bench, driver_of(bench))
    assert max(taken) > 1
    assert taken[taken.index(max(taken)) + 1 :] == [1] * (TURNS - 1 - taken.index(max(taken)))
    view = await bench.store.transcript.load_view(SESSION, 100)
    assert view.summary is not None


async def test_single_message_that_is_too_long_is_shortened(bench: TurnBench) -> None:
    turn = await make_turn(bench.store, message("long " * 6_000))
    driver = driver_of(bench)
    assert await driver.run(turn, bench.control) == Finished(TurnState.DONE)
    assert await costs(bench, driver, 3) == [1, 1, 1]


def is_too_long(request: ModelRequest) -> bool:
    tools = estimate_tokens("".join(spec.name + spec.description for spec in request.tools))
    tokens = estimate_tokens(request.system) + estimate_messages(request.messages) + tools
    return tokens + request.max_tokens > 8_192


def strict(request: ModelRequest) -> str:
    """A server of 8k tokens that rejects like vLLM: the requested answer counts too."""
    if is_too_long(request):
        raise ModelError(ModelFault.CONTEXT_OVERFLOW, "This model's maximum context length is 8192 tokens. However, …")
    if request.system == INSTRUCTIONS:
        return "\n\n".join(f"## {heading}\n- this and that" for heading in HEADINGS)
    return "word " * 100


async def test_model_with_8k_tokens_keeps_its_tools_and_is_summarised(bench: TurnBench) -> None:
    """Regression: it was refused for ever, because the requested answer left no room."""

    async def nothing(arguments: Mapping[str, Any]) -> str:
        return "done"

    names = [f"tool_{number}" for number in range(12)]
    tools = FunctionTools(*(FunctionTool(ToolSpec(name, "Does this. " * 50, {}), nothing) for name in names))
    room, settings = ContextRoom(state=bench.store.channel_state), AgentSettings()
    parts = bench.parts(*[strict] * 100)
    compactor = Compactor(
        settings,
        model=bench.model,
        transcript=bench.store.transcript,
        budget=parts.budget,
        clock=bench.clock,
        context_room=room,
    )
    prompts = PromptBuilder(settings, bench.clock, NoFiles(), context_room=room)
    driver = Driver(replace(parts, prompts=prompts, compactor=compactor, context_room=room, toolset=tools))
    assert sum(await costs(bench, driver, 14)) <= 14 + 1 + 7  # a refusal, and a summary every other turn at most
    assert sum(map(is_too_long, bench.model.requests)) == 1
    assert all(len(request.tools) >= 10 for request in bench.model.requests if request.system != INSTRUCTIONS)
    view = await bench.store.transcript.load_view(SESSION, 100)
    assert view.summary is not None
    assert view.summary.model

    later = ContextRoom(state=bench.store.channel_state)
    await later.load(bench.clock.now().timestamp())
    assert later.measure("priced", settings, 4_096) == Room(123_904, 6_144, 2_048)
    forgotten = ContextRoom(state=bench.store.channel_state)
    await forgotten.load(bench.clock.now().timestamp() + 31 * 86_400)
    assert forgotten.measure("priced", settings, 4_096).prompt == 123_904


async def learned(*refused: tuple[int, str], maximum: int = 128_000) -> Room:
    room = ContextRoom()
    for tokens, said in refused:
        await room.learn("m", tokens, 1_000, said, 0.0)
    return room.measure("m", AgentSettings(context_tokens=maximum), 1_000)


async def test_learned_limit_only_shrinks_and_never_below_a_thousand() -> None:
    assert (await learned((400, ""))).prompt == 127_000  # not about the length
    assert (await learned((4_000, ""), (8_000, ""))).prompt == 3_000
    assert (await learned((4_000, ""), maximum=2_000)).prompt == 1_500
    assert (await learned(*[(1_001, "")] * 9)).prompt == 1_500


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 10692 tokens",
        "the request exceeds the available context size (8192 tokens), try increasing it",
        "the model is loaded with context length of only 8,192 tokens",
    ],
)
async def test_size_named_by_the_server_is_used(said: str) -> None:
    room = await learned((9_000, said))
    assert (room.prompt, room.answer) == (7_192, 1_000)


async def test_oldest_learned_models_are_forgotten(bench: TurnBench) -> None:
    room = ContextRoom(state=bench.store.channel_state)
    for number in range(101):
        await room.learn(f"m{number}", 4_000, 1_000, "", 0.0)
    later = ContextRoom(state=bench.store.channel_state)
    await later.load(0.0)
    for each in (room, later):
        assert [each.measure(name, AgentSettings(), 1_000).prompt for name in ("m0", "m100")] == [127_000, 3_000]


@pytest.mark.parametrize(
    ("window", "maximum"), [(4_000, 3_000), (32_000, 16_000), (99_000, 16_000), (100_000, 32_000), (200_000, 64_000)]
)
def test_tool_result_limit_grows_with_the_window(window: int, maximum: int) -> None:
    room = ContextRoom().measure("m", AgentSettings(context_tokens=window), 4_096)
    assert result_characters(room) == maximum
