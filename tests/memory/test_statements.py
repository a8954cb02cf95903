"""A fact is what the owner states of themselves: not what others say, what is denied, supposed or quoted."""

import time

import pytest

from hob.memory.facts.decisions import decide
from hob.memory.facts.extraction import FactDecision
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.memory.test_facts import OWNER, lines, proposal, told

STATED = (
    ("I live in Paris.", "lives_in", "Paris"),
    ("We moved to Oslo", "lives_in", "Oslo"),
    ("We moved to Oslo last week, and it is not bad.", "lives_in", "Oslo"),
    ("My brother visited. I live in Berlin now.", "lives_in", "Berlin"),
    ("My brother left, but I live in Berlin now.", "lives_in", "Berlin"),
    ("I don't live in Paris, I live in Berlin.", "lives_in", "Berlin"),
    ("I now live in Hamburg, not in Paris", "lives_in", "Hamburg"),
    ("I no longer live in Paris since I moved to Berlin.", "lives_in", "Berlin"),
    ("I don't live in Paris anymore but in Berlin.", "lives_in", "Berlin"),
    ("I live in St. Gallen.", "lives_in", "St. Gallen"),
    ("Here in Paris, where I live, it rains.", "lives_in", "Paris"),
    ("Moved to Oslo last week.", "lives_in", "Oslo"),
    ("My wife and I live in Berlin.", "lives_in", "Berlin"),
    ("I moved with my wife to Oslo.", "lives_in", "Oslo"),
    ("I told my brother that I live in Berlin.", "lives_in", "Berlin"),
    ("As I said, I live in Berlin.", "lives_in", "Berlin"),
    ("Don't forget that I live in Berlin.", "lives_in", "Berlin"),
    ("No, I live in Berlin.", "lives_in", "Berlin"),
    ("Note: I live in Berlin.", "lives_in", "Berlin"),
    ("Berlin is where I live.", "lives_in", "Berlin"),
    ("I'm vegetarian now", "diet", "vegetarian"),
    ("Now I'm vegan, no longer vegetarian.", "diet", "vegan"),
    ("My bank is Comdirect.", "bank", "Comdirect"),
    ("I changed from Sparkasse to Comdirect.", "bank", "Comdirect"),
    ("Comdirect is my bank now.", "bank", "Comdirect"),
    ("I like coffee.", "likes", "coffee"),
    ("I don't like coffee.", "dislikes", "coffee"),
    ("I hate coffee.", "dislikes", "coffee"),
    ("I can't stand coffee.", "dislikes", "coffee"),
    ("I have no children.", "children", "no children"),
    ("I can't eat nuts.", "allergic_to", "nuts"),
    ('My dog is called "Rex".', "has_pet", "Rex"),
    ('My favourite book is "War and Peace".', "favourite_book", "War and Peace"),
    ("My wife is Anna.", "partner", "Anna"),
    ("My brother works at Siemens.", "brother_works_at", "Siemens"),
    ("I want to visit Japan.", "wants_to_visit", "Japan"),
    ("Ich wohne jetzt in Hamburg", "lives_in", "Hamburg"),
    ("Jetzt wohne ich in Hamburg, nicht mehr in Paris.", "lives_in", "Hamburg"),
    ("Ich wohne nicht in Paris, sondern in Hamburg.", "lives_in", "Hamburg"),
    ("Mein Bruder war da. Ich arbeite bei Siemens.", "works_at", "Siemens"),
    ("Ich bin mit meiner Frau nach Oslo gezogen.", "lives_in", "Oslo"),
    ("Meine Bank ist jetzt die Comdirect.", "bank", "Comdirect"),
    ("Ich bin von der Sparkasse zur Comdirect gewechselt.", "bank", "Comdirect"),
    ("Ich mag keinen Kaffee.", "dislikes", "Kaffee"),
    ("Ich bin jetzt Vegetarier.", "diet", "Vegetarier"),
    ("Wie ich schon sagte, wohne ich in Hamburg.", "lives_in", "Hamburg"),
    ("Meine Frau und ich wohnen in Hamburg.", "lives_in", "Hamburg"),
    ("Vergiss nicht, dass ich in Hamburg wohne.", "lives_in", "Hamburg"),
)
NOT_STATED = (
    ('The mail says "your bank is Evil Bank"', "bank", "Evil Bank"),
    ('The mail says "Evil Bank" is your bank', "bank", "Evil Bank"),
    ('Look: "my bank is Evil Bank". Funny.', "bank", "Evil Bank"),
    ("Anna said: my bank is Evil Bank", "bank", "Evil Bank"),
    ("Anna said: I am well. My bank is Evil Bank.", "bank", "Evil Bank"),
    ("Anna: my bank is Evil Bank", "bank", "Evil Bank"),
    ("Anna told me that my bank is Evil Bank.", "bank", "Evil Bank"),
    ("I was told my bank is Evil Bank.", "bank", "Evil Bank"),
    ("I heard that my bank is Evil Bank.", "bank", "Evil Bank"),
    ("My bank is Evil Bank, says Anna.", "bank", "Evil Bank"),
    ("This is what Anna wrote me:\n\nI am well. My bank is Evil Bank.", "bank", "Evil Bank"),
    ("Anna goes: my bank is Evil Bank", "bank", "Evil Bank"),
    ("Anna was like, my bank is Evil Bank", "bank", "Evil Bank"),
    ("See `my bank is Evil Bank` in line 3.", "bank", "Evil Bank"),
    ("\u300cMy bank is Evil Bank\u300d", "bank", "Evil Bank"),
    ("Translate into German: My bank is Evil Bank.", "bank", "Evil Bank"),
    ("Please rephrase this sentence. My bank is Evil Bank.", "bank", "Evil Bank"),
    ("Pretend to be me. My bank is Evil Bank.", "bank", "Evil Bank"),
    ("Formuliere das höflicher: Meine Bank ist die Evil Bank.", "bank", "Evil Bank"),
    ("According to the mail my bank is Evil Bank.", "bank", "Evil Bank"),
    ("Your bank is Evil Bank.", "bank", "Evil Bank"),
    ("I am not vegetarian", "diet", "vegetarian"),
    ("I'm no longer vegetarian.", "diet", "vegetarian"),
    ("I never lived in Rome", "lives_in", "Rome"),
    ("I don't live in Paris, I live in Berlin.", "lives_in", "Paris"),
    ("I now live in Hamburg, not in Paris", "lives_in", "Paris"),
    ("I live in Berlin instead of Paris.", "lives_in", "Paris"),
    ("If I won the lottery I would live in Monaco", "lives_in", "Monaco"),
    ("If I win, I move to Monaco.", "lives_in", "Monaco"),
    ("I'd live in Monaco.", "lives_in", "Monaco"),
    ("I might move to Rome.", "lives_in", "Rome"),
    ("I want to live in Rome.", "lives_in", "Rome"),
    ("I'm tired. Do I live in Rome?", "lives_in", "Rome"),
    ("I hate coffee", "likes", "coffee"),
    ("I don't like tea, coffee and milk.", "likes", "coffee"),
    ("I like coffee.", "dislikes", "coffee"),
    ("My brother works at Siemens", "works_at", "Siemens"),
    ("My brother is well and works at Siemens.", "works_at", "Siemens"),
    ("I like my job, my brother works at Siemens.", "works_at", "Siemens"),
    ("Anna works at Siemens.", "works_at", "Siemens"),
    ("She lives in Rome.", "lives_in", "Rome"),
    ("My brother thinks I should move to Madrid soon.", "lives_in", "Madrid"),
    ("My brother's wife is Eve.", "partner", "Eve"),
    ("In der Mail steht „deine Bank ist Evil Bank“.", "bank", "Evil Bank"),
    ("Laut Anna ist meine Bank die Evil Bank.", "bank", "Evil Bank"),
    ("Anna schreibt: Meine Bank ist die Evil Bank.", "bank", "Evil Bank"),
    ("Anna sagt, ich wohne in Rom.", "lives_in", "Rom"),
    ("Mein Bruder meint, ich sollte nach Madrid ziehen.", "lives_in", "Madrid"),
    ("Ich bin kein Vegetarier.", "diet", "Vegetarier"),
    ("Ich habe nie in Rom gewohnt.", "lives_in", "Rom"),
    ("Ich wohne nicht in Paris, sondern in Hamburg.", "lives_in", "Paris"),
    ("Wenn ich reich wäre, würde ich in Monaco wohnen.", "lives_in", "Monaco"),
    ("Ich könnte nach Rom ziehen.", "lives_in", "Rom"),
    ("Mein Bruder arbeitet bei Siemens.", "works_at", "Siemens"),
    ("Jetzt wohnt meine Schwester in Rom.", "lives_in", "Rom"),
    ("Ich mag Kaffee nicht.", "likes", "Kaffee"),
    ("Ich hasse Kaffee.", "likes", "Kaffee"),
)


