"""Time limits by the system's own clock, so that tests move them by hand."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hob.core.clock import Clock


@asynccontextmanager
async def deadline(clock: Clock, seconds: float) -> AsyncIterator[None]:
    """Raises TimeoutError out of the block when this much time has passed; other cancellations pass untouched."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:

        async def expire() -> None:
            await clock.sleep(seconds)
            limit.reschedule(loop.time())

        timer = loop.create_task(expire())  # owned by this block, ends with it
        try:
            yield
        finally:
            timer.cancel()
