"""Time limits by the system's own clock, so that tests move them by hand."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hob.core.clock import Clock


@asynccontextmanager
async def deadline(clock: Clock, seconds: float) -> AsyncIterator[None]:
    """Raises TimeoutError out of the block when this much time has passed; other cancellations pass untouched."""
    loop = asyncio.get_running_loop()
    error: BaseException | None = None
    try:
        async with asyncio.timeout(None) as limit, asyncio.TaskGroup() as group:

            async def expire() -> None:
                await clock.sleep(seconds)
                limit.reschedule(loop.time())

            timer = group.create_task(expire())
            try:
                yield
            finally:
                timer.cancel()
    except BaseExceptionGroup as errors:  # the block's own error, which the group has wrapped
        error = errors.exceptions[0]
    if error is not None:
        raise error
