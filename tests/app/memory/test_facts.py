"""The owner's facts, from a message to an answer: taken in the background, within a budget, shown and put right."""

import asyncio
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.events.timeline import TimelineEvent
from hob.core.ids import CallId, SessionKey, TurnId
from hob.core.memory import OWNER, Fact, Scope
from hob.core.models import ModelReply, ModelRequest, Usage
from hob.core.tools import ToolCall
from hob.gateway.lazy_ports import MemoryControls
from hob.gateway.memory import FactsQuery, ForgetRequest, MemoryQuery
from hob.memory.background_model import BackgroundBudget
from hob.memory.facts.extractor import QUIET_SECONDS, FactExtractor
from hob.store.timeline import TimelineFilter
from tests.app.memory.test_control import memory
from tests.app.visiting import ANNA, ME, Visited, in_group, visited
from tests.app.visiting import until as holds

SCOPE = Scope(OWNER)


def found(*facts: dict[str, Any], usage: Usage | None = None) -> ModelReply:
    """What the model answers that takes facts from messages."""
    usual = {"do": "ADD", "message": 1, "subject": "owner", "sure": 0.9}
    return ModelReply(json.dumps([usual | each for each in facts]), usage=usage or Usage(500, 50))


def lives(where: str, **further: Any) -> dict[str, Any]:
    return {"predicate": "lives_in", "object": where, **further}


async def until(hob: Visited, holds: Callable[[list[Fact]], bool]) -> list[Fact]:
    """Let time pass until the known facts are so."""
    async with asyncio.timeout(20):
        while not holds(known := await hob.app.store.facts.known(SCOPE)):
            await hob.clock.advance(30)
            await asyncio.sleep(0.01)
    return known


async def says(hob: Visited, text: str) -> str:
    """What the owner is answered; what was remembered comes in a message of its own."""
    before = len(hob.sent(ME))

    def answers() -> list[str]:
        return [each for each in hob.sent(ME)[before:] if not each.startswith("Remembered of")]

    await hob.comes(text, ME)
    await holds(lambda: bool(answers()))
    return answers()[0]


async def asked(hob: Visited, times: int = 1) -> None:
    """Let time pass until the model was asked so often in the background, and its answer is written."""
    async with asyncio.timeout(20):
        while len(hob.model.background_requests) < times or await waiting(hob):
            await hob.clock.advance(30)
            await asyncio.sleep(0.01)


async def waiting(hob: Visited) -> int:
    work = hob.app.store.memory_work
    return (await work.waiting(("facts",)))[0]


