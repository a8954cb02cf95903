"""What is found for a question: by words, by what stands beside them, and only of one's own."""

import json
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.memory import Layer, MemoryItem, Recalled, Scope
from hob.core.trust.labels import OWNER_LABEL, Label, Origin, Trust
from hob.memory.retrieval.query import Query
from hob.memory.retrieval.retriever import Retriever, SnapshotSearch, estimate_tokens
from hob.store.database.migration import apply_migrations
from hob.store.memory.items import add_items
from hob.store.memory.search import ScopedIndex
from hob.store.store import Store
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC).timestamp()
OWNER, GROUP = Scope("owner"), Scope("telegram:group")


def said(text: str, n: int = 0, session: str = "local:main", scope: Scope = OWNER, **more: object) -> MemoryItem:
    plain = MemoryItem(
        scope=scope, layer=Layer.CONVERSATION, source="conversation:local", text=text, label=OWNER_LABEL,
        at=NOW - 86_400 + n, session=session, position=n, speaker="Anna",
    )  # fmt: skip
    return replace(plain, id="", **more)  # type: ignore[arg-type]


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store(ManualClock()) as store:
        yield store


async def search(store: Store, query: str, **how: object) -> list[str]:
    how = {"scope": OWNER, "now": NOW} | how
    found = await Retriever(store.memory_index).search(query, **how)  # type: ignore[arg-type]
    return [each.item.text for each in found]


async def test_inflected_words_are_found_in_both_languages(store: Store) -> None:
    german = "Ich bin gestern mit dem Fahrrad zum See gefahren."
    english = "I bought a new bicycle and the children went swimming."
    await store.items.add([said(german, session="a"), said(english, session="b"), said("Something else.", session="c")])
    assert (await search(store, "Wohin fährt Anna mit dem Rad?"))[0] == german
    assert (await search(store, "When did the child go for a swim?"))[0] == english


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("zahnarzt", "Der Zahnarzttermin ist am Montag."),
        ("Wann muss ich zum Zahnarzt?", "Der Zahnarzttermin ist am Montag."),
        ("Fahrrad", "Das Fahrradschloss hat die Nummer 4711."),
        ("Steuern", "Die Steuererklärung liegt im Schrank."),
        ("Wo liegt das mit der Steuer?", "Die Steuererklärung liegt im Schrank."),
    ],
)
async def test_german_compound_is_found_by_its_beginning(store: Store, question: str, found: str) -> None:
    others = [f"Ich muss Kind {n} um acht zum Training fahren." for n in range(20)]
    told = [*others, "Der Zahnarzttermin ist am Montag.", "Das Fahrradschloss hat die Nummer 4711."]
    told.append("Die Steuererklärung liegt im Schrank.")
    await store.items.add([said(text, n, session=str(n)) for n, text in enumerate(told)])
    assert (await search(store, question))[:1] == [found]


async def test_word_itself_comes_before_its_compounds(store: Store) -> None:
    texts = ["Mein Fahrrad steht im Keller bei Oma.", "Das Fahrradschloss hat die Nummer 4711."]
    await store.items.add([said(text, n, session=text) for n, text in enumerate(texts)])
    assert await search(store, "Wo ist mein Fahrrad?") == texts


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (("We walked a lot.", "We walked somewhat."), "Where did we walk in May?"),
        (("Wir sind viel gelaufen.", "Wir sind etwas gelaufen."), "Wo sind wir im Mai gelaufen?"),
        (("we walked a lot in may", "we walked somewhat, you may say"), "Where did we walk in may?"),
    ],
)
async def test_month_of_may_is_found(store: Store, texts: tuple[str, str], question: str) -> None:
    may, june = (datetime(2026, month, 3, tzinfo=UTC).timestamp() for month in (5, 6))
    plain = texts[0].endswith("may")
    await store.items.add([said(texts[0], 1, "a", at=june if plain else may), said(texts[1], 2, "b", at=june)])
    found = await Retriever(store.memory_index).search(question, scope=OWNER, now=NOW)
    words = {each.item.text: each.parts["words"] for each in found}
    assert words[texts[0]] > words[texts[1]]


