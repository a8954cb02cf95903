"""The base class of the store's parts: how they read and write."""

from hob.core.clock import Clock
from hob.store.database.readers import Readers
from hob.store.database.writer import Writer


class StorePart:
    """Writes through the one writer and reads through the readers."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers


class TimedStorePart(StorePart):
    """Notes too when something was written."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        super().__init__(writer, readers)
        self._clock = clock

    def _now(self) -> float:
        return self._clock.now().timestamp()