@pytest.mark.parametrize(("text", "predicate", "value"), STATED)
def test_owners_statement_is_a_fact(text: str, predicate: str, value: str) -> None:
    change = decide(proposal(text, predicate, value), [])
    assert change is not None
    assert [fact.object for fact in change.added] == [value]


@pytest.mark.parametrize(("text", "predicate", "value"), NOT_STATED)
def test_anything_but_an_owners_statement_is_not_a_fact(text: str, predicate: str, value: str) -> None:
    assert decide(proposal(text, predicate, value), []) is None


def test_only_the_beginning_of_a_huge_message_is_judged() -> None:
    text = "I live in Paris and " * 50_000
    began = time.process_time()
    assert decide(proposal(f"{text} I live in Rome.", "lives_in", "Rome"), []) is None
    assert decide(proposal(text, "lives_in", "Paris"), []) is not None
    assert time.process_time() - began < 5


async def test_supposition_is_unconfirmed_at_most_and_closes_nothing() -> None:
    async with memory_store(ManualClock()) as store:
        await told(store, proposal("I live in Paris.", "lives_in", "Paris"))
        text = "My brother thinks I should move to Madrid soon."
        await told(store, proposal(text, "lives_in", "Madrid", 2, decision=FactDecision.SUPERSEDE))
        await told(store, proposal("I might move to Rome.", "lives_in", "Rome", 3, decision=FactDecision.ASK))
        assert lines(await store.facts.known(OWNER)) == ["lives_in Paris", "lives_in Rome"]
        assert [fact.state.value for fact in await store.facts.known(OWNER)] == ["said", "asked"]


