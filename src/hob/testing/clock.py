"""A clock that tests move by hand, or that advances on its own when everything waits."""

import asyncio
import heapq
from datetime import UTC, datetime, timedelta


class ManualClock:
    """Implements `Clock`. Time stands still until `advance`.

    With `jump=True` it advances to the next sleeper whenever the event loop is idle, so that months of schedules and
    back-offs pass in milliseconds.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC), *, jump: bool = False) -> None:
        self._now = start
        self._monotonic = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0
        self._jump = jump
        self._jumper: asyncio.Handle | None = None

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._count += 1
        heapq.heappush(self._sleepers, (self._monotonic + seconds, self._count, future))
        if self._jump:
            self._schedule_jump(loop, 0)
        await future

    def set_wall(self, now: datetime) -> None:
        """Set the wall clock, as a user or NTP would; durations are unaffected."""
        self._now = now

    async def advance(self, seconds: float) -> None:
        """Advance by this many seconds, waking sleepers in order and letting them run."""
        goal = self._monotonic + seconds
        while self._sleepers and self._sleepers[0][0] <= goal:
            self._wake_next()
            await settle()
        self._move(goal)
        await settle()

    def sleepers(self) -> int:
        """Number of current sleepers."""
        return sum(not future.done() for _, _, future in self._sleepers)

    def _move(self, monotonic: float) -> None:
        self._now += timedelta(seconds=monotonic - self._monotonic)
        self._monotonic = monotonic

    def _wake_next(self) -> None:
        when, _, future = heapq.heappop(self._sleepers)
        self._move(max(when, self._monotonic))
        if not future.done():
            future.set_result(None)

    def _schedule_jump(self, loop: asyncio.AbstractEventLoop, quiet: int) -> None:
        # Real I/O (SQLite's threads, loopback sockets) needs real time, so idle means several passes in which no
        # sleeper woke.
        if self._jumper is not None and not self._jumper.cancelled():
            self._jumper.cancel()
        if quiet < 5:
            self._jumper = loop.call_later(0.002, self._schedule_jump, loop, quiet + 1)
            return
        self._jumper = None
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        if self._sleepers:
            self._wake_next()
            self._schedule_jump(loop, 0)


async def settle(passes: int = 20) -> None:
    """Let all ready tasks run; for code without threads or sockets."""
    for _ in range(passes):
        await asyncio.sleep(0)
