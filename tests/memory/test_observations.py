"""Long conversations become dated observations, and nothing is lost where a model's answer is of no use."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, SpanId, new_event_id, new_trace_id
from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.models import Usage
from hob.core.trust.labels import OWNER_LABEL, Label, Origin, Trust
from hob.memory.background_model import CONSOLIDATION, FACTS, REWRITING, BackgroundBudget, WorkPaused
from hob.memory.observations.consolidation import Consolidator, conversations
from hob.memory.observations.lines import is_supported, read_observations
from hob.memory.observations.observer import Observer
from hob.memory.observations.work import MAX_TRIES
from hob.memory.settings import MemorySettings
from hob.store.store import Store
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store

OWNER = Scope("owner")
ANSWER = "## 2026-01-02\n- [HIGH] The owner grows leeks, message 3 (3)\n- LOW chatter of the leeks in message 4 (4, 5)"


class Answers:
    """A model that gives these answers; `asked` is what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def ask(self, task: str, session: SessionKey, system: str, question: str, maximum: int) -> str:
        self.asked.append(f"{task}: {question}")
        return self.answers.pop(0)

    def estimate(self, text: str) -> int:
        return len(text) // 4


class ForgettingAnswers(Answers):
    """The first message is forgotten while the model gives its first answer."""

    def __init__(self, store: Store, *answers: str) -> None:
        super().__init__(*answers)
        self._store = store

    async def ask(self, task: str, session: SessionKey, system: str, question: str, maximum: int) -> str:
        if not self.asked:
            await self._store.erasure.erase_items([message(0).id], "forgotten")
        return await super().ask(task, session, system, question, maximum)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store(ManualClock()) as store:
        yield store


def observer_of(store: Store, **settings: int) -> Observer:
    chosen = MemorySettings(background_tokens=1_000_000, **settings)  # type: ignore[arg-type]
    clock = ManualClock()
    budget = BackgroundBudget(chosen.background_tokens, store.ledger, clock, lambda _: 0.0)
    return Observer(store.memory_work, budget, chosen, clock)


def message(n: int, session: str = "local:main", label: Label = OWNER_LABEL, role: str = "user") -> MemoryItem:
    return MemoryItem(
        scope=OWNER, layer=Layer.CONVERSATION, source="conversation:local", text=f"leeks in the garden, message {n}",
        label=label, at=1_767_000_000.0 + n, session=session, position=n, turn=f"t_{n}", role=role, kind="turn",
    )  # fmt: skip


async def seen(store: Store) -> list[MemoryItem]:
    return await store.memory_work.observations(OWNER)


async def test_session_is_observed_at_the_threshold_with_dates_and_priorities(store: Store) -> None:
    model, observer = Answers(ANSWER), observer_of(store)
    await store.items.add([message(n) for n in range(49)])
    await observer.step(model)
    assert model.asked == []
    await store.items.add([message(49)])
    await observer.step(model)
    high, low = sorted(await seen(store), key=lambda item: item.kind)
    assert (high.kind, high.at, high.expires_at) == ("high", datetime(2025, 12, 29, tzinfo=UTC).timestamp(), None) or (
        high.kind == "high" and high.expires_at is None
    )
    assert high.evidence == (message(2).id,)
    assert low.evidence == (message(3).id, message(4).id)
    assert low.expires_at is not None
    await observer.step(model)
    assert len(model.asked) == 1


async def test_unreadable_observations_mark_nothing_as_observed(store: Store) -> None:
    model, observer = Answers("I have nothing to say.", "", ANSWER), observer_of(store)
    await store.items.add([message(n) for n in range(50)])
    for _ in range(2):
        with pytest.raises(WorkPaused):
            await observer.step(model)
        assert await seen(store) == []
    await observer.step(model)
    assert len(await seen(store)) == 2
    assert model.asked[0] == model.asked[2]


async def test_message_forgotten_while_it_is_observed_leaves_no_observation(store: Store) -> None:
    await store.items.add([message(n) for n in range(51)])
    model = ForgettingAnswers(store, "- [HIGH] leeks message 0 (1)", "- [HIGH] leeks message 1 (1)")
    await observer_of(store).step(model)
    assert [item.text for item in await seen(store)] == ["leeks message 1"]
    assert "message 0" not in model.asked[1]