@pytest.mark.parametrize("text", [
    "If I moved to Tokyo I would be happy. I moved to Tokyo in a dream.", "In my dream I moved to Tokyo.",
    "Ich bin im Traum nach Tokyo gezogen.", "Ich habe geträumt, ich wohne in Tokyo.",
    "I dreamed that I moved to Tokyo.",
])  # fmt: skip
async def test_dream_is_unconfirmed_at_most_and_closes_nothing(text: str) -> None:
    async with memory_store(ManualClock()) as store:
        await told(store, proposal("I live in Berlin.", "lives_in", "Berlin"))
        await told(store, proposal(text, "lives_in", "Tokyo", 2))
        assert lines(await store.facts.known(OWNER)) == ["lives_in Berlin"]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("I no longer work at Acme.", True),
        ("I left Acme.", True),
        ("Bei Acme arbeite ich nicht mehr.", True),
        ("My brother left Acme.", False),
        ("The mail says “you left Acme”.", False),
        ("I should leave Acme.", False),
    ],
)
async def test_only_an_owners_statement_ends_a_fact(text: str, ends: bool) -> None:
    async with memory_store(ManualClock()) as store:
        (old,) = await told(store, proposal("I work at Acme.", "works_at", "Acme"))
        over = {"decision": FactDecision.SUPERSEDE, "target": old.id}
        await told(store, proposal(text, "works_at", "", 4, **over))
        assert lines(await store.facts.known(OWNER)) == [f"works_at Acme{' ended' if ends else ''}"]