async def test_answer_beside_the_question_is_found(store: Store) -> None:
    await store.items.add([said("Where did you put the spare key?", 1), said("Under the blue flower pot.", 2)])
    await store.items.add([said(f"Nothing of note, day {n}.", n, session="other") for n in range(3, 20)])
    assert "Under the blue flower pot." in await search(store, "Where is the spare key?", limit=2)


async def test_short_answer_is_shown_with_its_question(store: Store) -> None:
    question, answer = "Where did you put the spare key?", "Under the blue flower pot."
    await store.items.add([said(question, 1, kind="turn"), said(answer, 2, kind="turn")])
    (found,) = await Retriever(store.memory_index).search("blue flower pot", scope=OWNER, now=NOW, limit=1)
    assert (found.item.text, found.asked and found.asked.text) == (answer, question)
    untrusted = replace(said("Which door?", 3, kind="turn"), label=Label(Origin.WEB, Trust.UNTRUSTED), id="")
    await store.items.add([untrusted, said("The green one.", 4, kind="turn")])
    (found,) = await Retriever(store.memory_index).search("green", scope=OWNER, now=NOW, limit=1)
    assert found.asked is None  # a stranger's question does not come in with the owner's answer


async def test_notes_hob_was_asked_to_keep_rank_like_messages(store: Store) -> None:
    note = said("The spare key is under the pot.", 1, "local:a", layer=Layer.FACT, role="assistant", kind="note")
    await store.items.add([note, said("The spare key of the car is lost.", 2, "local:b", role="assistant")])
    found = await Retriever(store.memory_index).search("spare key", scope=OWNER, now=NOW)
    assert [("assistant" in each.parts) for each in found] == [False, True]
    assert found[0].item.text == note.text


async def test_layer_filter_works_even_if_few_items_match(store: Store) -> None:
    await store.items.add([said(f"The tea is warm, says number {n}.", n) for n in range(900)])
    await store.items.add([said("The tea in the cupboard is old.", layer=Layer.DOCUMENT, session="doc")])
    assert await search(store, "tea", layers=[Layer.DOCUMENT]) == ["The tea in the cupboard is old."]


async def test_session_narrows_the_search(store: Store) -> None:
    await store.items.add([said("tea at home", session="a"), said("tea at work", session="b")])
    assert await search(store, "tea", scope=Scope("owner", session="b")) == ["tea at work"]
    assert await search(store, "tea", scope=Scope("owner", session="c")) == []


async def test_quoted_phrase_ranks_first(store: Store) -> None:
    texts = ["I love to have tea with green leaves, green tea and tea.", "The green tea is for mother."]
    await store.items.add([said(text, n * 9, session=str(n)) for n, text in enumerate(texts)])
    assert (await search(store, 'where is "the green tea"'))[0] == texts[1]


async def test_memories_of_the_asked_day_rank_first(store: Store) -> None:
    texts = ["We ate fish.", "We ate fish again."]
    days = [datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 5, 3, tzinfo=UTC)]
    await store.items.add([said(t, session=t, at=d.timestamp()) for t, d in zip(texts, days, strict=True)])
    assert (await search(store, "What did we eat on 3 May 2026?"))[0] == texts[1]
    assert (await search(store, "Was haben wir am 2. März 2026 gegessen? fish"))[0] == texts[0]


async def test_expired_and_superseded_and_repeated_items_are_left_out(store: Store) -> None:
    items = [
        said("Tea is in the kitchen.", 1, session="a"),
        said("tea is in the kitchen", 2, session="b"),
        said("The tea was in the hall.", 3, session="c", superseded_by="x"),
        said("Tea for one day.", 4, session="d", expires_at=NOW - 1),
    ]
    await store.items.add(items)
    found = await search(store, "tea")
    assert len(found) == 1
    assert "kitchen" in found[0]


async def test_statement_repeated_on_another_day_is_returned_twice(store: Store) -> None:
    days = [said("I ran five kilometres.", n, session=str(n), at=NOW - n * 86_400) for n in (1, 2, 2, 3, 4)]
    await store.items.add(days)
    assert await search(store, "kilometres") == ["I ran five kilometres."] * 2


@pytest.mark.parametrize("telling", ["I baked a plum cake at the party.", "Plum cake yesterday at the party."])
async def test_items_that_say_what_happened_or_when_rank_before_others(store: Store, telling: str) -> None:
    other = "Plum cake for a party, always."
    await store.items.add([said(telling, session="a"), said(other, session="b")])
    assert await search(store, "plum cake party") == [telling, other]


