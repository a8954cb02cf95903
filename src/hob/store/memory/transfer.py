"""Export and import of items with their facts and goals."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import apsw

from hob.core.memory import Fact, Goal, MemoryItem, Scope
from hob.store.database.part import DatabaseAccess, StorePart
from hob.store.database.rows import find_row
from hob.store.memory.facts import StoredFacts, put_fact, tombstone_of_fact
from hob.store.memory.goals import StoredGoals, put_goal
from hob.store.memory.items import StoredItems, add_items
from hob.store.memory.tombstones import tombstone_of_item

_FORGOTTEN = "SELECT 1 FROM tombstones WHERE content = -1 AND hash = ? AND at >= ?"


class TransferredItem(NamedTuple):
    """An item with the fact or goal it holds."""

    item: MemoryItem
    fact: Fact | None = None
    goal: Goal | None = None


class MemoryTransfer(StorePart):
    """Exports and imports memory."""

    def __init__(self, access: DatabaseAccess, items: StoredItems, facts: StoredFacts, goals: StoredGoals) -> None:
        super().__init__(access)
        self._items = items
        self._facts = facts
        self._goals = goals

    async def carried(self, scope: Scope) -> Sequence[TransferredItem]:
        """Return all items, oldest first, in an order that an import preserves. Raises StoreErrors."""
        facts = {fact.id: fact for fact in await self._facts.recorded(scope)}
        goals = {goal.id: goal for goal in await self._goals.goals(scope)}
        items = sorted(await self._items.of(scope).select(), key=lambda item: (item.at, item.id))
        return [TransferredItem(item, facts.get(item.id), goals.get(item.id)) for item in items]

    async def import_items(self, carried: Sequence[TransferredItem]) -> int:
        """Store the items that are new and were not forgotten, in one transaction; return their number. Raises
        StoreErrors.
        """
        return await self._writer.write(lambda connection: sum(_take_in(connection, each) for each in carried))


def _take_in(connection: apsw.Connection, carried: TransferredItem) -> int:
    item, fact, goal = carried
    # regardless of the id it claims
    if find_row(connection, _FORGOTTEN, (tombstone_of_item(replace(item, id="").id), item.at)):
        return 0
    tombstone = tombstone_of_fact(item.scope, fact) if fact is not None else None
    added = add_items(connection, [item], tombstone)
    for each in added:
        if fact is not None:
            put_fact(connection, each, fact)
        if goal is not None:
            put_goal(connection, each, goal)
    return len(added)
