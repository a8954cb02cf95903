"""After a model has refused a request as too long, later ones are made to fit."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from hob.agent.compaction.compaction import Compactor
from hob.agent.compaction.summaries import HEADINGS, INSTRUCTIONS
from hob.agent.prompt import PromptBuilder
from hob.agent.prompt.context_room import ContextRoom
from hob.agent.prompt.tokens import estimate_messages, estimate_tokens
from hob.agent.settings import AgentSettings
from hob.agent.turn.driver import Driver
from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelRequest
from hob.core.states import TurnState
from hob.core.turns import Finished
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.turns import SESSION, make_turn

from .test_driver import Desk, NoFiles

REAL = 4_000  # tokens the server takes, far below what is configured
TURNS = 8


def answer(request: ModelRequest) -> str:
    if estimate_tokens(request.system) + estimate_messages(request.messages) > REAL:
        raise ModelError(ModelFault.CONTEXT_OVERFLOW)
    if request.system == INSTRUCTIONS:
        return "\n\n".join(f"## {heading}\n- this and that" for heading in HEADINGS)
    return "word " * 400


@pytest.fixture
async def operations(tmp_path: Path) -> AsyncIterator[Desk]:
    clock = ManualClock()
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        yield Desk(store, clock)


def driver_of(operations: Desk, *, compacts: bool = True) -> Driver:
    room, settings, store = ContextRoom(), AgentSettings(), operations.store
    parts = operations.parts(*[answer] * 100)
    compactor = Compactor(
        settings,
        model=operations.model,
        transcript=store.transcript,
        budget=parts.budget,
        clock=operations.clock,
        context_room=room,
    )
    prompts = PromptBuilder(settings, operations.clock, NoFiles(), context_room=room)
    return Driver(replace(parts, prompts=prompts, compactor=compactor if compacts else None, context_room=room))


async def costs(operations: Desk, driver: Driver, count: int = TURNS) -> list[int]:
    """How many requests each of so many turns took; all of them are answered."""
    taken = []
    for number in range(count):
        before = len(operations.model.requests)
        turn = await make_turn(operations.store, message(f"question {number} " + "more " * 400))
        assert await driver.run(turn, operations.control) == Finished(TurnState.DONE)
        taken.append(len(operations.model.requests) - before)
    return taken


async def test_after_one_overflow_each_turn_takes_one_request(operations: Desk) -> None:
    assert sorted(await costs(operations, driver_of(operations, compacts=False))) == [1] * (TURNS - 1) + [2]


async def test_after_an_overflow_the_session_is_summarised(operations: Desk) -> None:
    taken = await costs(operations, driver_of(operations))
    assert max(taken) > 1
    assert taken[taken.index(max(taken)) + 1 :] == [1] * (TURNS - 1 - taken.index(max(taken)))
    view = await operations.store.transcript.load_view(SESSION, 100)
    assert view.summary is not None


async def test_a_text_that_is_too_long_alone_is_shortened_in_the_end(operations: Desk) -> None:
    turn = await make_turn(operations.store, message("long " * 6_000))
    driver = driver_of(operations)
    assert await driver.run(turn, operations.control) == Finished(TurnState.DONE)
    assert await costs(operations, driver, 3) == [1, 1, 1]


def test_what_was_learned_is_never_less_than_a_thousand_and_only_shrinks() -> None:
    room = ContextRoom()
    room.learn("m", 400)
    assert room.limit("m", 5_000) == 5_000  # that was not about the length
    room.learn("m", 4_000)
    room.learn("m", 8_000)
    assert (room.limit("m", 5_000), room.limit("m", 2_000), room.limit("other", 5_000)) == (3_000, 2_000, 5_000)
    for _ in range(9):
        room.learn("m", 1_001)
    assert room.limit("m", 5_000) == 1_000


def test_old_models_are_forgotten() -> None:
    room = ContextRoom()
    for number in range(101):
        room.learn(f"m{number}", 4_000)
    assert (room.limit("m0", 9_000), room.limit("m100", 9_000)) == (9_000, 3_000)
