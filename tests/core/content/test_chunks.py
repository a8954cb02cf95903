"""Cutting long texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.content.chunks import split_text

words = st.text(alphabet=st.sampled_from("abc äö.!?\n 😀👨‍👩‍👧🇩🇪e\u0301漢。\r"), max_size=400)
LINE = "x = 1"


@given(text=st.text(max_size=300) | words, limit=st.integers(1, 120))
def test_chunks_of_a_text_without_fences_joined_are_the_text(text: str, limit: int) -> None:
    text = text.replace("```", "").replace("~~~", "")
    chunks = split_text(text, limit)
    assert "".join(chunks) == text
    assert all(0 < len(chunk) <= limit for chunk in chunks)


@given(
    parts=st.lists(
        st.sampled_from(["```\n", "```python\n", "~~~~\n", "~~~\n", "text ", "a line\n", "\n", "  ```\n", "``` "])
    ),
    limit=st.integers(1, 200),
)
def test_no_chunk_is_too_long_whatever_the_fences(parts: list[str], limit: int) -> None:
    assert all(0 < len(chunk) <= limit for chunk in split_text("".join(parts), limit))


@given(lines=st.lists(st.sampled_from([LINE, "", "y"]), min_size=1, max_size=60), limit=st.integers(60, 200))
def test_code_in_a_fence_survives_the_cut_and_every_chunk_is_closed(lines: list[str], limit: int) -> None:
    chunks = split_text("```python\n" + "\n".join(lines) + "\n```\n", limit)
    assert all(chunk.count("```") % 2 == 0 for chunk in chunks)
    code = [line for chunk in chunks for line in chunk.splitlines() if not line.startswith("```")]
    assert [line for line in code if line] == [line for line in lines if line]


def test_reopened_fence_keeps_its_language() -> None:
    first, second = split_text("```python\n" + "x = 1\n" * 12 + "```", 70)
    assert first.endswith("\n```")
    assert second.startswith("```python\n")


def test_paragraph_is_the_best_place_to_cut() -> None:
    assert split_text("One two three.\n\nFour five. Six seven eight.", 30) == (
        "One two three.\n\n",
        "Four five. Six seven eight.",
    )


def test_code_that_fits_into_the_next_chunk_is_not_torn() -> None:
    text = "A sentence that fills more than half of it.\n\n```\na\n\nb\n\nc\n```"
    assert split_text(text, 55) == ("A sentence that fills more than half of it.\n\n", "```\na\n\nb\n\nc\n```")


@pytest.mark.parametrize("character", ["👨‍👩‍👧", "e\u0301\u0302", "🇩🇪", "👍🏽", "❤️", "\r\n", "각"])
def test_character_of_several_code_points_is_not_torn(character: str) -> None:
    for limit in range(len(character) + 1, 20):
        for chunk in split_text("x" + character * 20, limit):
            assert chunk.replace("x", "").replace(character, "") == ""


def test_short_text_is_one_chunk_and_no_text_is_none() -> None:
    assert split_text("hello", 5) == ("hello",)
    assert split_text("", 5) == ()


def test_limit_that_holds_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        split_text("x", 0)


def test_time_grows_with_the_length_only() -> None:
    chunks = split_text("```\n" + "word " * 100_000 + "\n```", 4_000)
    assert 120 < len(chunks) < 400