async def test_owner_who_moved_has_a_current_and_a_former_home(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [found(lives("Paris")), found(lives("Berlin", do="SUPERSEDE", fact=1))]
        await says(hob, "I live in Paris, close to the river.")
        await until(hob, bool)
        await hob.clock.advance(86_400)
        await says(hob, "By the way, I moved to Berlin.")
        await until(hob, lambda known: len(known) == 2)
        counted = {name: count for name, count in (await memory(hob).status.counts()).decisions.items() if count}
        assert counted == {"add": 1, "supersede": 1}
        await says(hob, "/new")
        await says(hob, "Where do I live?")
        day = f"{hob.clock.now():%Y-%m-%d}"
        assert f"The owner lives in Berlin (since {day})" in hob.seen
        await says(hob, "/new")
        await says(hob, "Where did I live before Berlin, in Paris?")
        assert f"The owner lives in Paris (until {day})" in hob.seen
        assert f"close to the river. (since {day} no longer so: The owner lives in Paris)" in hob.seen
        shown = await says(hob, "/memory")
        assert f"you live in Berlin [since {day}, said {day}]" in shown
        assert "Paris" not in shown
        fact = next(each for each in await hob.app.store.facts.known(SCOPE) if each.object == "Berlin")
        for action in ("undo", "correct"):
            assert await says(hob, f"/memory {action}") == "id is empty: give the beginning of the fact's id"
        assert "you live in Rome" in await says(hob, f"/memory correct {fact.id[:12]} Rome")
        assert "you live in Rome" in await says(hob, "/memory")


async def test_correcting_one_fact_leaves_the_rest_of_its_message_true(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [found(lives("Paris"), {"predicate": "works_at", "object": "Siemens"})]
        await says(hob, "I live in Paris and I work at Siemens, my thesis is due in January.")
        paris, _ = sorted(await until(hob, lambda known: len(known) == 2), key=lambda fact: fact.object)
        await says(hob, f"/memory correct {paris.id[:12]} Rome")
        await says(hob, "/new")
        await says(hob, "When is the thesis due that I write in January at Siemens?")
        day = f"{hob.clock.now():%Y-%m-%d}"
        assert f"due in January. (since {day} no longer so: The owner lives in Paris)" in hob.seen


async def test_imported_messages_become_facts_without_another_turn(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        said = {"text": "I live in Oslo.", "layer": "conversation", "origin": "owner", "trust": "trusted",
                "kind": "turn", "role": "user", "source": "conversation:old"}  # fmt: skip
        hob.model.background = [found(lives("Oslo"))]
        _ = [step async for step in memory(hob).upkeep.import_items([json.dumps(said)])]
        assert [fact.object for fact in await until(hob, bool)] == ["Oslo"]


async def test_facts_api_returns_a_past_view_with_contradictions(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [
            found(lives("Paris")), found(lives("Berlin", do="SUPERSEDE", fact=1)), found(lives("Madrid", do="ASK")),
        ]  # fmt: skip
        times = []
        for number, text in enumerate(("I live in Paris now.", "I moved to Berlin.", "Maybe it will be Madrid."), 1):
            await says(hob, text)
            await until(hob, lambda known, number=number: len(known) == number)  # type: ignore[misc]
            times.append(hob.clock.now().timestamp())
            await hob.clock.advance(86_400)

        async def places(**wanted: Any) -> list[str]:
            return sorted(each["object"] for each in (await memory(hob).facts.facts(FactsQuery(**wanted)))["facts"])

        first, second, third = times
        assert await places(known_at=first) == ["Paris"]
        assert await places(known_at=first, valid_at=third) == ["Paris"]  # Hob did not know of the move then
        assert await places(known_at=second, valid_at=first - 3600) == ["Paris"]
        assert await places(known_at=second) == ["Berlin"]
        assert await places(past=True, ever=True) == ["Berlin", "Madrid", "Paris", "Paris"]
        shown = (await memory(hob).facts.facts(FactsQuery(past=True, ever=True)))["facts"]
        names = {each["id"]: each["object"] for each in shown}
        assert [(each["object"], [*map(names.get, each["contradicts"])]) for each in shown if each["contradicts"]] == [
            ("Berlin", ["Madrid"]),
            ("Madrid", ["Berlin"]),
        ]


async def test_other_peoples_words_are_not_sent_for_extraction(tmp_path: Path) -> None:
    async with visited(tmp_path, HOB_ADMISSION_GROUPS='["telegram:-100"]', HOB_ADMISSION_MENTION="false") as hob:
        await hob.knows()
        await hob.answer("The owner's bank is First Bank of Elsewhere.", ANNA)
        await hob.comes("", made=in_group("Our bank is Elsewhere Bank."))
        await hob.clock.advance(7_200)
        await says(hob, "I live in Paris.")
        await asked(hob)
        assert "Bank" not in str(hob.model.background_requests)


async def test_work_pauses_without_budget_and_reports_it(tmp_path: Path) -> None:
    async with visited(tmp_path, HOB_MEMORY_BACKGROUND_TOKENS="3000") as hob:
        await hob.knows()
        hob.model.background = [found(lives("Paris"), usage=Usage(2_000, 500)), found(lives("Berlin"))]
        await says(hob, "I live in Paris.")
        await until(hob, bool)
        await says(hob, "I moved to Berlin.")
        async with asyncio.timeout(20):
            while not (await status(hob))["waits_for"]:
                await hob.clock.advance(60)
                await asyncio.sleep(0.01)
        view = await status(hob)
        assert (view["tokens_today"], view["waits_for"], view["messages_waiting"]) == (2_500, "budget", 1)
        assert len(hob.model.background_requests) == 1
        await hob.clock.advance(86_400)
        await until(hob, lambda known: any(fact.object == "Berlin" for fact in known))
        assert (await status(hob))["waits_for"] == ""


async def status(hob: Visited) -> Any:

    return (await hob.app.api.port(MemoryControls).status.status())["background"]


async def test_every_call_is_in_the_ledger_under_its_task_and_an_idle_day_costs_nothing(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [found(usage=Usage(321, 45))]
        await says(hob, "I live in Paris.")
        await asked(hob)
        for _ in range(48):
            await hob.clock.advance(1_800)
        assert len(hob.model.background_requests) == 1
        spent = await hob.app.store.ledger.spent(task="facts")
        assert (spent.usage.input, spent.usage.output, spent.calls) == (321, 45, 1)


async def test_unreadable_answer_marks_nothing_as_done(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        down = ModelError(ModelFault.OVERLOAD, "busy")
        hob.model.background = ["I could not find any.", down, found(lives("Paris"))]
        await says(hob, "I live in Paris.")
        known = await until(hob, bool)
        assert [fact.object for fact in known] == ["Paris"]
        assert len(hob.model.background_requests) == 3


WORDS = (
    "bank employer dentist landlord doctor sister brother boss city street birthday nickname insurer school team car"
    " dog cat wife husband lawyer accountant gym church club airline phone email pin hometown allergy diet language"
    " hobby salary mentor neighbour bakery barber vet"
)
WHAT = WORDS.split()
CLAIMS = [f"The owner's {what} is Elsewhere{number}." for number, what in enumerate(WHAT)]


async def test_misinformation_in_read_content_is_never_promoted(tmp_path: Path) -> None:
    """Forty plausible claims of pages and of others, an extracting model that believes all of them, and "remember"."""
    assert len(CLAIMS) == 40

    def believe(request: ModelRequest) -> ModelReply:
        claims = [{"predicate": what, "object": f"Elsewhere{number}"} for number, what in enumerate(WHAT)]
        return found(*({**each, "message": place} for place in range(1, 9) for each in [*claims, lives("Paris")]))

    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [believe, believe, believe]
        for start in range(0, 40, 10):
            quoted = "\n".join(f"> {claim}" for claim in CLAIMS[start : start + 10])
            await says(hob, f"Look at what this page says:\n{quoted}")
            await hob.answer("\n".join(CLAIMS[start : start + 10]), ANNA)
        await says(hob, "Remember today, and all that you have read.")
        await says(hob, "I live in Paris.")
        known = await until(hob, bool)
        assert [fact.object for fact in known] == ["Paris"]
        trusted = await hob.app.store.items.of(SCOPE).select("i.layer = 'fact' AND i.trust = 'trusted'")
        assert not any("Elsewhere" in item.text for item in trusted)


async def test_answer_reports_a_remembered_fact_once_with_its_undo(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [found(lives("Paris"))]
        await says(hob, "I live in Paris.")
        (fact,) = await until(hob, bool)
        await says(hob, "What is the weather like today?")
        line = f"Remembered of what you said: you live in Paris. Wrong? `/memory undo {fact.id[:12]}`"
        await holds(lambda: line in hob.sent(ME))
        await says(hob, "And what was it like on Monday?")
        assert "Paris" in await says(hob, f"/memory undo {fact.id[:12]}")
        assert await hob.app.store.facts.known(SCOPE) == []
        assert hob.sent(ME).count(line) == 1


async def test_one_command_undoes_all_that_was_reported(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [found(lives("Paris"), {"predicate": "likes", "object": "tea"})]
        await says(hob, "I live in Paris and I like tea.")
        paris, tea = sorted(await until(hob, lambda known: len(known) == 2), key=lambda fact: fact.object)
        await says(hob, "What is the weather like today?")
        command = f"/memory undo {tea.id[:12]} {paris.id[:12]}"
        await holds(lambda: any(f"Wrong? `{command}`" in each for each in hob.sent(ME)))
        assert len((await says(hob, command)).splitlines()) == 2
        assert await hob.app.store.facts.known(SCOPE) == []


async def test_remembered_fact_is_reported_after_a_restart_and_in_the_timeline(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [found(lives("Paris"))]
        await says(hob, "I live in Paris.")
        (fact,) = await until(hob, bool)
    line = f"Remembered of what you said: you live in Paris. Wrong? `/memory undo {fact.id[:12]}`"
    async with visited(tmp_path) as hob:
        assert await hob.app.store.facts.news(SCOPE, TurnId("t_1")) != []
        assert await hob.app.store.facts.news(SCOPE, TurnId("t_1")) != []  # the same turn, begun again after a crash
        assert await hob.app.store.facts.news(SCOPE, TurnId("t_2")) == []
    async with visited(tmp_path) as hob:
        hob.model.background = [found({"predicate": "likes", "object": "tea"})]
        await says(hob, "I like tea, always tea.")
        assert line not in hob.sent(ME)
        await until(hob, lambda known: len(known) == 2)
    async with visited(tmp_path) as hob:
        await says(hob, "What is the weather like today?")
        await holds(lambda: any("you like tea" in each for each in hob.sent(ME)))
        await says(hob, "And what was it like on Monday?")
        assert sum("you like tea" in each for each in hob.sent(ME)) == 1
        events = await remembered(hob)
        assert [event.text.partition(" (")[0].partition(":")[0] for event in events] == [
            "owner likes tea", "owner lives in Paris"
        ]  # fmt: skip
        assert events[1].classification == fact.id
        said = [event for event in (await everything(hob)) if event.kind == "inbound" and "Paris" in event.text]
        assert events[1].trace == said[0].trace
        await memory(hob).upkeep.forget(ForgetRequest(id=fact.id, preview=False))
        assert [event.text for event in await remembered(hob)][1] == ""


async def everything(hob: Visited) -> list[TimelineEvent]:
    return [event for _, event in (await hob.app.store.timeline.page(None, 200, TimelineFilter())).events]


async def remembered(hob: Visited) -> list[TimelineEvent]:
    return [event for event in await everything(hob) if event.kind == "memory"]


async def test_text_the_owner_asks_to_remember_becomes_a_fact(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [found(lives("Paris")), found(lives("Hamburg", do="SUPERSEDE", fact=1))]
        await says(hob, "I live in Paris.")
        await until(hob, bool)
        await says(hob, "/remember I now live in Hamburg, not in Paris")
        known = await until(hob, lambda known: len(known) == 2)
        assert [(fact.object, fact.valid_to is None) for fact in known] == [("Paris", False), ("Hamburg", True)]


async def test_withdrawn_and_replaced_facts_are_not_listed(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [found(lives("Paris")), found(lives("Berlin")), found(lives("Potsdam"))]
        for place, known in (("Paris", 1), ("Berlin", 2), ("Potsdam", 3)):
            await says(hob, f"I live in {place}.")
            facts = await until(hob, lambda facts, known=known: len(facts) == known)  # type: ignore[misc]
        undone = next(fact for fact in facts if fact.object == "Potsdam")
        await says(hob, f"/memory undo {undone.id[:12]}")
        listed = [item["text"] for item in (await memory(hob).items.items(MemoryQuery(layer="fact")))["items"]]
        assert sorted((text.split()[3], "until" in text) for text in listed) == [("Berlin", False), ("Paris", True)]
        items = (await memory(hob).items.items(MemoryQuery(layer="fact")))["items"]
        berlin = next(item for item in items if "Berlin" in item["text"])
        await says(hob, f"/memory correct {berlin['id'][:12]}")
        listed = [item["text"] for item in (await memory(hob).items.items(MemoryQuery(layer="fact")))["items"]]
        assert [text.split()[3] for text in listed] == ["Paris"]


async def test_owner_can_correct_a_fact_and_undo_the_correction(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [found(lives("Paris"))]
        await says(hob, "I live in Paris.")
        (fact,) = await until(hob, bool)

        def call(name: str, **arguments: object) -> ModelReply:
            return ModelReply("", calls=(ToolCall(CallId(f"c_{name}"), name, json.dumps(arguments)),))

        hob.model.script = [
            call("load_tools", names=["notes"]), call("facts"), call("correct_fact", id=fact.id[:12], right="Rome"),
            "Rome, then.",
        ]  # fmt: skip
        assert await says(hob, "What do you know about me? That is wrong, it is Rome.") == "Rome, then."
        assert f"- The owner lives in Paris [{fact.id[:12]}, said" in hob.seen
        (right,) = await hob.app.store.facts.known(SCOPE)
        assert right.object == "Rome"
        await says(hob, f"/memory undo {right.id[:12]}")
        assert [each.object for each in await hob.app.store.facts.known(SCOPE)] == ["Paris"]


async def test_profile_is_in_the_owners_prompts_and_follows_corrections(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [found(lives("Paris")), found({"predicate": "likes", "object": "tea"})]
        await says(hob, "I live in Paris.")
        (fact,) = await until(hob, bool)
        await hob.clock.advance(7_200)
        await says(hob, "I like tea, always tea.")
        system = hob.model.requests[-1].system
        assert system.endswith("# What the owner said of themselves\n\n- The owner lives in Paris")
        await until(hob, lambda known: len(known) == 2)
        await says(hob, "Hello again, old house.")
        assert hob.model.requests[-1].system == system
        await says(hob, f"/memory correct {fact.id[:12]} Rome")
        await says(hob, "Hello once more, old house.")
        assert hob.model.requests[-1].system.endswith("- The owner lives in Rome\n- The owner likes tea")
        await hob.answer("Where does he live?", ANNA)
        assert "Rome" not in hob.seen


class Unasked:
    """A model that must not be asked."""

    async def ask(self, task: str, session: SessionKey, system: str, question: str, maximum: int) -> str:
        raise AssertionError(f"{task} did not wait")

    def estimate(self, text: str) -> int:
        return len(text)


async def test_notes_of_one_moment_wait_until_it_is_quiet(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        for note in ("I live in Paris.", "My sister is Anna."):  # stored a microsecond apart: the second lies ahead
            await memory(hob).items.add(note)
        store, clock = hob.app.store, hob.clock
        budget = BackgroundBudget(20_000, store.ledger, clock, datetime.timestamp)
        extractor = FactExtractor(store.facts, store.goals, store.memory_work, budget, clock, lambda *_: None)
        assert await extractor.step(Unasked()) == pytest.approx(QUIET_SECONDS)


async def test_message_forgotten_while_it_is_read_becomes_neither_fact_nor_goal(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        answer = found(lives("Paris"), {"do": "GOAL", "object": "sail"})
        forgotten = asyncio.Event()

        class Forgetting:
            async def ask(self, *_: object) -> str:
                (item,) = await hob.app.store.items.of(SCOPE).select("i.role = 'user'")
                await memory(hob).upkeep.forget(ForgetRequest(id=item.id))
                forgotten.set()
                return answer.text

            def estimate(self, text: str) -> int:
                return 0

        await says(hob, "I live in Paris and want to sail one day.")
        budget = BackgroundBudget(1_000, hob.app.store.ledger, hob.clock, lambda _: 0.0)
        store = hob.app.store
        extractor = FactExtractor(store.facts, store.goals, store.memory_work, budget, hob.clock)
        async with asyncio.timeout(10):
            while not await store.memory_work.words(0, 1):
                await hob.clock.advance(0.5)
                await asyncio.sleep(0.005)
        hob.clock.set_wall(hob.clock.now() + timedelta(seconds=QUIET_SECONDS))
        assert await extractor.step(Forgetting()) == 0
        assert forgotten.is_set()
        assert await extractor.step(Forgetting()) is None
        assert await store.facts.known(SCOPE) == []
        assert await store.goals.goals(SCOPE) == []
