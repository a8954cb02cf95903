"""A real store with its files in memory, if the machine has a memory file system."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hob.core.clock import Clock, SystemClock
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store

_MEMORY = Path("/dev/shm")  # noqa: S108 - a new directory of our own is made in it


@asynccontextmanager
async def memory_store(clock: Clock | None = None) -> AsyncIterator[Store]:
    """Yield an empty store that is deleted when the block ends."""
    place = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="hob-", dir=place) as home:
        async with open_store(Path(home), StoreSettings(), clock or SystemClock()) as store:
            yield store
