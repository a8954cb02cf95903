"""A fact reads as a sentence: to a model of the owner, to the owner of themselves, in their language."""

import pytest

from hob.core.translation.fact_words import OTHERS_FACTS, OWNER_FACTS, render_fact, render_fact_for_owner
from hob.core.translation.language import translated


@pytest.mark.parametrize(
    ("subject", "predicate", "object_", "of", "to"),
    [
        ("owner", "lives_in", "Paris", "The owner lives in Paris", "you live in Paris"),
        ("owner", "studies", "law", "The owner studies law", "you study law"),
        ("owner", "watches", "films", "The owner watches films", "you watch films"),
        ("owner", "moved_to", "Rome", "The owner moved to Rome", "you moved to Rome"),
        ("owner", "goes_to", "school", "The owner goes to school", "you go to school"),
        ("owner", "born_in", "Lagos", "The owner was born in Lagos", "you were born in Lagos"),
        ("owner", "allergic_to", "nuts", "The owner is allergic to nuts", "you are allergic to nuts"),
        ("owner", "birthday", "3 May", "The owner's birthday is 3 May", "your birthday is 3 May"),
        ("owner", "hobbies", "chess", "The owner's hobbies are chess", "your hobbies are chess"),
        ("Anna", "job_title", "nurse", "Anna's job title is nurse", "Anna's job title is nurse"),
    ],
)
def test_fact_is_a_sentence(subject: str, predicate: str, object_: str, of: str, to: str) -> None:
    assert render_fact(subject, predicate, object_) == of
    assert render_fact_for_owner(subject, predicate, object_) == to


def test_known_fact_is_rendered_in_german_with_its_object_verbatim() -> None:
    assert translated(render_fact_for_owner("owner", "lives_in", "done"), "de") == "du wohnst in done"
    assert translated(render_fact_for_owner("Anna", "lives_in", "Rome"), "de") == "Anna wohnt in Rome"
    assert translated(render_fact_for_owner("owner", "plays_with", "Lego"), "de") == "you play with Lego"


def test_table_sentences_equal_those_made_by_the_rules() -> None:
    made = {name: render_fact("Bo", name, "X") for name in OTHERS_FACTS}
    assert made == {name: message.format(subject="Bo", object="X") for name, message in OTHERS_FACTS.items()}
    assert OTHERS_FACTS.keys() < OWNER_FACTS.keys()