async def test_message_forgotten_while_it_is_summarised_is_not_in_the_summary(store: Store) -> None:
    await store.items.add([message(n) for n in range(8)])
    model = ForgettingAnswers(store, "They talked of leeks, message 0.", "They talked of leeks, message 1.")
    consolidator = consolidator_of(store, ManualClock())
    assert await consolidator.step(model) == 0
    assert await consolidator.step(model) is None
    (item,) = await store.items.of(OWNER).select("i.kind = 'summary'")
    assert item.text == "They talked of leeks, message 1."


async def fill(store: Store, high: int, low: int) -> None:
    lines = [f"- [HIGH] high leeks message {n}" for n in range(high)] + [
        f"- [LOW] low leeks message {n}" for n in range(low)
    ]
    items = [message(n) for n in range(max(50, low))]
    await store.items.add(items)
    await observer_of(store, max_observations=10_000).step(Answers("\n".join(lines)))


async def test_unreadable_reflection_deletes_nothing(store: Store) -> None:
    await fill(store, 30, 180)
    await store.items.add([message(999)])
    for answer in ("Sorry.", "\n".join(f"- [LOW] leeks message {n}" for n in range(300))):
        with pytest.raises(WorkPaused):
            await observer_of(store).step(Answers(answer))
        assert len(await seen(store)) == 210


async def test_reflection_keeps_every_high_observation_and_hides_the_replaced(store: Store) -> None:
    await fill(store, 30, 180)
    await store.items.add([message(999)])
    model = Answers("\n".join(f"- [MEDIUM] many leeks message {n} ({n + 1})" for n in range(96)))
    await observer_of(store).step(model)
    kept = await seen(store)
    assert len(kept) == 126 == int(210 * 0.6)
    assert sum(item.kind == "high" for item in kept) == 30
    assert "high leeks" not in model.asked[0]
    replaced = await store.items.of(OWNER).select("i.layer = 'observation' AND i.superseded_by != ''")
    assert len(replaced) == 180


async def test_replaced_observations_keep_their_lifetime_and_return_with_the_line_that_replaced_them(
    store: Store,
) -> None:
    await store.items.add([message(n) for n in range(50)])
    lines = "\n".join(f"- [{'MEDIUM' if n % 2 else 'LOW'}] leeks message {n} ({n + 1})" for n in range(30))
    await observer_of(store).step(Answers(lines))
    before = {item.text: (item.superseded_by, item.expires_at) for item in await seen(store)}
    await store.items.add([message(999)])
    first = "- [LOW] leeks in the garden message 1 (1, 3)"
    await observer_of(store, max_observations=20).step(Answers(f"{first}\n- [LOW] garden leeks message 2 (2, 4)"))
    condensed = {item.text: item for item in await seen(store)}
    assert len(condensed) == 2
    of = store.items.of(OWNER)
    every = await of.select("i.layer = 'observation'")
    assert {item.text: item.expires_at for item in every if item.text in before} == {
        text: expires for text, (_, expires) in before.items()
    }
    other = condensed.pop("garden leeks message 2")
    await store.erasure.erase_items([other.id], "asked to")
    assert {item.text for item in await seen(store)} == {*condensed, "leeks message 1", "leeks message 3"}
    await store.erasure.erase_items([item.id for item in condensed.values()], "asked to")
    assert {item.text: (item.superseded_by, item.expires_at) for item in await seen(store)} == before


async def test_reflection_that_repeats_an_observation_keeps_it(store: Store) -> None:
    # an observation has its id from its text: repeated, it was not stored again, and the one there was replaced
    await fill(store, 30, 180)
    await store.items.add([message(999)])
    before = {item.text: item.id for item in await seen(store)}
    again = next(text for text in before if text.startswith("low"))
    await observer_of(store).step(Answers(f"- [LOW] {again}\n- [MEDIUM] many leeks message 7 (8)"))
    kept = await seen(store)
    assert len(kept) == 32
    assert before[again] in {item.id for item in kept}


async def test_other_peoples_messages_are_not_observed(store: Store) -> None:
    web, model = Label(Origin.MODEL, Trust.UNTRUSTED), Answers(ANSWER)
    await store.items.add([message(n, label=web, role="assistant") for n in range(100, 160)])
    await store.items.add([message(n, label=Label(Origin.MEMBER, Trust.UNTRUSTED)) for n in range(200, 260)])
    await observer_of(store).step(model)
    assert model.asked == []


