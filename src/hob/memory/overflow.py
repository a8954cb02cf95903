"""Counting how often a part of memory had more to show than its room in the prompt."""

from collections import Counter
from typing import Final

LANES: Final = ("working", "observation", "rag")
"""As the seed calls them; working notes are limited when they are written."""


class Overflow:
    """Counts since Hob started."""

    def __init__(self) -> None:
        self.turns = 0
        """That were shown memories, or could have been."""
        self._events = Counter(dict.fromkeys(LANES, 0))

    def add(self, lane: str) -> None:
        """Not all of this lane had room."""
        self._events[lane] += 1

    @property
    def lanes(self) -> dict[str, int]:
        """How often, by lane."""
        return dict(self._events)

    @property
    def events(self) -> int:
        """How often in all."""
        return self._events.total()

    @property
    def per_1000(self) -> float:
        """How often in a thousand turns."""
        return 1000 * self.events / max(1, self.turns)
