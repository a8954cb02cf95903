"""Streamed Markdown: the result does not depend on how the text is divided."""

import unicodedata
from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from hob.cli.chat.rendering.answer import StreamedAnswer
from hob.cli.chat.rendering.blocks import Blocks
from hob.cli.chat.rendering.fragments import Line, barred, text_of

WORDS = (
    "# ", "## x", "para", "more words", "**bold**", "*it", "`code`", "``", "```", "```py", "````", "~~~", "    code",
    "- a", "* b", "+ c", "1. one", "2) two", "  - in", "   in", "> said", ">", "| a | b |", "|---|---|", "| 1 |", "---",
    "===", "***", "[x]", "[x]: http://a.example", "[x](http://b.example)", "<div>", "</div>", "<!--", "-->", "<script>",
    "&#27;", "&amp;", "\\", "\\`", "\t", "  ", "\x1b[31m", "\x07", "\r", "\u202e", "\u2028", "\u200b\u200b", "äöü",
    "日本語", "👩‍👩‍👧", "!", "![i](u)", "~~no~~", "$x$",
)  # fmt: skip
LINES = st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=14)
TEXTS = st.one_of(LINES.map("\n".join), LINES.map("\n\n".join), LINES.map("\r\n".join), st.text(max_size=60))


PLAIN_TEXTS = TEXTS.map(lambda text: text.replace("\r", ""))


@st.composite
def pieces(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS) -> tuple[str, ...]:
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return tuple(text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True))


def blocks_of(parts: Sequence[str], *, eager: bool = True) -> list[str]:
    blocks, found = Blocks(), list[str]()
    for part in parts:
        blocks.feed(part)
        if eager:
            found += blocks.take_finished()
    return found + blocks.finish()


def rendered(parts: Sequence[str], width: int, *, eager: bool = True) -> list[list[Line]]:
    answer, found = StreamedAnswer(), list[list[Line]]()
    for part in parts:
        answer.feed(part)
        if eager:
            answer.preview(width)
            found += answer.take_finished(width)
    return found + answer.finish(width)


@given(pieces(PLAIN_TEXTS))
@example(("para\n", "#", "foo\n"))
@example(("a | b\n", "--|--\n", "1 | 2\n"))
@example(("```\n", "a\n\n", "b\n", "```\n", "\n", "c"))
@example(("[x]: http://a", ".example\n", "\n[x]\n"))
def test_blocks_do_not_depend_on_the_pieces(parts: tuple[str, ...]) -> None:
    whole = blocks_of(["".join(parts)], eager=False)
    assert blocks_of(parts) == whole
    assert blocks_of("".join(parts)) == whole
    assert "".join(whole) == "".join(parts)


@given(PLAIN_TEXTS)
def test_blocks_are_those_of_the_whole_text(text: str) -> None:
    parser = MarkdownIt().enable("table").enable("strikethrough").disable("inline", ignoreInvalid=True)
    apart = [token.type for block in blocks_of([text]) for token in parser.parse(block)]
    assert apart == [token.type for token in parser.parse(text)]


@given(pieces(), st.integers(10, 90))
def test_rendered_answer_does_not_depend_on_the_pieces(parts: tuple[str, ...], width: int) -> None:
    assert rendered(parts, width) == rendered(["".join(parts)], width, eager=False)


@given(TEXTS, st.integers(10, 90))
@example("&#12;&#7;&#x9b;&#x202e; [l](<\x1b]8;;x>) `\x1b[c`", 40)
def test_no_answer_can_control_the_terminal(text: str, width: int) -> None:
    for lines in rendered([text], width):
        shown = text_of(lines).replace("\n", "")
        assert [char for char in shown if unicodedata.category(char) == "Cc"] == []
        assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029") & set(shown)


@given(st.text(max_size=80), st.integers(4, 30))
def test_line_behind_a_bar_stays_behind_it_and_is_complete(text: str, width: int) -> None:
    rows = [text_of([line]) for line in barred(text, "", width, "│ ", "┊ ")]
    assert rows[0].startswith("│ ")
    assert all(row.startswith("┊ ") for row in rows[1:])
    assert "".join(row[2:] for row in rows) == text