@pytest.mark.parametrize("role", ["assistant", "user"])  # Hob's messages to itself have the role of people's
async def test_observation_without_the_owners_words_is_dropped(store: Store, role: str) -> None:
    await store.items.add([message(n) for n in range(49)])
    await store.items.add([message(49, label=Label(Origin.MODEL, Trust.TRUSTED), role=role)])
    await observer_of(store).step(
        Answers("- [HIGH] The owner's bank is First Elsewhere (3)\n- [HIGH] leeks in the garden (50)")
    )
    assert await store.items.of(OWNER).select("i.layer = 'observation'") == []
    assert await store.memory_work.place("observer", "owner\n\nlocal:main") > 0


SUPPORTED = (
    ("The owner lives in Lagos", "I live in Berlin.", False),
    ("The owner bank is Volksbank Nord and lives in Lagos", "The tent in the cellar is wet.", False),
    ("Anna pays 1,250 euros of rent", "My rent is 1250 euros, Anna pays it.", True),
    ("Anna pays 1,350 euros of rent", "My rent is 1250 euros, Anna pays it.", False),
    (
        "The owner has two cats and meets Jonas on 2026-01-09 at 15:00",
        "Jonas comes friday at 3, he likes our cats",
        True,
    ),
    ("The owner meets Peter about the cats", "Jonas comes friday at 3, he likes our cats", False),
    ("Der Nutzer hat am Freitag einen Zahnarzttermin", "Am Freitag habe ich einen Termin beim Zahnarzt.", True),
    (
        "Der Nutzer plant eine Reise nach Rügen mit der Familie",
        "Wir fahren im Sommer nach Rügen, die ganze Familie.",
        True,
    ),
    ("Der Nutzer wohnt mit Familie Schmidt in Lagos", "Ich wohne in Berlin.", False),
    ("The owner: 3 February", "Please show me what is new at the third source.", False),
    ("The owner has a cat", "My cat is ill.", True),
    ("The owner has a dog", "My cat is ill.", False),
    ("Der Nutzer ist gegen Penicillin allergisch", "Penicillin vertrage ich nicht, ich bin allergisch.", True),
)


@pytest.mark.parametrize(("line", "said", "held"), SUPPORTED)
def test_observation_is_kept_only_if_its_sources_hold_its_words(line: str, said: str, held: bool) -> None:
    assert is_supported(line, [replace(message(1), text=said, id="")]) is held


async def test_forgetting_a_message_removes_its_observations_and_their_derivatives(store: Store) -> None:
    await fill(store, 0, 30)
    await store.items.add([message(999)])
    await observer_of(store, max_observations=20).step(Answers("- [LOW] leeks message (1)\n- [LOW] garden leeks"))
    await store.erasure.erase_items([message(7).id], "asked to")
    assert await store.items.of(OWNER).select("i.layer = 'observation'") == []


def test_observation_answers_are_parsed_as_models_write_them() -> None:
    text = "# 2026-02-30\n* **[High]** One (1)\n- MEDIUM: Two.\n- nothing\n## 2026-01-05\n- [LOW] Three (#2, #3)."
    found = [(each.text, each.priority, each.cited) for each in read_observations(text, 5.0)]
    assert found == [("One", "high", (1,)), ("Two.", "medium", ()), ("Three", "low", (2, 3))]


def consolidator_of(store: Store, clock: ManualClock) -> Consolidator:
    budget = BackgroundBudget(1_000_000, store.ledger, clock, lambda _: 0.0)
    return Consolidator(store.memory_work, budget, MemorySettings(), clock)


async def test_finished_conversation_is_summarised_once_despite_interruptions(store: Store) -> None:
    clock = ManualClock()
    await store.items.add([message(n) for n in range(8)])
    clock.set_wall(datetime.fromtimestamp(message(7).at + 600, UTC))
    model = Answers("", "They talked of leeks in the garden.")
    assert await consolidator_of(store, clock).step(model) == 1_200
    assert model.asked == []
    clock.set_wall(datetime.fromtimestamp(message(7).at + 1_900, UTC))
    with pytest.raises(WorkPaused):
        await consolidator_of(store, clock).step(model)
    for _ in range(3):
        assert await consolidator_of(store, clock).step(model) is None
    (item,) = await store.items.of(OWNER).select("i.kind = 'summary'")
    assert item.evidence == tuple(message(n).id for n in range(8))
    assert len(model.asked) == 2
    assert await seen(store) == []


