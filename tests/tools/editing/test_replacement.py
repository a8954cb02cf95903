"""A passage is replaced where it matches, and nowhere else."""

import pytest

from hob.core.errors import ToolFailed
from hob.tools.editing.replacement import replace_passage

CODE = "def one():\n    if x:\n        return 1\n\n\ndef two():\n    return 2\n"


def test_exact_match_is_replaced() -> None:
    done = replace_passage(CODE, "return 2", "return 3")
    assert (done.text, done.lines, done.tolerance) == (CODE.replace("2", "3"), (7,), "")


def test_several_matches_are_an_error_listing_them() -> None:
    with pytest.raises(ToolFailed, match=r"2 places \(lines 3, 7\); .* or use replace_all"):
        replace_passage(CODE, "return", "yield")
    assert replace_passage(CODE, "return", "yield", everywhere=True).text == CODE.replace("return", "yield")


def test_overlapping_matches_count_as_several() -> None:
    with pytest.raises(ToolFailed, match="2 places"):
        replace_passage("aaa", "aa", "b")
    assert replace_passage("aaaa", "aa", "b", everywhere=True).text == "bb"


def test_plain_quotes_match_typographic_ones_which_are_kept() -> None:
    text = "He said \u201chello\u201d \u2013 \u2018now\u2019.\n"
    done = replace_passage(text, "He said \"hello\" - 'now'.", "She said \"hello\" - 'later'.")
    assert done.text == "She said \u201chello\u201d \u2013 \u2018later\u2019.\n"
    assert done.tolerance == "quotes, dashes or spaces"


def test_quotes_can_be_changed() -> None:
    assert replace_passage("say \u201chi\u201d now\n", 'say "hi" now', "say 'hi' now").text == "say 'hi' now\n"


def test_trailing_spaces_are_ignored_and_kept() -> None:
    done = replace_passage("a = 1  \nb = 2\t\nc = 3\n", "a = 1\nb = 2\nc = 3\n", "a = 1\nb = 5\nc = 3\n")
    assert (done.text, done.tolerance) == ("a = 1  \nb = 5\nc = 3\n", "spaces at the ends of lines")


def test_passage_with_other_indentation_takes_the_files() -> None:
    done = replace_passage(CODE, "if x:\n    return 1", "if x:\n    y()\n    return 1")
    assert done.text == CODE.replace("        return 1", "        y()\n        return 1")
    assert done.tolerance == "indentation"
    assert replace_passage("a\n  b\n", "    a\n      b\n", "    a\n      c\n").text == "a\n  c\n"
    assert replace_passage("\tif x:\n\t\ty\n", "if x:\n\ty\n", "if x:\n\tz\n").text == "\tif x:\n\t\tz\n"


def test_lines_with_varying_indentation_shift_do_not_match() -> None:
    with pytest.raises(ToolFailed, match="not in the file"):
        replace_passage("if a:\n        b\n", "  if a:\n    b\n", "x")


def test_tolerant_match_in_two_places_is_an_error_too() -> None:
    with pytest.raises(ToolFailed, match=r"fits 2 places \(lines 1, 3\); add lines around it until it fits one\."):
        replace_passage("  a\n  b\n    a\n    b\n", "a\nb\n", "c\n", everywhere=True)


def test_missing_final_line_end_is_kept() -> None:
    assert replace_passage("a \nb ", "a\nb\n", "a\nc\n").text == "a \nc"
    assert replace_passage("a\nb", "b", "c").text == "a\nc"


def test_lines_can_be_removed() -> None:
    assert replace_passage("a \nb\nc\n", "a\nb\n", "").text == "c\n"
    assert replace_passage("a\nb\nc\n", "b\n", "").text == "a\nc\n"


def test_crlf_in_the_arguments_is_the_same_as_lf() -> None:
    assert replace_passage("a\nb\n", "a\r\nb", "a\r\nc").text == "a\nc\n"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [("", "x", "use write"), ("x", "x", "the same"), ("nothing like it", "x", "nothing in it is like that")],
)
def test_impossible_edit_is_reported(old: str, new: str, why: str) -> None:
    with pytest.raises(ToolFailed, match=why):
        replace_passage(CODE, old, new)


def test_nearest_passage_is_shown() -> None:
    with pytest.raises(ToolFailed) as told:
        replace_passage(CODE, "def two(x):\n    return 2", "")
    assert str(told.value) == "old_text is not in the file. The nearest is at line 6:\n6\tdef two():\n7\t    return 2"
