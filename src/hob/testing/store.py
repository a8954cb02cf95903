"""A real store that lives in a temporary directory for as long as a block."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hob.core.clock import Clock, SystemClock
from hob.store import Store, StoreSettings, open_store


@asynccontextmanager
async def memory_store(clock: Clock | None = None) -> AsyncIterator[Store]:
    """The product's own store, emptied with the block. Its file is on disk: an in-memory SQLite has no WAL, and a
    test on another storage than the product's would prove little.
    """
    with tempfile.TemporaryDirectory(prefix="hob-") as directory:
        async with open_store(Path(directory), StoreSettings(), clock or SystemClock()) as store:
            yield store