async def test_named_day_weighs_more_than_a_named_year(store: Store) -> None:
    day, other = datetime(2026, 3, 2, tzinfo=UTC).timestamp(), datetime(2026, 5, 3, tzinfo=UTC).timestamp()
    await store.items.add([said("We ate fish.", session="a", at=day), said("We had soup.", session="b", at=other)])

    async def counts(query: str) -> float:
        found = await Retriever(store.memory_index).search(query, scope=OWNER, now=NOW)
        return max(each.parts.get("day", 0.0) for each in found)

    by_day, by_month = await counts("fish on 2 March 2026"), await counts("fish in March 2026")
    assert by_day > by_month > await counts("fish last year")


async def test_results_stay_within_the_token_budget(store: Store) -> None:
    await store.items.add([said(f"Tea number {n} " + "with milk " * n, n, session=str(n)) for n in range(30)])
    found = await search(store, "tea milk", limit=30, budget=100)
    assert found
    assert sum(estimate_tokens(text) for text in found) <= 100


async def test_common_words_do_not_displace_a_rare_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hob.memory.retrieval.lexical.BUDGET", 50)
    await store.items.add([said(f"tea and talk, number {n}", n, session=str(n)) for n in range(200)])
    await store.items.add([said("tea with marzipan", 900, session="x"), said("marzipan alone", 901, session="y")])
    assert (await search(store, "tea talk marzipan"))[0] == "tea with marzipan"
    assert len(await search(store, "tea", limit=3)) == 3


async def test_empty_memory_finds_nothing(store: Store) -> None:
    assert await search(store, "tea") == []
    await store.items.add([said("tea")])
    assert await search(store, "") == []
    assert await search(store, "?!") == []


async def test_items_of_an_older_release_are_indexed(store: Store) -> None:
    await store.items.add([said(f"tea {n}", n) for n in range(3)])
    await store._writer.write(lambda c: [c.execute(f"DELETE FROM memory_{t}") for t in ("words", "postings")])  # noqa: S608
    assert await search(store, "tea") == []
    await store.memory_index.complete()
    assert len(await search(store, "tea")) == 3


QUESTIONS = st.one_of(st.text(max_size=80), st.sampled_from(["tea", "vor 9999999 jahren 31. februar", "last year tea"]))
SAID = st.lists(st.tuples(st.sampled_from(["owner", "o", "' OR 1 --"]), st.sampled_from("ab"), st.text(min_size=1)))


@given(SAID, QUESTIONS)
def test_search_stays_in_its_scope_and_is_deterministic(told: list[tuple[str, str, str]], question: str) -> None:
    connection = apsw.Connection(":memory:")
    apply_migrations(connection)
    items = [said(t, n, session, Scope(who)) for n, (who, session, t) in enumerate(told)]
    add_items(connection, items)
    for who in ("owner", "o", "' OR 1 --"):
        for words in (question, *(text for _, _, text in told)):
            search = SnapshotSearch(Query.parse(words, NOW), frozenset(), NOW, 8, 0)
            found = search(ScopedIndex(connection, Scope(who)))
            assert {each.item.scope.person for each in found} <= {who}
            again = search(ScopedIndex(connection, Scope(who)))
            assert as_json(found) == as_json(again)


