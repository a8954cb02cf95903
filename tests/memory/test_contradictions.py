"""What contradicts what is known already is closed by recency; what the owner put right is respected."""

from dataclasses import replace

import pytest

from hob.core.memory import Fact, FactState
from hob.memory.facts.contradictions import contradicted, reconciled
from hob.memory.facts.decisions import predicate_of

PARIS = Fact(subject="owner", predicate="lives_in", object="Paris", at=100.0, id="paris")
BERLIN = Fact(subject="Owner", predicate="lives_in", object="Berlin", at=200.0, valid_from=150.0, id="berlin")
TEA = Fact(subject="owner", predicate="likes", object="tea", at=100.0, id="tea")


def closed(*known: Fact) -> dict[str, float | None]:
    change = reconciled(known)
    return {} if change is None else {fact.object: fact.valid_to for fact in change.added}


def test_newer_of_two_contradicting_facts_counts() -> None:
    assert closed(PARIS, BERLIN) == {"Paris": 150.0}
    assert closed(BERLIN, PARIS) == {"Paris": 150.0}
    change = reconciled((PARIS, BERLIN))
    assert change is not None
    assert change.closed == ("paris",)
    assert change.added[0].evidence == ("berlin",)


@pytest.mark.parametrize("predicate", ["eye_colour", "favourite_food", "wedding_date", "wife_birthday", "last_name"])
def test_single_valued_fact_is_closed_by_the_next_value(predicate: str) -> None:
    green = replace(PARIS, predicate=predicate, object="green", id="green")
    assert closed(green, replace(green, object="brown", at=200.0, id="brown")) == {"green": 200.0}
    assert predicate_of("Eye color") == "eye_colour"


def test_correction_gives_way_only_to_later_statements() -> None:
    right = replace(PARIS, object="Rome", at=200.0, state=FactState.CORRECTED, id="rome")
    assert closed(right, replace(BERLIN, valid_from=None)) == {"Berlin": 200.0}
    assert closed(replace(right, at=100.0), replace(BERLIN, valid_from=None)) == {"Rome": 200.0}


def test_opposite_preferences_contradict_only_about_the_same_thing() -> None:
    hates = replace(TEA, predicate="hates", at=300.0, id="hates")
    assert closed(TEA, hates) == {"tea": 300.0}
    assert closed(TEA, replace(hates, object="coffee")) == {}
    assert closed(TEA, replace(TEA, predicate="loves", id="loves")) == {}


def test_unconfirmed_ended_and_unrelated_facts_close_nothing() -> None:
    assert closed(PARIS, replace(BERLIN, state=FactState.ASKED)) == {}
    assert closed(PARIS, replace(BERLIN, valid_to=300.0)) == {}
    assert closed(PARIS, replace(BERLIN, subject="Anna")) == {}
    assert closed(TEA, replace(TEA, object="coffee", id="coffee")) == {}
    assert reconciled(()) is None


def test_contradicting_facts_name_each_other() -> None:
    sure, asked = replace(BERLIN, valid_from=150.0), replace(PARIS, state=FactState.ASKED)
    hates = replace(TEA, predicate="hates", id="hates")
    assert contradicted((sure, asked, TEA, hates)) == {
        "berlin": ["paris"], "paris": ["berlin"], "tea": ["hates"], "hates": ["tea"],
    }  # fmt: skip
    assert not contradicted((sure, replace(PARIS, valid_to=150.0)))
    assert not contradicted((replace(sure, recorded_from=10.0), replace(PARIS, recorded_to=10.0)))
    assert not contradicted((PARIS, replace(PARIS, object="paris", id="again")))
    assert not contradicted((TEA, replace(hates, object="coffee"), replace(hates, valid_from=5.0, valid_to=50.0)))
    assert not contradicted((PARIS, replace(BERLIN, valid_to=50.0, valid_from=10.0), replace(BERLIN, subject="Anna")))
