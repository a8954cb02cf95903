"""Memory, for its owner: the port behind the routes."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from hob.core.memory import FactAction


class ItemFilter(NamedTuple):
    """Which items: by words, or by what they are. `since` is in Unix seconds."""

    query: str = ""
    id: str = ""
    layer: str = ""
    source: str = ""
    origin: str = ""
    since: float = 0.0
    limit: int = 20


class FactFilter(NamedTuple):
    """Which facts: as Hob knew them at a time, of what was so at a time (Unix seconds; 0: now). `past`: also what was
    so once."""

    known_at: float = 0.0
    valid_at: float = 0.0
    past: bool = False


class GoalChange(NamedTuple):
    """A new goal, or with an id what is changed of one; `due` in Unix seconds, `note` is what shows it."""

    text: str = ""
    id: str = ""
    state: str = ""
    due: float | None = None
    note: str = ""


class MemoryControl(Protocol):
    """Looks at memory and changes it."""

    async def status(self) -> Mapping[str, Any]:
        """The layers and totals, with the seed's fields and colours."""

    async def embedding(self) -> Mapping[str, Any]:
        """How meaning is looked at, with the seed's fields."""

    async def check_embedding(self) -> Mapping[str, Any]:
        """The same, after the embedder was asked for once where it never was."""

    async def reindex(self, reason: str) -> Mapping[str, Any]:
        """Drop all vectors; they are made anew in the background. Raises InvalidRequest without an embedder."""

    async def items(self, wanted: ItemFilter) -> Mapping[str, Any]:
        """The items for which the filter holds: with a query the best first, else the newest."""

    async def recalled(self, turn: str = "", session: str = "") -> Mapping[str, Any]:
        """What this turn was shown by itself, or the newest turn (of a session) that was shown any. Raises NotFound."""

    async def item(self, id: str) -> Mapping[str, Any]:
        """One item, whole. Raises NotFound."""

    async def add(self, text: str, source: str = "") -> Mapping[str, Any]:
        """Remember what the owner says. Raises InvalidRequest."""

    async def add_files(self, path: str) -> Mapping[str, Any]:
        """Remember a file, or a folder of them, by their sections, now and when they change. Raises NotFound."""

    async def facts(self, wanted: FactFilter) -> Mapping[str, Any]:
        """The facts for which the filter holds, with what they were taken from."""

    async def settle(self, id: str, action: FactAction, right: str = "") -> Mapping[str, Any]:
        """Change a fact, by the beginning of its id; `right` is what is so instead. Raises NotFound."""

    async def goals(self, *, closed: bool) -> Mapping[str, Any]:
        """What the owner wants to reach, with what came of it; `closed`: what is done or dropped too."""

    async def set_goal(self, wanted: GoalChange) -> Mapping[str, Any]:
        """Keep a goal, or change one. Raises InvalidRequest, NotFound."""

    async def forget(self, wanted: ItemFilter, *, preview: bool, said: bool = False) -> Mapping[str, Any]:
        """Forget for ever what the filter finds, or tell what that is. Raises InvalidRequest, NotFound."""

    async def prune(self) -> Mapping[str, Any]:
        """Let go of what has expired and of what is too much."""

    async def reset(self, layer: str) -> Mapping[str, Any]:
        """Empty a layer, the working notes (`working_memory`), or `all`. Raises InvalidRequest."""

    def export(self) -> AsyncIterator[str]:
        """Every item as a line of JSON, the oldest first."""

    async def take_in(self, lines: Iterable[str]) -> Mapping[str, Any]:
        """Keep items that were carried out, each once. Raises InvalidRequest for what is none."""