def as_json(found: tuple[Recalled, ...]) -> str:
    return json.dumps([asdict(each) for each in found])


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 7 May 2023", "2023-05-07", "2023-05-07"),
        ("am 7. Mai 2023", "2023-05-07", "2023-05-07"),
        ("May 7th, 2023", "2023-05-07", "2023-05-07"),
        ("in March", "2026-03-01", "2026-03-31"),
        ("im Dezember", "2025-12-01", "2025-12-31"),
        ("two days ago", "2026-06-12", "2026-06-14"),
        ("vor einer Woche", "2026-06-05", "2026-06-11"),
        ("last Friday", "2026-06-12", "2026-06-12"),
        ("letztes Wochenende", "2026-06-13", "2026-06-14"),
        ("gestern", "2026-06-14", "2026-06-14"),
        ("What was on Saturday?", "2026-06-13", "2026-06-13"),
        ("Was ist am Freitag passiert?", "2026-06-12", "2026-06-12"),
        ("last October", "2025-10-01", "2025-10-31"),
        ("vorige Woche", "2026-06-08", "2026-06-14"),
        ("the day before yesterday", "2026-06-13", "2026-06-13"),
        ("vorgestern", "2026-06-13", "2026-06-13"),
        ("What did I say today?", "2026-06-15", "2026-06-15"),
        ("heute", "2026-06-15", "2026-06-15"),
        ("this morning", "2026-06-15", "2026-06-15"),
        ("this week", "2026-06-15", "2026-06-15"),
        ("diesen Monat", "2026-06-01", "2026-06-15"),
        ("dieses Jahr", "2026-01-01", "2026-06-15"),
        ("in 2023", "2023-01-01", "2023-12-31"),
        ("im Jahr 2023", "2023-01-01", "2023-12-31"),
        ("last summer", "2025-06-01", "2025-08-31"),
        ("letzten Winter", "2025-12-01", "2026-02-28"),
        ("in the spring", "2026-03-01", "2026-05-31"),
        ("im Herbst", "2025-09-01", "2025-11-30"),
        ("am 3.3.", "2026-03-03", "2026-03-03"),
        ("am 24.12.", "2025-12-24", "2025-12-24"),
        ("at Christmas", "2025-12-24", "2025-12-26"),
        ("Weihnachten 2023", "2023-12-24", "2023-12-26"),
    ],
)
def test_dates_in_a_question_are_parsed(text: str, first: str, last: str) -> None:
    ((start, end),) = Query.parse(text, NOW).days
    assert (str(start), str(end)) == (first, last)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What happened yesterday?", ["evening", "noon"]),
        ("What did we talk about yesterday?", ["evening", "noon"]),
        ("Was war gestern?", ["evening", "noon"]),
        ("Was habe ich letzten Dienstag gemacht?", ["tuesday"]),
        ("last Tuesday", ["tuesday"]),
        ("What did I do last week?", ["evening", "noon", "tuesday"]),
        ("What happened in May?", ["may"]),
        ("Was war vorgestern?", []),
    ],
)
async def test_question_about_a_day_finds_what_happened_then(store: Store, question: str, found: list[str]) -> None:
    texts = {
        "noon": ("New boots from the market, 120 euros.", NOW - 86_400, "user"),
        "evening": ("Grandpa called from the hospital.", NOW - 70_000, "user"),
        "answer": ("The boots are said to last for many years.", NOW - 60_000, "assistant"),
        "tuesday": ("Swam across the lake.", NOW - 6 * 86_400, "user"),
        "may": ("Planted three apple trees.", NOW - 30 * 86_400, "user"),
        "today": ("What happened yesterday and last Tuesday was talked about today.", NOW, "user"),
    }
    for name, (text, at, role) in texts.items():
        await store.items.add([said(text, session=name, at=at, role=role)])
    told = await search(store, question)
    assert told[: len(found)] == [texts[name][0] for name in found]
    assert texts["today"][0] not in told


_TWO_DAYS = ("yesterday", "today")


async def test_days_follow_the_owners_time_zone(store: Store) -> None:
    late = datetime(2026, 6, 14, 15, 30, tzinfo=UTC).timestamp()  # the 15th in Tokyo
    await store.items.add([said("Grandpa called from the hospital.", at=late)])
    for zone, days in ((UTC, ["yesterday"]), (ZoneInfo("Asia/Tokyo"), ["today"])):
        retriever = Retriever(store.memory_index, zone=zone)
        searches = {day: await retriever.search(f"What was {day}?", scope=OWNER, now=NOW) for day in _TWO_DAYS}
        assert [day for day, found in searches.items() if found] == days


async def test_named_day_finds_items_without_a_common_word(store: Store) -> None:
    await store.items.add([said("New boots from the market, 120 euros.", at=NOW - 86_400, session="then")])
    await store.items.add(
        [said(f"I buy bread, day {n}.", n, session="other", at=NOW - n * 86_400) for n in range(40, 44)]
    )
    assert "New boots from the market, 120 euros." in await search(store, "What did I buy yesterday?")
