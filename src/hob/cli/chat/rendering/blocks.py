"""Division of streamed Markdown into blocks that no longer change.

A top-level block of CommonMark is closed when the next one begins, and a line once it has ended
(https://spec.commonmark.org/0.31.2/#phase-1-block-structure). So all blocks but the last, made of whole lines, keep
their form whatever follows.
"""

import re
from itertools import pairwise

from markdown_it import MarkdownIt

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")


class Blocks:
    """A growing text and its finished blocks; these and the open rest make up the text.

    Lines end with a line feed alone.
    """

    def __init__(self) -> None:
        # only block boundaries matter here, not inline content
        self._parser = MarkdownIt().enable("table").disable("inline", True)
        self._open = ""
        self._looked = 0
        """Length of the open text that was already parsed; no line has ended since."""
        self._closing: re.Pattern[str] | None = None
        """The fence that would close the open code block, so that a long block is not parsed again with each line."""

    @property
    def open(self) -> str:
        """The text whose form may still change."""
        return self._open

    def feed(self, piece: str) -> None:
        """Append a piece of text."""
        self._open += piece

    def take_finished(self) -> list[str]:
        """Return the blocks finished since the last call, each with the empty lines after it."""
        whole = self._open.rfind("\n") + 1
        if whole <= self._looked:
            return []
        if self._closing is not None and not _has(self._open[self._looked : whole], self._closing):
            self._looked = whole
            return []
        cuts = [0, *self._block_starts(self._open[:whole])[1:]]
        blocks = [self._open[begin:end] for begin, end in pairwise(cuts)]
        self._open = self._open[cuts[-1] :]
        self._looked = whole - cuts[-1]
        self._closing = _closing_fence(self._open[: self._looked])
        return blocks

    def finish(self) -> list[str]:
        """Return all remaining blocks at the end of the text."""
        cuts = [0, *self._block_starts(self._open)[1:], len(self._open)]
        blocks = [self._open[begin:end] for begin, end in pairwise(cuts) if end > begin]
        self._open, self._looked, self._closing = "", 0, None
        return blocks

    def _block_starts(self, text: str) -> list[int]:
        """Return the offsets at which top-level blocks begin."""
        lines = [token.map[0] for token in self._parser.parse(text) if token.map and not token.level]
        places, at = [0], text.find("\n") + 1
        while at:
            places.append(at)
            at = text.find("\n", at) + 1
        return [places[line] for line in dict.fromkeys(lines)]


def _closing_fence(block: str) -> re.Pattern[str] | None:
    """Return the fence that would close this code block; None if it is not one, or is closed."""
    fence = _FENCE.match(block.split("\n", 1)[0])
    if fence is None:
        return None
    closing = re.compile(rf" {{0,3}}{re.escape(fence[1][0])}{{{len(fence[1])},}}[ \t]*$")
    return None if _has(block.partition("\n")[2], closing) else closing


def _has(lines: str, pattern: re.Pattern[str]) -> bool:
    return any(map(pattern.match, lines.split("\n")))
