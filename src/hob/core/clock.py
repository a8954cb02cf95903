"""Time as a parameter: all other code gets the time from a `Clock`."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
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


@asynccontextmanager
async def ended_by(alarm: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Raise TimeoutError from the block when the alarm returns; other errors and cancellations pass through."""
    import asyncio  # see `SystemClock.sleep`

    loop = asyncio.get_running_loop()
    error: BaseException | None = None
    try:
        async with asyncio.timeout(None) as limit, asyncio.TaskGroup() as group:

            async def watch() -> None:
                await alarm()
                limit.reschedule(loop.time())

            watching = group.create_task(watch())
            try:
                yield
            finally:
                watching.cancel()
    except BaseExceptionGroup as errors:  # the block's own error, wrapped by the group
        error = errors.exceptions[0]
    if error is not None:
        raise error


def deadline(clock: Clock, seconds: float) -> AbstractAsyncContextManager[None]:
    """Raise TimeoutError from the block after this many seconds of the clock."""
    return ended_by(lambda: clock.sleep(seconds))


def utc_day(at: float) -> str:
    """Return the UTC day of a Unix time, e.g. 2026-11-22."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
