"""Output of commands on a terminal."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.cli.activity.timeline import KIND_WORDS
from hob.cli.conversation.questions import show_approval
from hob.cli.dates_and_figures import age, number
from hob.cli.output import Cell, line, print_table, printable, state, status_word
from hob.core.events.timeline import EventKind
from hob.core.states import TurnState
from hob.guard.approvals.question import Question


def test_model_text_cannot_control_the_terminal() -> None:
    hostile = "a\x1b[31mred\x1b]52;c;cGF5\x07\x9b2Jb\r\n\tc"
    assert "\x1b" not in printable(hostile)
    assert printable(hostile).endswith("b\n\tc")


@given(st.text())
def test_printable_keeps_only_new_lines_and_tabs_of_control_characters(text: str) -> None:
    left = {char for char in printable(text) if ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0}
    assert left <= {"\n", "\t"}


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


@given(st.text(), st.integers(2, 100))
def test_line_is_one_line_of_at_most_that_width(text: str, width: int) -> None:
    shown = line(text, width)
    assert len(shown) <= width
    assert "\n" not in shown


@pytest.mark.parametrize(("locale", "told"), [("C", "12,345.7 1.5 h"), ("de_DE.UTF-8", "12.345,7 1,5 h")])
def test_figures_have_the_separators_of_the_language(monkeypatch: pytest.MonkeyPatch, locale: str, told: str) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    assert f"{number(12_345.67)} {age(5_400)}" == told


def test_states_kinds_and_outcomes_are_words_instead_of_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert set(KIND_WORDS) == set(EventKind)
    assert [state(each) for each in TurnState if "_" in state(each)[0]] == []
    assert status_word("unknown_outcome") == "Hob was stopped during it, so its outcome is unknown"
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert (state("set_aside")[0], status_word("denied")) == ("zurückgelegt", "nicht erlaubt")


class Screen(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("language", ["en", "de"])
def test_difference_in_a_question_is_coloured_in_each_language(language: str) -> None:
    screen = Screen()
    question = Question(tool="write", arguments={"path": "a"}, reason="x", diff="-old\n+new")
    show_approval({"shown": "", "question": question.values()}, screen, language)
    assert "\033[31m│ -old" in screen.getvalue()
    assert "\033[32m│ +new" in screen.getvalue()


def test_table_aligns_columns_under_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[tuple[Cell, ...]] = [(("main", "bold"), "4", "hello"), ("a longer name", "12", "two\n  lines")]

    print_table(("conversation", "entries", "title"), rows, "nothing", right=(1,))

    assert capsys.readouterr().out.splitlines() == [
        "conversation   entries  title",
        "main                 4  hello",
        "a longer name       12  two",
        "  lines",
    ]


def test_empty_table_says_so_without_column_names(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("conversation", "title"), [], "No conversations yet.")

    assert capsys.readouterr().out == "No conversations yet.\n"
