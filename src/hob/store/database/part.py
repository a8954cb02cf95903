"""The base class of the store's parts."""

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

import apsw

from hob.core.clock import Clock
from hob.core.values import dataclass
from hob.store.database.readers import Readers
from hob.store.database.rows import Row, Values, all_rows, find_row
from hob.store.database.writer import Writer

P = ParamSpec("P")
S = TypeVar("S", bound="StorePart")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DatabaseAccess:
    """Database access of the store's parts; the clock provides the time of writes."""

    writer: Writer
    readers: Readers
    clock: Clock


class StorePart:
    """A part of the store: writes through the one writer, reads through the readers."""

    def __init__(self, access: DatabaseAccess) -> None:
        self._writer = access.writer
        self._readers = access.readers
        self._clock = access.clock

    def _now(self) -> float:
        return self._clock.now().timestamp()

    async def _write(self, job: Callable[[apsw.Connection], T]) -> T:
        return await self._writer.write(job)

    async def _execute(self, sql: str, values: Values = ()) -> None:
        await self._write(lambda connection: all_rows(connection, sql, values))

    async def _rows(self, sql: str, values: Values = ()) -> list[Row]:
        return await self._readers.read(lambda connection: all_rows(connection, sql, values))

    async def _find(self, load: Callable[[Row], T], sql: str, values: Values = ()) -> T | None:
        row = await self._row(sql, values)
        return None if row is None else load(row)

    async def _time(self, sql: str, values: Values = ()) -> float | None:
        """Return the Unix seconds in the first column of the first row, or None."""
        row = await self._row(sql, values)
        return None if row is None or row[0] is None else float(row[0])

    async def _row(self, sql: str, values: Values = ()) -> Row | None:
        return await self._readers.read(lambda connection: find_row(connection, sql, values))


def transaction(
    method: Callable[Concatenate[S, apsw.Connection, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Turn the method's body into a writer job; awaiting it returns the result once it is on disk."""

    async def write(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._write(lambda connection: method(self, connection, *args, **kwargs))

    return update_wrapper(write, method)


def snapshot(
    method: Callable[Concatenate[S, apsw.Connection, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Turn the method's body into a reader query on everything committed before it was awaited."""

    async def read(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._readers.read(lambda connection: method(self, connection, *args, **kwargs))

    return update_wrapper(read, method)
