"""What the tools of memory ask for, beside what `hob.core.ports.memory` holds."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hob.core.memory import Fact, Goal, GoalNote, GoalState, Scope
from hob.core.ports.memory import MemorySearch
from hob.core.trust.labels import Label


class KnownFacts(Protocol):
    """What is known of a person as facts."""

    async def known(self, scope: Scope) -> Sequence[Fact]:
        """What is so now, those too that are not sure. Raises StoreErrors."""

    async def correct(self, id: str, right: str, said: str, scope: Scope) -> tuple[Fact, Sequence[Fact]]:
        """Put a fact right as the owner `said`, by the beginning of its id; without what is `right` it is not so.

        Gives what was known and what is known instead. Raises NotFound, InvalidRequest, StoreErrors.
        """


class Goals(Protocol):
    """What a person wants to reach."""

    async def goals(self, scope: Scope) -> Sequence[Goal]:
        """All, the open ones first by when they are due. Raises StoreErrors."""

    async def add(self, scope: Scope, goal: Goal) -> Goal:
        """Keep it; the one that is open and says the same, where there is one. Raises StoreErrors."""

    async def change(
        self, scope: Scope, id: str, state: GoalState | None, due: float | None, note: GoalNote | None, label: Label
    ) -> Goal:
        """Another state or day, by the beginning of its id, and what shows it; what is None stays.

        Raises NotFound, StoreErrors.
        """


class MemoryPorts(NamedTuple):
    """What the tools reach of memory."""

    search: MemorySearch
    facts: KnownFacts
    goals: Goals
