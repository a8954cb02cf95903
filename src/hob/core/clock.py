"""Time as a parameter: all other code gets the time from a `Clock`."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Source of wall time, monotonic time and delays."""

    def now(self) -> datetime:
        """Return the wall time, timezone-aware, in UTC. It may jump: never compute a duration from it."""

    def monotonic(self) -> float:
        """Return seconds since an arbitrary start; never decreases."""

    async def sleep(self, seconds: float) -> None:
        """Wait for this many seconds."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        import asyncio  # imported late: it costs 45 ms, and a process that sleeps has loaded it already

        await asyncio.sleep(max(0.0, seconds))


def utc_day(at: float) -> str:
    """Return the UTC day of a Unix time, e.g. 2026-11-22."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
