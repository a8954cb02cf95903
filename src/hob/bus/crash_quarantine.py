"""Crash quarantine: turns that were running in a crash run alone, one at a time, to find the one that causes it.

`store/turns/turns.py` defines after how many crashes a turn is quarantined.
"""

import asyncio

from hob.core.ids import TurnId


class CrashQuarantine:
    """The order in which suspects run. All other turns wait until none is left, or until `release_others`."""

    def __init__(self) -> None:
        self._order: dict[TurnId, asyncio.Event] = {}
        self._others = asyncio.Event()
        self._others.set()

    def __contains__(self, turn: TurnId) -> bool:
        return turn in self._order

    def add(self, turn: TurnId) -> None:
        """Append a suspect."""
        if not self._order:
            self._others.clear()
        self._order.setdefault(turn, asyncio.Event())
        self._call_next()

    async def wait(self, turn: TurnId | None) -> None:
        """Wait until this suspect may run; for any other turn, until all suspects are done."""
        await (self._others if turn is None else self._order.get(turn, self._others)).wait()

    def release_others(self) -> None:
        """Release all other turns, because the suspects take too long."""
        self._others.set()

    def remove(self, turn: TurnId) -> None:
        """Remove a suspect that has ended or will not run for now, and let the next one run."""
        gone = self._order.pop(turn, None)
        if gone is not None:
            gone.set()
            self._call_next()

    def _call_next(self) -> None:
        first = next(iter(self._order.values()), None)
        if first is not None:
            first.set()
        else:
            self._others.set()
