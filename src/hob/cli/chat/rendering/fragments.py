"""Lines of styled text in prompt_toolkit's form."""

import textwrap
from collections.abc import Iterable, Sequence
from functools import partial

from prompt_toolkit.utils import get_cwidth

Line = list[tuple[str, str]]
"""Pairs of style and text, without line ends."""

_wrap = partial(textwrap.wrap, break_long_words=False, break_on_hyphens=False, replace_whitespace=False, tabsize=4)


def plain(text: str, style: str = "") -> list[Line]:
    """Return the lines of a text in one style. The text must be free of control characters."""
    return [[(style, line)] for line in text.split("\n")]


def wrapped(text: str, style: str, width: int) -> list[Line]:
    """Return the lines wrapped between words at the width where possible."""
    rows = [row for line in text.split("\n") for row in _wrap(line, width) or [""]]
    return plain("\n".join(rows), style)


def barred(text: str, style: str, width: int, bar: str, further: str) -> list[Line]:
    """Return a line behind a bar, cut at the width, so that no part can pass for another line."""
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
    """Strip empty lines around the text and spaces at line ends."""
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
    """Join lines into one run of styled text, each line ended."""
    return [piece for line in lines for piece in (*line, ("", "\n"))]


def text_of(lines: Iterable[Line]) -> str:
    """Return the text without styles."""
    return "\n".join("".join(text for _, text in line) for line in lines)
