"""After an unclean end the turns that were running then run one at a time, so that the guilty one is found."""

import asyncio
from collections.abc import Iterable

from hob.core.ids import TurnId


class CrashQuarantine:
    """The order in which suspects may run. Everybody else is not held up."""

    def __init__(self, turns: Iterable[TurnId] = ()) -> None:
        self._order: dict[TurnId, asyncio.Event] = {}
        for turn in turns:
            self.add(turn)

    def __contains__(self, turn: TurnId) -> bool:
        return turn in self._order

    def add(self, turn: TurnId) -> None:
        """Put it last."""
        self._order.setdefault(turn, asyncio.Event())
        self._call_next()

    async def wait(self, turn: TurnId) -> None:
        """Until it is this one's turn; at once for those that are no suspects."""
        if turn in self._order:
            await self._order[turn].wait()

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
