"""Files changed by tainted turns, until the owner has seen their names in a question."""

from collections.abc import Awaitable, Callable, Sequence
from os.path import lexists

from hob.core.ids import TurnId
from hob.store.tools.tainted_writes import StoredTaintedWrites

_MAX_NAMED = 3


class TaintedFiles:
    """Implements the judge's `ForeignWrites`; `paths` returns the files that a turn changed."""

    def __init__(self, writes: StoredTaintedWrites, paths: Callable[[TurnId], Awaitable[Sequence[str]]]) -> None:
        self._writes = writes
        self._paths = paths
        self.note = writes.note
        self.clear = writes.clear

    async def files(self) -> Sequence[str]:
        found: dict[str, None] = {}
        async for turn in self._writes.turns():
            found.update(dict.fromkeys(each for each in await self._paths(turn) if lexists(each)))
            if len(found) > _MAX_NAMED:
                return (*tuple(found)[:_MAX_NAMED], "…")
        return tuple(found)
