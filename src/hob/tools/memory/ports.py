"""What the tools of memory ask for, beside what `hob.core.ports.memory` holds."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hob.core.memory import Fact, Scope
from hob.core.ports.memory import MemorySearch


class KnownFacts(Protocol):
    """What is known of a person as facts."""

    async def known(self, scope: Scope) -> Sequence[Fact]:
        """What is so now, those too that are not sure. Raises StoreErrors."""
        ...

    async def correct(self, id: str, right: str, said: str, scope: Scope) -> tuple[Fact, Sequence[Fact]]:
        """Put a fact right as the owner `said`, by the beginning of its id; without what is `right` it is not so.

        Gives what was known and what is known instead. Raises NotFound, InvalidRequest, StoreErrors.
        """
        ...


class MemoryPorts(NamedTuple):
    """What the tools reach of memory."""

    search: MemorySearch
    facts: KnownFacts
