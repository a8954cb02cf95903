"""Followers of the timeline, run as jobs: retries, quarantine, and effects that are committed exactly once."""

import logging
from collections.abc import Mapping
from typing import Any

from hob.app.contribution import Follower, Job, Start
from hob.app.running_app import RunningServices
from hob.bus.waiting import backoff
from hob.core.clock import Clock
from hob.core.errors import StoreError
from hob.store.store import Store
from hob.store.timeline import Followed

TRIES = 5
"""Failures at one event before the event is quarantined."""
FIRST_SECONDS, MAX_SECONDS = 1.0, 60.0

log = logging.getLogger(__name__)


class FollowerJob:
    """The job of one follower. Call `begin` before the first event it must see, then run `job`."""

    def __init__(self, follower: Follower, store: Store, clock: Clock) -> None:
        self._follower = follower
        self._store = store
        self._clock = clock
        self._place = 0
        self._behind: float | None = None
        self._failures = 0
        self.job = Job(follower.name, self._run)

    def view(self) -> Mapping[str, Any]:
        """Return the follower's name and its lag behind the timeline in seconds."""
        lag = 0.0 if self._behind is None else max(0.0, self._clock.monotonic() - self._behind)
        return {"name": self._follower.name, "lag_seconds": lag}

    async def begin(self) -> None:
        """Load the cursor, and create it for a new follower. Raises StoreErrors."""
        self._place = await self._store.followers.begin(self._follower.name, at_end=self._follower.start is Start.NOW)

    async def _run(self, _: RunningServices) -> None:
        with self._store.timeline.news(self._follower.kinds) as news:
            while True:
                news.clear()
                while await self._step():
                    pass
                self._behind = None
                ended = self._clock.monotonic()
                await news.wait()
                self._behind = self._clock.monotonic()
                await self._clock.sleep(ended + self._follower.pause - self._clock.monotonic())

    async def _step(self) -> bool:
        """Process the next batch, one event at a time after a failure. Return whether there may be more."""
        follower, maximum = self._follower, 1 if self._failures else self._follower.at_once
        found = await self._store.timeline.follow(self._place, maximum, kinds=follower.kinds)
        if found.events:
            try:
                effects = await follower.work(found.events)
                if effects is not None:
                    await self._store.followers.advance(follower.name, found.upto, effects.write)
            except StoreError:
                raise  # retried by the supervisor
            except Exception as error:  # noqa: BLE001 - isolates jobs: a bad event does not block later ones
                await self._handle_failure(found, error)
                return True
            if effects is not None:
                effects.then()
        self._failures, self._place = 0, found.upto
        return len(found.events) == maximum

    async def _handle_failure(self, found: Followed, error: Exception) -> None:
        self._failures += 1
        name, reason = self._follower.name, f"{type(error).__name__}: {error}"
        if len(found.events) > 1:
            return
        if self._failures <= TRIES:
            log.warning("the follower %s could not take an event: %s", name, reason)
            await self._clock.sleep(backoff(self._failures, FIRST_SECONDS, MAX_SECONDS))
            return
        log.exception("the follower %s quarantines an event; `hob doctor` names it", name)
        await self._store.followers.quarantine(name, [place for place, _ in found.events], found.upto, reason)
        self._failures, self._place = 0, found.upto
