"""Layers of plug-ins. Their items carry the layer's prefix and expire after the layer's time."""

from collections.abc import Sequence
from dataclasses import replace

import apsw

from hob.core.clock import Clock
from hob.core.memory import OWNER, Memory, MemoryItem, MemoryLayer, Scope
from hob.store.followers import Effect
from hob.store.memory.items import StoredItems, add_items

_DAY = 86_400.0


class KeptLayer:
    """The owner's items of a plug-in's layer, which are searched, forgotten and backed up like all others.

    A memory without a time counts as new.
    """

    def __init__(self, items: StoredItems, clock: Clock, layer: MemoryLayer) -> None:
        self._items = items
        self._clock = clock
        self._layer = layer

    async def keep(self, source: str, memories: Sequence[Memory]) -> int:
        """Add memories, each once; return the number of new ones. Raises StoreErrors."""
        return len(await self._items.add(self._made(source, memories)))

    def keeping(self, source: str, memories: Sequence[Memory]) -> Effect:
        """Return the same operation as an effect of a follower, for its transaction."""
        made = self._made(source, memories)

        def write(connection: apsw.Connection) -> None:
            add_items(connection, made)

        return write

    async def replace(self, source: str, memories: Sequence[Memory]) -> int:
        """Replace the memories of a source; return the number of new ones. Raises StoreErrors."""
        return await self._items.replace_source(Scope(OWNER), self._named(source), self._made(source, memories))

    def _named(self, source: str) -> str:
        return f"{self._layer.name}:{source}"

    def _made(self, source: str, memories: Sequence[Memory]) -> list[MemoryItem]:
        now = self._clock.now().timestamp()
        made = [
            MemoryItem(
                scope=Scope(OWNER), layer=self._layer.name, source=self._named(source), text=each.text,
                label=each.label, at=each.at or now,
            )
            for each in memories
        ]  # fmt: skip
        days = self._layer.days
        return [replace(each, expires_at=each.at + days * _DAY) for each in made] if days else made
