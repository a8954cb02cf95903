"""Time as a parameter: no one else asks the system what time it is."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time for people, monotonic time for durations, and waiting."""

    def now(self) -> datetime:
        """The wall time, aware, in UTC. It may jump; never subtract two of these to get a duration."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        import asyncio  # loaded already wherever this runs; the vocabulary must not cost its 45 ms

        await asyncio.sleep(max(0.0, seconds))


def utc_day(at: float) -> str:
    """The day of a time in Unix seconds, as 2026-11-22."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
