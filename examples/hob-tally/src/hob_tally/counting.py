"""Counting."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from hob.core.events.timeline import EventKind, TimelineEvent
from hob.plugin.opened import Contribution, Effects, Follower, Kernel


@asynccontextmanager
async def open_tally(kernel: Kernel) -> AsyncIterator[Contribution]:
    """The counts of this run."""
    counts: Counter[str] = Counter()

    async def count(events: Sequence[tuple[int, TimelineEvent]]) -> Effects:
        found = Counter(event.classification for _, event in events)
        return Effects(then=lambda: counts.update(found))

    follower = Follower("turns", count, kinds=(EventKind.TURN,))
    yield Contribution(followers=(follower,), status=lambda: dict(counts))
