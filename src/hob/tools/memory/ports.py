"""Ports of the memory tools, beside those in `hob.core.ports.memory`."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from hob.core.memory import Fact, Goal, GoalNote, GoalState, MemoryItem, Recalled, Scope
from hob.core.ports.memory import Recall
from hob.core.trust.labels import Label
from hob.core.turns import Turn


class MemorySearch(Recall, Protocol):
    """Searches all of a person's memory for tools."""

    async def search(self, query: str, scope: Scope, limit: int, layers: Collection[str] = ()) -> Sequence[Recalled]:
        """Return what matches the query in this scope and these layers (or all), best first. Raises StoreErrors."""

    async def around(self, id: str, scope: Scope) -> Sequence[MemoryItem]:
        """Return the item with this id prefix and what was said around it, in order. Raises StoreErrors."""

    async def sections(self, name: str, scope: Scope) -> Sequence[MemoryItem]:
        """Return the sections of a document, in order. Raises StoreErrors."""

    @property
    def problem(self) -> str:
        """Why the last search compared words only; empty if it did not have to."""

    def cites(self, turn: Turn) -> bool:
        """Whether results name where they come from, in this turn. Untrusted ones always do."""


class KnownFacts(Protocol):
    """Facts known about a person."""

    async def known(self, scope: Scope) -> Sequence[Fact]:
        """Return the current facts, including uncertain ones. Raises StoreErrors."""

    async def correct(self, id: str, right: str, said: str, scope: Scope) -> tuple[Fact, Sequence[Fact]]:
        """Correct a fact, found by an id prefix, in the owner's words `said`. Without `right` it is withdrawn.

        Returns the old fact and the new one. Raises NotFound, InvalidRequest, StoreErrors.
        """


class Goals(Protocol):
    """A person's goals."""

    async def goals(self, scope: Scope) -> Sequence[Goal]:
        """Return all goals, open ones first by due date. Raises StoreErrors."""

    async def add(self, scope: Scope, goal: Goal) -> Goal:
        """Add a goal, or return the open one that says the same."""

    async def change(
        self, scope: Scope, id: str, state: GoalState | None, due: float | None, note: GoalNote | None, label: Label
    ) -> Goal:
        """Change a goal, found by an id prefix, and add evidence. None leaves a field unchanged.

        Raises NotFound, StoreErrors.
        """


class MemoryPorts(NamedTuple):
    """All ports of the memory tools."""

    search: MemorySearch
    facts: KnownFacts
    goals: Goals
