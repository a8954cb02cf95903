"""Which files turns changed that had read what others wrote, until the owner has seen them named in a question."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from os.path import lexists
from pathlib import Path

from hob.core.errors import StoreFull
from hob.core.ids import TurnId
from hob.tools.filesystem.line_file import LineFile

_MOST_NAMED = 3


class StoredTaintedWrites:
    """Implements the judge's `ForeignWrites` over a file of lines; `paths` are those that a turn changed."""

    def __init__(self, path: Path, paths: Callable[[TurnId], Awaitable[Sequence[str]]]) -> None:
        self._lines = LineFile(path)
        self._paths = paths
        self._noted: set[TurnId] = set()

    async def note(self, turn: TurnId) -> None:
        if turn not in self._noted:
            await asyncio.to_thread(self._lines.append, {"turn": turn})
            self._noted.add(turn)

    async def files(self) -> Sequence[str]:
        found: dict[str, None] = {}
        with _as_store_error():
            rows = await asyncio.to_thread(self._lines.load)
            for turn in dict.fromkeys(TurnId(str(row.get("turn"))) for row in reversed(rows)):
                found.update(dict.fromkeys(each for each in await self._paths(turn) if lexists(each)))
                if len(found) > _MOST_NAMED:
                    break
        return (*tuple(found)[:_MOST_NAMED], *(("…",) if len(found) > _MOST_NAMED else ()))

    async def clear(self) -> None:
        self._noted.clear()
        with _as_store_error():
            await asyncio.to_thread(self._lines.keep, lambda _: False)


@contextmanager
def _as_store_error() -> Iterator[None]:
    """What cannot be read or kept lets nothing through."""
    try:
        yield
    except OSError as error:
        raise StoreFull(f"what earlier turns wrote cannot be looked up: {error}") from error
