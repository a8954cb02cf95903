"""Background tasks of a block: they have an owner, their errors are caught, and they end with the block."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

log = logging.getLogger(__name__)

BackgroundTasks = Callable[[Coroutine[Any, Any, None]], None]


@asynccontextmanager
async def open_background_tasks() -> AsyncIterator[BackgroundTasks]:
    """Something that takes such work while the block is open; what has not ended then is given up."""
    tasks: set[asyncio.Task[None]] = set()
    try:
        async with asyncio.TaskGroup() as group:

            def take(work: Coroutine[Any, Any, None]) -> None:
                task = group.create_task(_walled(work))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

            yield take
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as failed:
        # the tasks never raise: what broke the block is the block's own error, to be seen as it is
        raise failed.exceptions[0] from None


async def _walled(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:  # the wall around a job: what it was done for has ended well already
        log.exception("work after a turn failed")
