"""Counters of how often memory had more to show than fits its share of the prompt."""

from collections import Counter
from typing import Final

LANES: Final = ("working", "observation", "rag")
"""KafClaw's lane names. Working notes are missing because their length is limited when they are written."""


class Overflow:
    """Overflow counters since Hob started."""

    def __init__(self) -> None:
        self.turns = 0
        """Turns in which memories were shown or could have been."""
        self._events = Counter(dict.fromkeys(LANES, 0))

    def add(self, lane: str) -> None:
        """Count one overflow of a lane."""
        self._events[lane] += 1

    @property
    def lanes(self) -> dict[str, int]:
        """Return the number of overflows per lane."""
        return dict(self._events)

    @property
    def events(self) -> int:
        """Return the total number of overflows."""
        return self._events.total()

    @property
    def per_1000(self) -> float:
        """Return the overflows per thousand turns."""
        return 1000 * self.events / max(1, self.turns)
