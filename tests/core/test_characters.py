"""Characters that deceive go, those that languages need stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.screening.characters import neutralise

FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("text", "shown", "found"),
    [
        ("a\x1b[2Jb", "a\ufffd[2Jb", {"control": 1}),
        ("x\u202egpj.exe\u202c", "xgpj.exe", {"bidi": 2}),
        ("\u2066// admin\u2069", "// admin", {"bidi": 2}),
        ("hi\U000e0069\U000e0067", "hi", {"tag": 2}),
        ("ok\ufe00\ufe01\ufe02", "ok\ufe00", {"selector": 2}),
        ("a\u200b\u200c\u200bb", "a\u200cb", {"width": 2}),
        ("ig\u200bno\xadre\ufeff \u2060this", "ignore this", {"width": 4}),
        ("a\u200c\u200d\u200cb", "a\u200cb", {"width": 2}),
        ("one\rtwo\r\nthree", "one\ntwo\r\nthree", {}),
        ("half \ud800 a sign", "half \ufffd a sign", {"control": 1}),
    ],
)
def test_deceptive_characters_are_removed_and_counted(text: str, shown: str, found: dict[str, int]) -> None:
    cleaned = neutralise(text)
    assert (cleaned.text, cleaned.found) == (shown, found)


@pytest.mark.parametrize("text", ["Grüße\n\tda", "👨‍👩‍👧‍👦 ❤️", FLAG, "می‌خواهم", "क्‍ष", "שלום\u200f!"])
def test_characters_of_languages_and_emoji_stay(text: str) -> None:
    assert neutralise(text).text == text
    assert neutralise(text).note == ""


@given(st.text(st.sampled_from("a \r\n\x1b\u200b\u200d\u202e\u2066\ufe0f\ufeff\U000e0041\U000e007f\U0001f3f4\ud800")))
def test_neutralised_text_stays_as_it_is(text: str) -> None:
    once = neutralise(text).text
    assert neutralise(once).text == once
