"""Counting of turns."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import apsw

from hob.core.events.timeline import EventKind, TimelineEvent
from hob.plugin.opened import Contribution, Effects, Follower, Kernel, PluginRecord

_DAYS = 30


@asynccontextmanager
async def open_tally(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Open the counts of the last 30 days, one record per event: an event erased with its turn no longer counts."""
    counts = Counter(record.value for record in await kernel.records.list(limit=100_000))

    async def count(events: Sequence[tuple[int, TimelineEvent]]) -> Effects:
        found = [
            PluginRecord(
                f"{place:012}",
                event.classification,
                turn=event.turn,
                session=event.session,
                expires=kernel.clock.now().timestamp() + _DAYS * 86_400,
            )
            for place, event in events
        ]

        def write(connection: apsw.Connection) -> None:
            for record in found:
                kernel.records.putting(record)(connection)

        return Effects(write, lambda: counts.update(record.value for record in found))

    follower = Follower("turns", count, kinds=(EventKind.TURN,))
    yield Contribution(followers=(follower,), status=lambda: dict(counts))