async def test_summaries_leave_half_of_the_daily_tokens_for_facts(store: Store) -> None:
    clock = ManualClock()
    budget = BackgroundBudget(4_000, store.ledger, clock, lambda _: 0.0)
    model = Answers("They talked of leeks.", "one fact")
    assert await budget.ask(model, CONSOLIDATION, "", "", 400) == "They talked of leeks."
    event = TimelineEvent(
        new_event_id(), new_trace_id(), SpanId("s"), None, clock.now().timestamp(), EventKind.MODEL, "m",
        session=SessionKey("s"), classification=f"owner/{CONSOLIDATION}", usage=Usage(1_900, 100), cost=1,
    )  # fmt: skip
    await store.ledger.record(event)
    with pytest.raises(WorkPaused, match="0 are left"):
        await budget.ask(model, CONSOLIDATION, "", "", 400)
    assert await budget.ask(model, FACTS, "", "", 400) == "one fact"


async def test_short_conversations_need_no_summary(store: Store) -> None:
    await store.items.add([message(n) for n in range(5)])
    model = Answers()
    assert await consolidator_of(store, ManualClock()).step(model) is None
    assert model.asked == []


def test_pause_of_half_an_hour_ends_a_conversation() -> None:
    said = [message(0), message(1), message(5_000), message(5_001)]
    assert [len(talk) for talk in conversations(said)] == [2, 2]


async def test_pasted_part_of_an_imported_message_is_not_observed(store: Store) -> None:
    said = [replace(message(n), text=f"What of my leeks, {n}?\n> My bank is Evil Bank.", id="") for n in range(50)]
    await store.items.add(said)
    model = Answers("- [HIGH] bank is Evil Bank (1)\n- [LOW] asks of leeks (2)")
    await observer_of(store).step(model)
    assert "Evil" not in model.asked[0]
    assert [item.text for item in await seen(store)] == ["asks of leeks"]


async def test_session_with_useless_answers_does_not_keep_others_from_being_observed(store: Store) -> None:
    for session in ("local:a", "local:b"):
        await store.items.add([message(n, session) for n in range(50)])
    model = Answers("I have nothing to say.", "- [HIGH] leeks message 1 (1)")
    with pytest.raises(WorkPaused):
        await observer_of(store).step(model)
    assert [item.text for item in await seen(store)] == ["leeks message 1"]


async def test_useless_answers_are_asked_for_again_only_so_often_until_something_new_is_said(store: Store) -> None:
    await store.items.add([message(n) for n in range(50)])
    observer, consolidator = observer_of(store), consolidator_of(store, ManualClock())
    model = Answers(*["No."] * 50)
    for step in (observer.step, consolidator.step):
        for _ in range(MAX_TRIES):
            with pytest.raises(WorkPaused):
                await step(model)
        assert await step(model) is None
    assert len(model.asked) == 2 * MAX_TRIES
    await store.items.add([message(50)])
    for step in (observer.step, consolidator.step):
        with pytest.raises(WorkPaused):
            await step(model)
    assert "message 0" in model.asked[-1]


async def test_empty_budget_never_counts_as_a_useless_answer(store: Store) -> None:
    await store.items.add([message(n) for n in range(50)])
    observer = observer_of(store)
    observer._budget.tokens = 0
    for _ in range(2 * MAX_TRIES):
        with pytest.raises(WorkPaused):
            await observer.step(Answers())
    observer._budget.tokens = 1_000_000
    await observer.step(Answers(ANSWER))
    assert len(await seen(store)) == 2


async def test_calls_at_the_same_time_stay_within_the_tokens_of_the_day_together(store: Store) -> None:
    budget = BackgroundBudget(500, store.ledger, ManualClock(), lambda _: 0.0)
    answering = asyncio.Event()

    class Slow(Answers):
        async def ask(self, *_: object) -> str:
            await answering.wait()
            return "done"

    first = asyncio.create_task(budget.ask(Slow(), FACTS, "", "", 400))
    await asyncio.sleep(0)
    second = asyncio.create_task(budget.ask(Slow(), REWRITING, "", "", 400))
    with pytest.raises(WorkPaused, match="100 are left"):
        await second
    answering.set()
    assert await first == "done"
    assert await budget.ask(Slow(), REWRITING, "", "", 400) == "done"
