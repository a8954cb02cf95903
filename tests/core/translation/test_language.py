"""Texts that can be translated: their figures, and their way through JSON."""

import json

import pytest

from hob.core.money import dollars, price
from hob.core.translation.language import collect_texts, restore_texts, say, translatable, translated, verbatim


@pytest.mark.parametrize(("micro", "english", "german"), [(0, "$0.00", "0,00 $"), (1_234, "$0.001234", "0,001234 $")])
def test_money_is_formatted_in_the_readers_language(micro: int, english: str, german: str) -> None:
    assert (str(price(micro)), translated(price(micro), "de")) == (english, german)
    assert translated(dollars(2_500_000), "de") == "2,50"


def test_numbers_in_a_translation_have_its_separators() -> None:
    message = "Items: {total:,}; limit for items that expire: {maximum:,}"
    assert say("en", message, total=3, maximum=50_000) == "Items: 3; limit for items that expire: 50,000"
    assert say("de", message, total=3, maximum=50_000) == "Einträge: 3; Grenze für die, die ablaufen: 50.000"
    assert say("de", "{days:g} days", days=1.5) == "1,5 Tage"


def test_texts_in_json_stay_translatable_in_another_process() -> None:
    seen = {"a": [{"problem": translatable("{title} gave no answer", title="{x}")}], "b": "plain", "n": 1}
    sent = json.loads(json.dumps({"seen": seen, "texts": collect_texts(seen)}))
    back = restore_texts(sent["seen"], sent["texts"])
    assert back == seen
    assert translated(back["a"][0]["problem"], "de") == "{x} gab keine Antwort"


def test_verbatim_text_is_the_same_in_every_language_and_process() -> None:
    assert say("de", "must be {choices}{instead}", choices="off", instead="") == "muss aus sein"
    seen = {"why": translatable("must be {choices}{instead}", choices=verbatim("off"), instead="")}
    back = restore_texts(json.loads(json.dumps(seen)), collect_texts(seen))
    assert translated(back["why"], "de") == "muss off sein"
