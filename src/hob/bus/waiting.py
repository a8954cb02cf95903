"""Waiting with a time limit on the injected clock, and back-off between attempts."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from hob.bus.settings import BusSettings
from hob.core.clock import Clock
from hob.core.errors import StoreError

T = TypeVar("T")


async def wait_for_event(event: asyncio.Event, clock: Clock, seconds: float | None) -> bool:
    """Wait until the event is set, at most this many seconds (None: forever); return whether it is set."""
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
    """Return the work's result. Cancels it and raises TimeoutError if it takes longer."""
    with unwrap_single_error():
        async with asyncio.TaskGroup() as group:
            working = group.create_task(work)
            alarm = group.create_task(clock.sleep(seconds))
            await asyncio.wait((working, alarm), return_when=asyncio.FIRST_COMPLETED)
            late = not working.done()
            working.cancel()
            alarm.cancel()
    if late:
        raise TimeoutError(f"no end within {seconds:g} s")
    return working.result()


def backoff(failures: int, first: float, maximum: float) -> float:
    """Return the seconds to wait after this many consecutive failures: doubling up to `maximum`, with 25 % jitter."""
    pause: float = min(maximum, first * 2 ** min(failures - 1, 30))
    return pause * random.uniform(0.75, 1.25)


def failure_pause(settings: BusSettings, failures: int) -> float:
    """Return the seconds to wait after this many consecutive failures of the store or of a turn."""
    return backoff(failures, settings.failure_seconds, settings.failure_most_seconds)


async def retry(work: Callable[[], Awaitable[T]], wait: Callable[[int, StoreError], Awaitable[None]]) -> T:
    """Return the result of `work`, retrying while the store is unavailable. `wait` is given the number of failures."""
    failures = 0
    while True:
        try:
            return await work()
        except StoreError as error:
            failures += 1
            await wait(failures, error)


@contextmanager
def unwrap_single_error() -> Iterator[None]:
    """Raise the only exception of a group as itself, so that callers need not know about the task group."""
    try:
        yield
    except BaseExceptionGroup as failed:
        if len(failed.exceptions) == 1:
            raise failed.exceptions[0] from None
        raise
