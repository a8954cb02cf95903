"""Facts stand in the owner's own words, are closed and never deleted, and are known as of any time."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import pytest

from hob.core.ids import SessionKey, TurnId
from hob.core.memory import Fact, FactAction, FactChange, FactState, Layer, MemoryItem, Scope
from hob.core.trust.labels import OWNER_LABEL, Label, Origin, Trust
from hob.memory.facts.decisions import decide, is_valid_at, settled
from hob.memory.facts.editor import FactEditor
from hob.memory.facts.extraction import FactDecision, Proposal, choose_known, question, read_answer
from hob.memory.retrieval.retriever import Retriever
from hob.memory.service import MemoryService
from hob.memory.settings import MemorySettings
from hob.store.store import Store
from hob.store.timeline import TimelineFilter
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store

OWNER = Scope("owner")
DAY = 86_400.0


def said(text: str, day: int = 1) -> MemoryItem:
    return MemoryItem(
        scope=OWNER, layer=Layer.CONVERSATION, source="conversation:local", text=text, label=OWNER_LABEL,
        at=day * DAY, session="local:main", turn=f"t_{day}", role="user", kind="turn", expires_at=9e9,
    )  # fmt: skip


def proposal(text: str, predicate: str, value: str, day: int = 1, **changes: object) -> Proposal:
    changes = {"decision": FactDecision.ADD, "subject": "owner", **changes}
    words = replace(said(text, day), at=changes.pop("at", day * DAY))  # type: ignore[arg-type]
    return Proposal(said=words, predicate=predicate, object=value, **changes)  # type: ignore[arg-type]


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store(ManualClock()) as store:
        yield store


async def told(store: Store, *proposals: Proposal, change: str = "e_1") -> list[Fact]:
    await store.items.add([each.said for each in proposals])
    return await store.facts.change(OWNER, [partial(decide, each) for each in proposals], change)


def lines(facts: list[Fact]) -> list[str]:
    return [f"{fact.predicate} {fact.object}{' ended' if fact.valid_to is not None else ''}" for fact in facts]


async def test_moving_closes_the_former_home_and_keeps_it(store: Store) -> None:
    await told(store, proposal("I live in Paris.", "lives_in", "Paris"))
    await told(store, proposal("I moved to Berlin last week.", "moved_to", "Berlin", 30, since=25 * DAY))
    known = await store.facts.known(OWNER)
    assert lines(known) == ["lives_in Paris ended", "lives_in Berlin"]
    assert [fact.object for fact in known if is_valid_at(fact, 31 * DAY)] == ["Berlin"]
    assert [fact.object for fact in known if is_valid_at(fact, 20 * DAY)] == ["Paris"]


async def test_ended_fact_ranks_behind_the_current_one(store: Store) -> None:
    await told(store, proposal("I live in Paris now.", "lives_in", "Paris"))
    await told(store, proposal("I moved to Berlin.", "lives_in", "Berlin", 30))
    search = partial(Retriever(store.memory_index).search, scope=OWNER, now=40 * DAY, layers=["fact"])
    berlin, paris = await search("Where do I live now?")
    assert ("Berlin" in berlin.item.text, "Paris" in paris.item.text) == (True, True)
    assert ("no longer so" in berlin.parts, paris.parts["no longer so"] < 0) == (False, True)
    asked = await search("Where did I live before Berlin, in Paris?")
    assert [each.parts.get("no longer so") for each in asked] == [None, None]


QUESTIONS = (
    ("Where did I live before Berlin?", "Paris"),
    ("Where did I live before I moved to Berlin?", "Paris"),
    ("Where did I use to live?", "Paris"),
    ("Wo habe ich früher gewohnt?", "Paris"),
    ("Wo habe ich vor Berlin gewohnt?", "Paris"),
    ("Where do I live?", "Berlin"),
    ("Wo wohne ich?", "Berlin"),
    ("In welcher Stadt wohne ich jetzt?", "Berlin"),
    ("What did I drive before the Tesla?", "Golf"),
    ("Wie heißt mein Arbeitgeber?", "Siemens"),
    ("Wo arbeite ich?", "Siemens"),
    ("Wann habe ich Geburtstag, wann ist mein Geburtstag?", "May"),
)


@pytest.mark.parametrize(("asked", "wanted"), QUESTIONS)
async def test_question_finds_the_fact_it_asks_for_among_other_messages(store: Store, asked: str, wanted: str) -> None:
    await told(store, proposal("I live in Paris.", "lives_in", "Paris"))
    await told(store, proposal("I drive a Golf.", "car", "Golf"))
    await told(store, proposal("I work at Siemens.", "works_at", "Siemens", 2))
    await told(store, proposal("My birthday is 4 May.", "birthday", "4 May", 2))
    await told(store, proposal("I moved to Berlin.", "lives_in", "Berlin", 30))
    (golf,) = [fact for fact in await store.facts.known(OWNER) if fact.predicate == "car"]
    ended = FactChange((golf.id,), (replace(golf, valid_to=20 * DAY), replace(golf, object="Tesla", quote="")))
    await store.facts.change(OWNER, [lambda _: ended], "e_car")
    chatter = [
        "My sister lives in Leipzig, before that she lived in Berlin.", "Berlin is loud, I live near the station.",
        "In Berlin I like the lakes, where I swim before work.", "Die Heizung in meiner Wohnung in Berlin ist kaputt.",
        "I have lived through the move to Berlin before winter.", "Meine Schwester wohnt in Leipzig.",
        "The Tesla needs a new tyre before winter.", "Ich habe früher gern in Berlin in Bars gesessen.",
        "Wo ich wohne, ist die Straße laut.", "Mein Chef arbeitet, wo ich auch arbeite, in Mitte.",
    ]  # fmt: skip
    await store.items.add([said(text, 31 + day) for day, text in enumerate(chatter)])
    found = await Retriever(store.memory_index).search(asked, scope=OWNER, now=60 * DAY, limit=3)
    assert found[0].item.layer == Layer.FACT
    assert wanted in found[0].item.text


@pytest.mark.parametrize(("asked", "wanted"), QUESTIONS[:8])
async def test_move_of_today_already_counts_today(asked: str, wanted: str) -> None:
    clock = ManualClock()
    async with memory_store(clock) as store:
        await clock.advance(9 * 3600)
        morning = clock.now().timestamp()
        await told(store, proposal("I live in Paris near the river.", "lives_in", "Paris", at=morning))
        await told(store, proposal("I moved to Berlin this morning.", "lives_in", "Berlin", at=morning + 60))
        await clock.advance(120)
        service = MemoryService(store.items, store.facts, Retriever(store.memory_index), MemorySettings(), clock)
        first, *_ = await service.search(asked, OWNER, 3)
        assert (first.item.layer, wanted in first.item.text) == (Layer.FACT, True)


async def test_owners_facts_are_not_shown_for_questions_about_somebody_else(store: Store) -> None:
    await told(store, proposal("I live in Paris.", "lives_in", "Paris"))
    await store.items.add([said("My sister Anna lives in Leipzig.", 3)])
    for asked in ("Wo wohnt meine Schwester Anna?", "Where does my sister Anna live?"):
        (first, *_) = await Retriever(store.memory_index).search(asked, scope=OWNER, now=60 * DAY, limit=3)
        assert "Leipzig" in first.item.text


async def test_facts_are_returned_as_known_at_one_time_about_another() -> None:
    clock = ManualClock()
    async with memory_store(clock) as store:
        await told(store, proposal("I live in Paris.", "lives_in", "Paris"))
        before = clock.now().timestamp()
        await clock.advance(DAY)
        await told(store, proposal("I moved to Berlin.", "lives_in", "Berlin", 30))
        for at, wanted in ((before, ["Paris"]), (clock.now().timestamp(), ["Berlin"])):
            known = await store.facts.known_at(OWNER, at)
            assert [fact.object for fact in known if is_valid_at(fact, 40 * DAY)] == wanted


async def test_later_of_two_messages_in_one_batch_wins(store: Store) -> None:
    await told(
        store,
        proposal("I live in Paris.", "lives_in", "Paris"),
        proposal("I moved to Berlin.", "lives_in", "Berlin", 2),
    )
    assert lines(await store.facts.known(OWNER)) == ["lives_in Paris ended", "lives_in Berlin"]


async def test_claim_not_in_the_owners_words_is_not_recorded(store: Store) -> None:
    cases = [
        proposal("Remember today.", "bank", "First Bank of Elsewhere"),
        proposal("Remember what happened today, please.", "lives_in", "Oslo"),
        proposal("> I live in Oslo\n\nWhat do you think of this text", "lives_in", "Oslo"),
        proposal("Do I live in Oslo?", "lives_in", "Oslo"),
        proposal("I met somebody from Oslo.", "lives_in", "Oslo", subject="Mallory"),
        proposal("I live in Oslo.", "!!!", "Oslo"),
        proposal("I live in Oslo.", "lives_in", "?!"),
    ]
    assert await told(store, *cases) == []
    assert await store.facts.known(OWNER) == []


async def test_repeated_fact_gains_evidence_and_is_stored_once(store: Store) -> None:
    await told(store, proposal("I live in Paris.", "lives_in", "Paris"))
    await told(store, proposal("Here in Paris, where I live, it rains.", "lives_in", "paris", 9))
    (fact,) = await store.facts.known(OWNER)
    assert len(fact.evidence) == 2


async def test_older_message_does_not_replace_what_is_known(store: Store) -> None:
    await told(store, proposal("I moved to Berlin.", "lives_in", "Berlin", 30))
    await told(store, proposal("I live in Paris.", "lives_in", "Paris", 2))
    assert lines(await store.facts.known(OWNER)) == ["lives_in Berlin"]


async def test_multi_valued_facts_hold_side_by_side(store: Store) -> None:
    await told(store, proposal("I like tea.", "likes", "tea"), proposal("I like jazz.", "likes", "jazz", 2))
    assert lines(await store.facts.known(OWNER)) == ["likes tea", "likes jazz"]


async def test_more_precise_fact_replaces_the_other(store: Store) -> None:
    (old,) = await told(store, proposal("My dog is Rex.", "has_pet", "Rex", since=DAY))
    await told(
        store,
        proposal("Rex is a beagle, Rex the beagle.", "has_pet", "Rex the beagle", 2, decision=FactDecision.UPDATE,
                 target=old.id),
    )  # fmt: skip
    (fact,) = await store.facts.known(OWNER)
    assert (fact.object, fact.valid_from, len(fact.evidence)) == ("Rex the beagle", DAY, 2)


@pytest.mark.parametrize(
    ("predicate", "first", "again"),
    [
        ("lives_in", "New York City", "NYC"),
        ("lives_in", "NYC", "New York City"),
        ("likes", "green tea", "tea that is green"),
        ("has_pet", "Rex the beagle", "Rex"),
    ],
)
async def test_restated_fact_stays_one_open_fact_with_both_pieces_of_evidence(
    store: Store, predicate: str, first: str, again: str
) -> None:
    verb = predicate.replace("lives_in", "live in").replace("likes", "like").replace("has_pet", "have a pet,")
    (old,) = await told(store, proposal(f"I {verb} {first}.", predicate, first))
    merge = {"decision": FactDecision.MERGE, "target": old.id}
    assert await told(store, proposal(f"I {verb} {again}.", predicate, again, 30, **merge), change="e_2") == []
    (fact,) = await store.facts.known(OWNER)
    assert (fact.object, fact.valid_to, len(fact.evidence)) == (first, None, 2)


@pytest.mark.parametrize(("predicate", "verb"), [("lives_in", "live in"), ("likes", "like")])
async def test_merge_of_a_different_value_asks_the_owner_and_closes_nothing(
    store: Store, predicate: str, verb: str
) -> None:
    (old,) = await told(store, proposal(f"I {verb} Paris.", predicate, "Paris"))
    merge = {"decision": FactDecision.MERGE, "target": old.id}
    await told(store, proposal(f"I {verb} Berlin.", predicate, "Berlin", 30, **merge))
    known = {fact.object: (fact.state, fact.valid_to) for fact in await store.facts.known(OWNER)}
    assert known == {"Paris": (FactState.SAID, None), "Berlin": (FactState.ASKED, None)}


async def test_merge_cannot_join_what_the_owner_did_not_say_or_another_fact(store: Store) -> None:
    (home,) = await told(store, proposal("I live in New York City.", "lives_in", "New York City"))
    merge = {"decision": FactDecision.MERGE, "target": home.id}
    assert await told(store, proposal("Do I live in NYC?", "lives_in", "NYC", 2, **merge)) == []
    await told(store, proposal("I love NYC.", "likes", "NYC", 3, **merge))
    await told(store, proposal("I like tea.", "likes", "tea", 4, decision=FactDecision.MERGE, target="unknown"))
    known = {fact.object: len(fact.evidence) for fact in await store.facts.known(OWNER)}
    assert known == {"New York City": 1, "NYC": 1, "tea": 1}


async def test_ended_fact_is_closed_by_words_that_name_it(store: Store) -> None:
    (old,) = await told(store, proposal("I work at Acme.", "works_at", "Acme"))
    ends = {"decision": FactDecision.SUPERSEDE, "target": old.id}
    await told(store, proposal("I quit smoking.", "works_at", "", 4, **ends))
    assert lines(await store.facts.known(OWNER)) == ["works_at Acme"]
    await told(store, proposal("I left Acme yesterday.", "works_at", "", 5, **ends))
    assert lines(await store.facts.known(OWNER)) == ["works_at Acme ended"]


async def test_unconfirmed_fact_does_not_count_until_confirmed(store: Store) -> None:
    (asked,) = await told(store, proposal("Maybe I will live in Rome.", "lives_in", "Rome", confidence=0.3))
    (item,) = await store.items.of(OWNER).select("i.layer = 'fact'")
    assert (asked.state, item.label.trusted) == (FactState.ASKED, False)
    await store.facts.change(OWNER, [lambda _: settled(asked, "", 2 * DAY, confirmed=True)], "e_2")
    (fact,) = await store.facts.known(OWNER)
    assert fact.state is FactState.SAID


async def test_correction_holds_until_the_owner_says_otherwise(store: Store) -> None:
    (wrong,) = await told(store, proposal("I live in Paris.", "lives_in", "Paris"))
    await store.facts.change(OWNER, [lambda _: settled(wrong, "Rome", 10 * DAY, confirmed=False)], "e_2")
    await told(store, proposal("I live in Paris, as ever.", "lives_in", "Paris", 5))
    assert lines(await store.facts.known(OWNER)) == ["lives_in Rome"]
    (item,) = await store.items.of(OWNER).select("i.turn = 't_1'")
    assert item.valid_to is not None


async def test_undo_restores_what_was_known(store: Store) -> None:
    await told(store, proposal("I live in Paris.", "lives_in", "Paris"))
    await told(store, proposal("I moved to Berlin.", "lives_in", "Berlin", 30), change="e_2")
    await store.facts.undo(OWNER, "e_2", "e_3")
    assert lines(await store.facts.known(OWNER)) == ["lives_in Paris"]
    (item,) = await store.items.of(OWNER).select("i.turn = 't_1'")
    assert item.valid_to is None


async def test_undo_of_one_fact_leaves_what_was_recorded_with_it(store: Store) -> None:
    made = await told(
        store,
        proposal("I live in Paris.", "lives_in", "Paris"),
        proposal("I like tea.", "likes", "tea", 2),
        proposal("I like jazz.", "likes", "jazz", 3),
    )
    await FactEditor(store.facts, ManualClock()).settle(made[1].id, FactAction.UNDO, "", OWNER)
    assert lines(await store.facts.known(OWNER)) == ["likes jazz", "lives_in Paris"]


async def test_timeline_events_of_facts_carry_the_change_for_undo(store: Store) -> None:
    some = [proposal("I live in Paris.", "lives_in", "Paris"), proposal("I like tea.", "likes", "tea", 2)]
    await store.items.add([each.said for each in some])
    made = await store.facts.change(OWNER, [partial(decide, each) for each in some], "e_1", ("facts", "", 1))
    events = (await store.timeline.page(None, 20, TimelineFilter())).events
    assert {fact.change: fact.id for fact in made} == {event.id: event.classification for _, event in events}
    assert len(await store.facts.news(OWNER, TurnId("t_1"))) == 2


async def test_only_the_owners_messages_and_notes_are_read_for_facts(store: Store) -> None:
    message = said("I live in Paris.")
    others = [
        replace(message, kind=kind, role=role, label=label, position=place, id="")
        for place, (kind, role, label) in enumerate(
            [
                ("result", "user", OWNER_LABEL),
                ("pasted", "user", OWNER_LABEL),
                ("turn", "assistant", OWNER_LABEL),
                ("turn", "user", Label(Origin.OWNER, Trust.UNTRUSTED)),
                ("turn", "user", Label(Origin.WEB, Trust.TRUSTED)),
            ],
            1,
        )
    ]
    await store.items.add([message, *others])
    for label in (OWNER_LABEL, Label(Origin.MODEL, Trust.TRUSTED), Label(Origin.OWNER, Trust.UNTRUSTED)):
        await store.memories.remember("I now live in Hamburg", SessionKey("owner"), label, "")
    assert [each.text for each in await store.memory_work.words(0, 20)] == ["I live in Paris.", "I now live in Hamburg"]


async def test_evidence_of_a_fact_does_not_expire(store: Store) -> None:
    await told(store, proposal("I live in Paris.", "lives_in", "Paris"))
    (item,) = await store.items.of(OWNER).select("i.turn = 't_1'")
    assert item.expires_at is None


async def test_forgetting_a_message_removes_its_fact_and_reopens_the_one_it_closed(store: Store) -> None:
    await told(store, proposal("I live in Paris.", "lives_in", "Paris"))
    moved = proposal("I moved to Berlin.", "lives_in", "Berlin", 30)
    await told(store, moved)
    await store.erasure.erase_items([moved.said.id], "asked to")
    assert lines(await store.facts.known(OWNER)) == ["lives_in Paris"]
    await told(store, moved)
    assert lines(await store.facts.known(OWNER)) == ["lives_in Paris"]


async def test_facts_do_not_cross_scopes(store: Store) -> None:
    await told(store, proposal("I live in Paris.", "lives_in", "Paris"))
    (fact,) = await store.facts.known(OWNER)
    for other in (Scope("person:anna"), Scope("telegram:group:1"), Scope("owner", "other")):
        assert await store.facts.known(other) == []
        await store.facts.change(other, [lambda _: settled(fact, "", DAY, confirmed=False)], "e_9")
        await store.facts.undo(other, "e_1", "e_9")
    assert lines(await store.facts.known(OWNER)) == ["lives_in Paris"]


def test_unreadable_answer_differs_from_an_empty_one() -> None:
    messages = [said("I live in Paris.")]
    assert read_answer("Sure! []", [], messages) == []
    assert read_answer("I found nothing.", [], messages) is None
    assert read_answer('{"do": "ADD"}', [], messages) is None
    assert read_answer('[1, "x", {"do": "FLY", "message": 1}, {"do": "ADD", "message": 7}]', [], messages) == []


def test_answer_is_parsed_with_dates_and_target_fact() -> None:
    known = [Fact(subject="owner", predicate="lives_in", object="Paris", at=0.0, id="f1")]
    value = {"do": "supersede", "message": "M1", "fact": "F1", "subject": "owner", "predicate": "lives_in",
             "object": "Berlin", "since": "1970-01-03", "until": "soon", "sure": "0.8"}  # fmt: skip
    (found,) = read_answer(json.dumps([value]), known, [said("I moved to Berlin.")]) or []
    assert (found.decision, found.target, found.since, found.until, found.confidence) == (
        FactDecision.SUPERSEDE, "f1", 2 * DAY, None, 0.8,
    )  # fmt: skip


def test_extraction_prompt_shows_related_known_facts() -> None:
    facts = [Fact(subject="owner", predicate="likes", object=f"thing{n}", at=float(n), id=str(n)) for n in range(99)]
    facts.append(Fact(subject="Rex", predicate="is_a", object="beagle", at=0.0, id="r"))
    chosen = choose_known(facts, [said("Rex is ill")])
    assert chosen[0].subject == "Rex"
    assert len(chosen) == 30
    text = question(chosen, [said("Rex is ill\n> quoted secret")])
    assert "F1 Rex is_a beagle" in text
    assert "M1 (1970-01-02): Rex is ill" in text
    assert "quoted" not in text


async def test_day_beyond_any_life_is_not_believed(store: Store) -> None:
    far = 1_000 * 365 * DAY
    (fact,) = await told(store, proposal("I live in Paris since 3000.", "lives_in", "Paris", since=far))
    assert (fact.object, fact.valid_from) == ("Paris", None)
