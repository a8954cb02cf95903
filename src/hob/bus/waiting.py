"""Waiting with a time limit on the clock that was passed in, and growing pauses between tries (`backoff`)."""

import asyncio
import random
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from hob.core.clock import Clock

T = TypeVar("T")


async def wait_for_event(event: asyncio.Event, clock: Clock, seconds: float | None) -> bool:
    """Wait until the event is set, or for that long (None: for ever). Whether the event is set."""
    if event.is_set():
        return True
    if seconds is None:
        return await event.wait()
    async with asyncio.TaskGroup() as group:
        tasks = (group.create_task(event.wait()), group.create_task(clock.sleep(seconds)))
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
    return event.is_set()


async def within(clock: Clock, seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """The work's result. Raises TimeoutError, and cancels the work, when it takes longer than that."""
    try:
        async with asyncio.TaskGroup() as group:
            working = group.create_task(work)
            alarm = group.create_task(clock.sleep(seconds))
            await asyncio.wait((working, alarm), return_when=asyncio.FIRST_COMPLETED)
            late = not working.done()
            working.cancel()
            alarm.cancel()
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    if late:
        raise TimeoutError(f"no end within {seconds:g} s")
    return working.result()


def backoff(failures: int, first: float, maximum: float) -> float:
    """Seconds to wait after so many failures in a row: doubling, at most `most`, spread by a quarter each way."""
    pause: float = min(maximum, first * 2 ** min(failures - 1, 30))
    return pause * random.uniform(0.75, 1.25)


@contextmanager
def one_failure_as_itself() -> Iterator[None]:
    """A group of one failure is raised as that failure: who opened the block need not know that there are tasks."""
    try:
        yield
    except BaseExceptionGroup as failed:
        if len(failed.exceptions) == 1:
            raise failed.exceptions[0] from None
        raise
