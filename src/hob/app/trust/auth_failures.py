"""The audit of failed API logins: missing and wrong tokens."""

import asyncio
import logging
from collections import Counter

from hob.core.clock import Clock
from hob.core.errors import StoreError
from hob.core.events.timeline import change_of
from hob.guard.audit.entries import of_authentication
from hob.store.audit.audit import AuditEntry, AuditLog
from hob.store.timeline import Timeline

_PAUSE = 60.0
_MAX_PLACES = 50

log = logging.getLogger(__name__)


class AuthFailureLog:
    """Counts failures by place when called. The first is written at once, further ones once a minute per place."""

    def __init__(self, audit: AuditLog, timeline: Timeline, clock: Clock) -> None:
        self._audit = audit
        self._timeline = timeline
        self._clock = clock
        self._counts: Counter[str] = Counter()
        self._came = asyncio.Event()

    def __call__(self, who: str) -> None:
        known = who in self._counts or len(self._counts) < _MAX_PLACES
        self._counts[who if known else "others"] += 1
        self._came.set()

    async def run(self) -> None:
        """Write the failures until cancelled, and the remaining ones at the end."""
        try:
            while True:
                await self._came.wait()
                await self._write()
                await self._clock.sleep(_PAUSE)
        finally:
            await self._write()

    async def _write(self) -> None:
        self._came.clear()
        counts, self._counts = self._counts, Counter()
        try:
            if counts:
                await self._audit.add(*(_entry(who, times) for who, times in counts.items()))
                counts.clear()
                await self._timeline.add(
                    (change_of("audit", self._clock.now().timestamp()),)
                )  # an open page shows them
        except StoreError as error:
            self._counts.update(counts)
            log.warning(
                "%d attempts to come in without the token are not in the audit log yet: %s", counts.total(), error
            )


def _entry(who: str, times: int) -> AuditEntry:
    return of_authentication(
        "api", "wrong" if times == 1 else "too_often", who if times == 1 else f"{who}, {times} times"
    )
