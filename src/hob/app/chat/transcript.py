"""What was said and done, as it stands above the prompt: each line is written once and then belongs to the terminal."""

from collections.abc import Callable, Sequence
from enum import StrEnum

from hob.app.chat.fragments import Line


class Kind(StrEnum):
    """What a run of lines is; another kind begins after an empty line."""

    SAID = "said"
    BLOCK = "block"
    CALL = "call"
    NOTE = "note"
    QUESTION = "question"


_APART = frozenset({Kind.SAID, Kind.BLOCK, Kind.QUESTION})


class Transcript:
    """Divides what is written by empty lines."""

    def __init__(self, write: Callable[[Sequence[Line]], None]) -> None:
        self._write = write
        self._last: Kind | None = None

    def add(self, kind: Kind, lines: Sequence[Line]) -> None:
        """Write these lines for good."""
        if lines:
            apart = self._last is not None and (kind is not self._last or kind in _APART)
            self._write([*([[]] if apart else []), *lines])
            self._last = kind
