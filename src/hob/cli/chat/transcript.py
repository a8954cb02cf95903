"""The lines above the prompt: each is written once and then belongs to the terminal."""

from collections.abc import Callable, Sequence
from enum import StrEnum

from hob.cli.chat.rendering.fragments import Line


class TranscriptLineKind(StrEnum):
    """Kinds of lines; an empty line separates different kinds."""

    SAID = "said"
    BLOCK = "block"
    CALL = "call"
    NOTE = "note"
    QUESTION = "question"


_APART = frozenset({TranscriptLineKind.SAID, TranscriptLineKind.BLOCK, TranscriptLineKind.QUESTION})


class ScreenTranscript:
    """Separates the kinds of lines by empty lines."""

    def __init__(self, write: Callable[[Sequence[Line]], None]) -> None:
        self._write = write
        self._last: TranscriptLineKind | None = None

    def add(self, kind: TranscriptLineKind, lines: Sequence[Line]) -> None:
        """Write permanent lines."""
        if lines:
            apart = self._last is not None and (kind is not self._last or kind in _APART)
            self._write([*([[]] if apart else []), *lines])
            self._last = kind
