"""Crash quarantine: turns that ran at an unclean end run alone, one at a time, so that the guilty one is found.

After how many ends it is quarantined stands in `store/turns/turns.py`.
"""

import asyncio

from hob.core.ids import TurnId


class CrashQuarantine:
    """The order in which suspects may run. All other turns wait until none is left, or until `let_others_run`."""

    def __init__(self) -> None:
        self._order: dict[TurnId, asyncio.Event] = {}
        self._others = asyncio.Event()
        self._others.set()

    def __contains__(self, turn: TurnId) -> bool:
        return turn in self._order

    def add(self, turn: TurnId) -> None:
        """Put it last."""
        if not self._order:
            self._others.clear()
        self._order.setdefault(turn, asyncio.Event())
        self._call_next()

    async def wait(self, turn: TurnId | None) -> None:
        """Until it is this suspect's turn, or, for any other, until the suspects are through."""
        await (self._others if turn is None else self._order.get(turn, self._others)).wait()

    def let_others_run(self) -> None:
        """The suspects take too long."""
        self._others.set()

    def leave(self, turn: TurnId) -> None:
        """It has ended, or it will not run for now; the next one's turn."""
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
