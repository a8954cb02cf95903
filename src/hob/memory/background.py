"""Work on memory in the background: it sleeps until something was said, and waits where nothing may be spent."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from hob.core.clock import Clock
from hob.memory.background_model import BackgroundBudget, BackgroundModel, WorkPaused

FIRST_SECONDS, MAX_SECONDS = 60.0, 3_600.0
"""Until it is tried again after a failure; a new day is looked for every hour."""

log = logging.getLogger(__name__)
Step: TypeAlias = Callable[[BackgroundModel], Awaitable[float | None]]
"""Does some work: 0 when there may be more, seconds until there will be, None until something is said."""
Wait: TypeAlias = Callable[[asyncio.Event, Clock, float | None], Awaitable[object]]
"""Waits until the event is set, or for so many seconds."""
Backoff: TypeAlias = Callable[[int, float, float], float]
"""The pause after so many failures, between a first and a longest one."""


class BackgroundMemory:
    """Runs the steps, each as long as it has something to do."""

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
        """Something was taken up."""
        self._said.set()

    def view(self) -> Mapping[str, Any]:
        """Why the work waits; as `hob status` tells it."""
        waits = self._budget.waits
        return {"waits_for": waits.reason, "why": waits.why} if waits else {}

    async def run(self, model: BackgroundModel) -> None:
        """Work for ever. Raises StoreErrors."""
        while True:
            self._said.clear()
            pauses, failed = [], False
            for step in self._steps:
                try:
                    pauses.append(await _work(step, model))
                except WorkPaused as waits:  # the others may have something that can be done
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
