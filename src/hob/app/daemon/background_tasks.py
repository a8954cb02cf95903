"""Background tasks bound to a block: errors are logged, and unfinished tasks are cancelled when the block ends."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from hob.bus.waiting import unwrap_single_error

log = logging.getLogger(__name__)

BackgroundTasks = Callable[[Coroutine[Any, Any, None]], None]


@asynccontextmanager
async def open_background_tasks() -> AsyncIterator[BackgroundTasks]:
    """Yield a function that runs coroutines in the background until the block ends."""
    tasks: set[asyncio.Task[None]] = set()
    with unwrap_single_error():  # the block's own: the tasks never raise
        async with asyncio.TaskGroup() as group:

            def start(work: Coroutine[Any, Any, None]) -> None:
                task = group.create_task(_run_logged(work))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

            yield start
            for task in tasks:
                task.cancel()


async def _run_logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:  # a failed task affects no other; its turn has already ended well
        log.exception("work after a turn failed")
