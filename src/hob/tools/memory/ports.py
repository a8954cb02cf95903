"""Ports of the memory tools, beside those in `hob.core.ports.memory`."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hob.core.memory import Fact, Goal, GoalNote, GoalState, Scope
from hob.core.ports.memory import MemorySearch
from hob.core.trust.labels import Label


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
