"""Documents as items, one per section: they are split by headings, then by paragraphs."""

import re
from collections.abc import Iterator

from hob.core.memory import SECTION, Layer, MemoryItem, Scope
from hob.core.trust.labels import Label
from hob.core.values import dataclass

LONGEST = 1_600
"""Maximum characters of a piece, about 400 tokens, as in KafClaw."""
_COMMENT = re.compile(r"^[ \t]*<!--.*?-->", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"\s*(```|~~~)")


def items_of_document(
    text: str, name: str, *, scope: Scope, layer: Layer, label: Label, at: float, level: int = 6
) -> list[MemoryItem]:
    """Split a document into items; headings deeper than `level` do not start one. `at` is the document's date (Unix
    seconds).
    """
    return [
        MemoryItem(
            scope=scope,
            layer=layer,
            source=f"{layer}:{name}",
            text=section.text,
            label=label,
            at=at,
            session=name,
            position=section.first,
            kind=SECTION,
            evidence=(f"{name}#L{section.first}-L{section.last}",),
        )
        for section in split_sections(text, name, level)
    ]


@dataclass(frozen=True, slots=True)
class MarkdownSection:
    """A piece of a document, with its heading and its lines (from 1, inclusive)."""

    heading: str
    text: str
    first: int
    last: int


def split_sections(text: str, title: str, level: int = 6) -> Iterator[MarkdownSection]:
    """Split at headings up to this level, then by length. Text before the first heading gets the title."""
    text = _COMMENT.sub(
        lambda found: "\n" * found[0].count("\n"), text
    )  # comments are for people, but lines keep their numbers
    heading, begun, lines, fenced = title, 1, list[str](), False
    opens = re.compile(rf"#{{1,{level}}}\s+(.+?)\s*#*\s*$")
    for number, line in enumerate(text.split("\n"), 1):
        if _FENCE.match(line):
            fenced = not fenced
        if not fenced and (found := opens.match(line)):
            yield from _pieces(heading, lines, begun)
            heading, begun, lines = found[1], number, []
        lines.append(line)
    yield from _pieces(heading, lines, begun)


def _pieces(heading: str, lines: list[str], begun: int) -> Iterator[MarkdownSection]:
    """Group paragraphs up to the maximum length. Every piece but the first repeats the section's heading."""
    start, size, head = 0, 0, ""
    for place, line in enumerate([*lines, ""]):
        ends = place == len(lines)
        if ends or (size > LONGEST // 2 and not line.strip()) or (size and size + len(line) >= LONGEST):
            text = "\n".join(lines[start:place]).strip()
            last = begun + max(start, place - 1)
            if text and text.lstrip("# ") != heading:
                for cut in range(0, len(text), LONGEST):  # a line may be longer than a piece
                    yield MarkdownSection(heading, head + text[cut : cut + LONGEST], begun + start, last)
                    head = f"{heading}\n"
            start, size = place, 0
        size += len(line) + 1
