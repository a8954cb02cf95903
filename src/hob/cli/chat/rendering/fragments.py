"""Lines of styled text, as prompt_toolkit takes them."""

import textwrap
from collections.abc import Iterable, Sequence
from functools import partial

from prompt_toolkit.utils import get_cwidth

Line = list[tuple[str, str]]
"""Pairs of a style and a text without line ends."""

_wrap = partial(textwrap.wrap, break_long_words=False, break_on_hyphens=False, replace_whitespace=False, tabsize=4)


def plain(text: str, style: str = "") -> list[Line]:
    """The lines of a text, all in one style. The text must be tame."""
    return [[(style, line)] for line in text.split("\n")]


def wrapped(text: str, style: str, width: int) -> list[Line]:
    """The same, no line longer than the width where that can be had between words."""
    rows = [row for line in text.split("\n") for row in _wrap(line, width) or [""]]
    return plain("\n".join(rows), style)


def barred(text: str, style: str, width: int, bar: str, further: str) -> list[Line]:
    """A line that stands behind a bar, divided where the terminal would: nothing of it may pass for another line."""
    rows, row, room = [], "", width - len(bar)
    for sign in text:
        cells = get_cwidth(sign)
        if cells > room:
            rows.append(row)
            row, room = "", width - len(bar)
        row += sign
        room -= cells
    return [[(style, f"{further if place else bar}{row}")] for place, row in enumerate([*rows, row])]


def stripped(lines: Sequence[Line]) -> list[Line]:
    """The lines without empty ones around them and without spaces at their ends."""
    bare = [_without_end(line) for line in lines]
    filled = [place for place, line in enumerate(bare) if line]
    return bare[filled[0] : filled[-1] + 1] if filled else []


def _without_end(line: Line) -> Line:
    rest = list(line)
    while rest:
        style, text = rest.pop()
        if kept := text.rstrip(" "):
            return [*rest, (style, kept)]
    return rest


def joined(lines: Iterable[Line]) -> Line:
    """One run of styled text, each line ended."""
    return [piece for line in lines for piece in (*line, ("", "\n"))]


def text_of(lines: Iterable[Line]) -> str:
    """The lines without their styles."""
    return "\n".join("".join(text for _, text in line) for line in lines)
