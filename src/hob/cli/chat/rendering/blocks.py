"""Dividing Markdown that comes in pieces into blocks: what is finished never changes again.

A top-level block of CommonMark is closed when the next one begins, and a line once it has ended
(https://spec.commonmark.org/0.31.2/#phase-1-block-structure). So all blocks but the last, made of whole lines, stay as
they are, whatever follows.
"""

import re
from itertools import pairwise

from markdown_it import MarkdownIt

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")


class Blocks:
    """A text that grows, and the blocks of it that are finished. The blocks and what is open make up the text.

    Its lines end with a line feed alone.
    """

    def __init__(self) -> None:
        # only where blocks begin and end is asked here, not what stands in them
        self._parser = MarkdownIt().enable("table").disable("inline", True)
        self._open = ""
        self._looked = 0
        """How much of what is open was looked at already: no line has ended since."""
        self._closing: re.Pattern[str] | None = None
        """The line that would end the code block that is open: a long one is not read again with each line."""

    @property
    def open(self) -> str:
        """What may still become something else."""
        return self._open

    def feed(self, piece: str) -> None:
        """The text goes on."""
        self._open += piece

    def take_finished(self) -> list[str]:
        """The blocks that have been finished since, each with the empty lines behind it."""
        whole = self._open.rfind("\n") + 1
        if whole <= self._looked:
            return []
        if self._closing is not None and not _has(self._open[self._looked : whole], self._closing):
            self._looked = whole
            return []
        cuts = [0, *self._starts(self._open[:whole])[1:]]
        blocks = [self._open[begin:end] for begin, end in pairwise(cuts)]
        self._open = self._open[cuts[-1] :]
        self._looked = whole - cuts[-1]
        self._closing = _closing_of(self._open[: self._looked])
        return blocks

    def finish(self) -> list[str]:
        """All blocks that are left; the text has ended."""
        cuts = [0, *self._starts(self._open)[1:], len(self._open)]
        blocks = [self._open[begin:end] for begin, end in pairwise(cuts) if end > begin]
        self._open, self._looked, self._closing = "", 0, None
        return blocks

    def _starts(self, text: str) -> list[int]:
        """Where the top-level blocks of the text begin."""
        lines = [token.map[0] for token in self._parser.parse(text) if token.map and not token.level]
        places, at = [0], text.find("\n") + 1
        while at:
            places.append(at)
            at = text.find("\n", at) + 1
        return [places[line] for line in dict.fromkeys(lines)]


def _closing_of(block: str) -> re.Pattern[str] | None:
    """What would end the code block that the text is; None where it is none, or has ended."""
    fence = _FENCE.match(block.split("\n", 1)[0])
    if fence is None:
        return None
    closing = re.compile(rf" {{0,3}}{re.escape(fence[1][0])}{{{len(fence[1])},}}[ \t]*$")
    return None if _has(block.partition("\n")[2], closing) else closing


def _has(lines: str, pattern: re.Pattern[str]) -> bool:
    return any(map(pattern.match, lines.split("\n")))
