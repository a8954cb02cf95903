"""`/model` and `/think` if the model chooses who answers."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pytest

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.agent.commands.slash_commands import CommandOperations, SlashCommands
from hob.agent.settings import AgentSettings
from hob.core.ids import SessionKey
from hob.core.models import Spending, Thinking, Usage
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.agent.turn.test_driver import Known
from tests.agent.turn.test_model_call import Router
from tests.turns import SESSION


class Named(Router):
    """A model that also implements `ChecksNames` and `HasAliases`."""

    aliases: Mapping[str, str] = {"fast": "c/small"}

    async def check_ref(self, name: str) -> str | None:
        return None if name in self.chains else f"There is no model called {name}; `hob models list` names them."


class Compactions:
    """The part of `CommandOperations` these commands use; records the model of a compaction."""

    asked: str | None = None
    spent: Sequence[tuple[str, Spending]] = ()

    async def spent_by_model(self, since: float) -> Sequence[tuple[str, Spending]]:
        return self.spent

    async def compact(self, session: SessionKey, model: str) -> str:
        self.asked = model
        return "nothing is old enough"


@dataclass
class Bench:
    store: Store
    commands: SlashCommands
    model: Router
    operations: Compactions

    async def say(self, text: str) -> str:
        return await self.commands.run(message(text), SESSION)


def bench(store: Store, model: Router, default: str = "a/one") -> Bench:
    operations, settings, clock = Compactions(), AgentSettings(), ManualClock()
    whole, budget = cast("CommandOperations", operations), Budget(SpendingSettings(), store.ledger, Known(), clock)
    commands = SlashCommands(whole, store.sessions, budget, clock, settings, lambda: default, model)
    return Bench(store, commands, model, operations)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


async def test_model_is_shown_with_its_fallbacks_and_aliases(store: Store) -> None:
    table = bench(store, Named(chains={"fast": ("c/small",)}))
    assert (await table.say("/model")).splitlines() == [
        "The model of this conversation is a/one.",
        "If it does not answer: b/two.",
        "Names of your own: fast = c/small.",
    ]
    assert await table.say("/model fast") == "From now on this conversation uses fast (c/small)."
    assert (await table.say("/model")).splitlines()[0] == "The model of this conversation is fast (c/small)."
    assert await table.say("/model default") == "From now on this conversation uses the configured model, a/one."
    assert (await store.sessions.get(SESSION)).model is None
    assert table.model.requests == []


async def test_unknown_model_changes_nothing_and_the_answer_says_why(store: Store) -> None:
    table = bench(store, Named())
    said = await table.say("/model gpt-99")
    assert said == "Nothing changed: There is no model called gpt-99; `hob models list` names them."
    assert (await store.sessions.get(SESSION)).model is None


async def test_chosen_model_that_no_longer_exists_is_shown_with_the_reason(store: Store) -> None:
    await store.sessions.change(SESSION, model="gone")
    said = await bench(store, Named()).say("/model")
    assert said.splitlines()[:2] == ["The model of this conversation is gone.", "nobody is called gone"]


async def test_usage_lists_every_model_with_the_most_expensive_first(store: Store) -> None:
    table = bench(store, Named())
    table.operations.spent = [
        ("c/small", Spending(16_985, 0, Usage(7, 3), 2)),
        ("b/two", Spending(500, 1, Usage(), 2, 400)),
    ]
    lines = (await table.say("/usage")).splitlines()
    assert [line.partition(",")[0] for line in lines[3:]] == [
        "  30 d: $0.017085 + 1 calls of unknown price",
        "  c/small: $0.016985",
        "  b/two: $0.0001 + 1 calls of unknown price",
    ]
    assert table.model.requests == []


@pytest.mark.parametrize(("chosen", "named"), [(None, ""), ("fast", "fast")])
async def test_compaction_names_a_model_only_if_the_session_chose_one(
    store: Store, chosen: str | None, named: str
) -> None:
    table = bench(store, Named())
    await store.sessions.change(SESSION, model=chosen)
    await table.say("/compact")
    assert table.operations.asked == named


@pytest.mark.parametrize("level", list(Thinking))
async def test_thinking_is_chosen_by_session(store: Store, level: Thinking) -> None:
    table = bench(store, Named())
    assert await table.say(f"/think {level.upper()}") == f"Thinking level: {level}."
    assert (await store.sessions.get(SESSION)).thinking is level
    assert f"of this conversation: {level}." in await table.say("/think")
    assert await table.say("/think bogus") == (
        f"There is no level bogus; it stays {level}. Choose off, minimal, low, medium, high, xhigh or default."
    )
    assert await table.say("/think default") == "Thinking level: as in the settings."
    assert (await store.sessions.get(SESSION)).thinking is None


async def test_unknown_thinking_level_is_answered_with_the_valid_ones(store: Store) -> None:
    said = await bench(store, Named()).say("/think harder")
    assert said.endswith("default. Choose off, minimal, low, medium, high, xhigh or default.")
