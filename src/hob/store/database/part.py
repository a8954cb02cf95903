"""The base class of the store's parts: how they read and write."""

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

import apsw

from hob.core.clock import Clock
from hob.store.database.readers import Readers
from hob.store.database.writer import Writer

P = ParamSpec("P")
S = TypeVar("S", bound="StorePart")
T = TypeVar("T")


class StorePart:
    """Writes through the one writer and reads through the readers."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def _write(self, job: Callable[[apsw.Connection], T]) -> T:
        return await self._writer.write(job)

    async def _read(self, query: Callable[[apsw.Connection], T]) -> T:
        return await self._readers.read(query)


def transaction(
    method: Callable[Concatenate[S, apsw.Connection, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """A method whose body is one job of the writer: awaited, it gives its result once that is on disk."""

    async def write(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._write(lambda connection: method(self, connection, *args, **kwargs))

    update_wrapper(write, method)
    return write


def snapshot(
    method: Callable[Concatenate[S, apsw.Connection, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """A method whose body is one query of the readers, on everything that was committed before it was awaited."""

    async def read(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._read(lambda connection: method(self, connection, *args, **kwargs))

    update_wrapper(read, method)
    return read


class TimedStorePart(StorePart):
    """Notes too when something was written."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        super().__init__(writer, readers)
        self._clock = clock

    def _now(self) -> float:
        return self._clock.now().timestamp()
