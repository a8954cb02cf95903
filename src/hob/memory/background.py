"""Background work on memory. Sleeps until new messages arrive and pauses while nothing may be spent."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from hob.core.clock import Clock
from hob.memory.background_model import BackgroundBudget, BackgroundModel, WorkPaused

FIRST_SECONDS, MAX_SECONDS = 60.0, 3_600.0
"""First and longest pause before a retry. The start of a new day is checked for hourly."""

log = logging.getLogger(__name__)
Step: TypeAlias = Callable[[BackgroundModel], Awaitable[float | None]]
"""One pass of work. Returns 0 if there may be more, the seconds until there will be more, or None to wait for new
messages.
"""
Wait: TypeAlias = Callable[[asyncio.Event, Clock, float | None], Awaitable[object]]
"""Waits until the event is set or the given seconds have passed."""
Backoff: TypeAlias = Callable[[int, float, float], float]
"""Returns the pause after a number of failures, given the first and the longest pause."""


class BackgroundMemory:
    """Runs each step for as long as it has work."""

    def __init__(
        self, steps: Sequence[Step], budget: BackgroundBudget, clock: Clock, wait: Wait, backoff: Backoff
    ) -> None:
        self._wait = wait
        self._backoff = backoff
        self._steps = steps
        self._budget = budget
        self._clock = clock
        self._failures = 0
        self._said = asyncio.Event()
        self._said.set()

    def notify(self) -> None:
        """Signal that new items were stored."""
        self._said.set()

    def view(self) -> Mapping[str, Any]:
        """Return why work is paused, in the form shown by `hob status`."""
        waits = self._budget.waits
        return {"waits_for": waits.reason, "why": waits.why} if waits else {}

    async def run(self, model: BackgroundModel) -> None:
        """Work until cancelled. Raises StoreErrors."""
        while True:
            self._said.clear()
            pauses, failed = [], False
            for step in self._steps:
                try:
                    pauses.append(await _work(step, model))
                except WorkPaused as waits:  # the other steps may still have work that is allowed
                    failed = True
                    self._budget.waits = waits
                    log.info("work on memory waits: %s", waits.why)
            self._failures = self._failures + 1 if failed else 0
            if failed:
                await self._clock.sleep(self._backoff(self._failures, FIRST_SECONDS, MAX_SECONDS))
                continue
            self._budget.waits = None
            await self._wait(self._said, self._clock, min((each for each in pauses if each is not None), default=None))


async def _work(step: Step, model: BackgroundModel) -> float | None:
    while (pause := await step(model)) == 0:
        continue
    return pause
