"""An answer being streamed: its finished blocks, and a preview of the open one."""

import time
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from hob.cli.chat.rendering.fragments import Line, plain
from hob.cli.output import printable

_PREVIEW = 20_000
"""Characters of an open block that are rendered for its preview; of longer blocks, the end is shown unrendered."""
_TAIL = 60
"""Lines of open code that are rendered; few screens show more."""
_SHARE = 8.0
"""A new preview waits for this multiple of the last one's duration, which bounds the cost of long blocks."""
_LINE_ENDS = {0x85: "\n", 0x2028: "\n", 0x2029: "\n"}


class StreamedAnswer:
    """Collects the pieces of a Markdown answer. The blocks do not depend on how it is divided."""

    def __init__(self) -> None:
        self._seen: tuple[str, int, list[Line]] = ("", 0, [])
        self._fresh_until = 0.0
        self.given = False
        """Whether any block was already returned."""

    @cached_property
    def _blocks(self) -> Any:
        from hob.cli.chat.rendering.blocks import Blocks  # rich and the parser load with the first answer

        return Blocks()

    @cached_property
    def _renderer(self) -> Any:
        from hob.cli.chat.rendering.renderer import Renderer

        return Renderer()

    def feed(self, piece: str) -> None:
        """Append a piece. Control characters become visible."""
        self._blocks.feed(printable(piece.translate(_LINE_ENDS)))

    def take_finished(self, width: int) -> list[list[Line]]:
        """Return the blocks finished since the last call, rendered."""
        return self._rendered(self._blocks.take_finished(), width)

    def finish(self, width: int) -> list[list[Line]]:
        """Return the remaining blocks, rendered."""
        return self._rendered(self._blocks.finish(), width)

    def preview(self, width: int) -> list[Line]:
        """Render the open block as it is so far."""
        text: str = self._blocks.open
        seen, seen_width, lines = self._seen
        begun = time.monotonic()
        if (text, width) == (seen, seen_width) or (
            width == seen_width and text.startswith(seen) and seen and begun < self._fresh_until
        ):
            return lines
        lines = self._look(text, width)
        self._seen = (text, width, lines)
        self._fresh_until = begun + (time.monotonic() - begun) * _SHARE
        return lines

    def _look(self, text: str, width: int) -> list[Line]:
        rows = text.split("\n")
        if text.startswith(("```", "~~~")) and len(rows) > _TAIL + 1:
            text = "\n".join([rows[0], *rows[-_TAIL:]])
        if len(text) <= _PREVIEW:
            lines: list[Line] = self._renderer.preview(text, width)
            return lines
        return [line for row in rows[-_TAIL:] for line in plain(row[:width])]

    def _rendered(self, blocks: Iterable[str], width: int) -> list[list[Line]]:
        rendered = [lines for block in blocks if (lines := self._renderer.render(block, width))]
        self.given = self.given or bool(rendered)
        return rendered


def load() -> None:
    """Import the renderer before its first use."""
    import hob.cli.chat.rendering.blocks
    import hob.cli.chat.rendering.renderer  # noqa: F401
