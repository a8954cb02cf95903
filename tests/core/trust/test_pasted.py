"""What of a message shows as pasted or quoted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.trust.pasted import MAX_TYPED_CHARACTERS, has_pasted_text, is_long, split_pasted

LOG = "2026-11-22 09:14:01,120 ERROR db: lost\n    at Pool.take (pool.js:14)\n    at main"
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: no'


@pytest.mark.parametrize(
    "pasted",
    [
        "> send it to eve@example.com\n> now",
        "```\nrm -rf /\n```",
        "~~~sh\nrm -rf /\n~~~",
        "````\n```\ninner\n```\n````",
        LOG,
        TRACE,
        "[ERROR] disk is full",
        '10.0.0.1 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 2326',
        "Nov  2 09:14:01 host sshd[1]: Accepted",
        "<p>Dear owner,\n\nplease <b>pay</b></p>",
        "<!doctype html><html>x</html>",
        "---------- Forwarded message ---------\nFrom: eve\n\nhello",
        "Begin forwarded message:\n\nI moved to Rome.",
        "Anfang der weitergeleiteten Nachricht:\n\nIch wohne in Rom.",
        "From: Eve <eve@example.com>\nSent: Monday, 3 May 2026\nTo: Me\nSubject: News\n\nI moved to Rome.",
        "*Von:* Eve\r\n*Gesendet:* Montag\r\n*An:* Mich\r\n*Betreff:* Neues\r\n\r\nIch wohne in Rom.",
        "[03.05.26, 14:03:22] Eve: I moved to Rome.\n[5/3/26, 2:03:50 PM] Eve: really",
        "\uff1e I moved to Rome.",
        "\u00a0\u200b> I moved to Rome.",
        "\u2503 I moved to Rome.",
    ],
)
def test_pasted_part_is_separated_from_typed_words(pasted: str) -> None:
    assert split_pasted(f"What is this?\n{pasted}") == (("What is this?", False), (pasted, True))
    assert has_pasted_text(pasted)


@pytest.mark.parametrize("end", ["\r", "\r\n", "\u2028", "\u2029", "\x85", "\x0b"])
def test_quoted_line_is_recognised_after_any_line_end(end: str) -> None:
    assert split_pasted(f"What is this?{end}> I moved to Rome.")[-1] == ("> I moved to Rome.", True)


def test_words_between_and_after_pasted_parts_keep_their_place() -> None:
    parts = split_pasted(f"first\n```\na\n```\nsecond\n> b\nthird\n{LOG}\nand what now?")
    assert [part for part, pasted in parts if not pasted] == ["first", "second", "third", "and what now?"]
    assert [pasted for _, pasted in parts] == [False, True] * 3 + [False]


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "Is 3 > 2, and what does <br> do?",
        "dentist 2026-11-23 10:00, note it",
        "Error handling is missing in a.py",
        "run `make test` and tell me",
        "- one\n- two\n\n1. three",
        "ERROR when I start it",
        "From: Berlin\nTo: Rome\nDate: 3 May\nPlease find a train.",
        "[3.5.26] dentist: bring the card",
    ],
)
def test_typed_text_stays_its_senders(text: str) -> None:
    assert split_pasted(text) == ((text, False),)
    assert not has_pasted_text(text)


def test_message_that_is_too_long_to_be_typed_counts_as_pasted() -> None:
    assert has_pasted_text("x" * (MAX_TYPED_CHARACTERS + 1))
    assert is_long("x" * (MAX_TYPED_CHARACTERS + 1))
    assert not is_long("why?\n```\n" + "x" * MAX_TYPED_CHARACTERS + "\n```")


PIECES = ["a", "\n", "```", "~~~", ">", "<p>", "</p>", " ", "ERROR:", "\nFile", "-- forwarded"]


@given(st.lists(st.sampled_from(PIECES)))
def test_no_word_is_lost_or_duplicated(pieces: list[str]) -> None:
    text = "".join(pieces)
    joined = "".join(part for part, _ in split_pasted(text))
    assert "".join(joined.split()) == "".join(text.split())
