"""Selection of the owner's items, shared by the parts of the API."""

import math
from collections.abc import Mapping, Sequence

from hob.app.memory.control.embedding import OwnerEmbedding
from hob.app.memory.parts import MemoryParts
from hob.core.errors import InvalidRequest, NotFound
from hob.core.memory import OWNER, MemoryItem, MemoryItemAnswer, MemoryLayer, Recalled, Scope
from hob.core.translation.language import translatable
from hob.gateway.memory import MemoryQuery
from hob.memory.background_model import FACTS, OBSERVER
from hob.memory.views import item_view, layers_of, no_layer
from hob.store.memory.items import STOOD
from hob.store.memory.lifecycle import LayerCount
from hob.store.memory.work import OWNERS_WORDS

_WORKS = {"facts": FACTS, "observations": OBSERVER}
"""Background work that items may wait for, by its public name."""
_MAX_SEQ = 2**62


class OwnerSelection:
    """Finds the owner's items by id, by words or by their properties."""

    def __init__(self, parts: MemoryParts, embedding: OwnerEmbedding) -> None:
        self.scope = Scope(OWNER)
        self._store, self._service = parts.kernel.store, parts.service
        self._embedding = embedding
        self._plugin_layers = parts.kernel.layers

    def view(self, found: Recalled, *, whole: bool = False) -> MemoryItemAnswer:
        """Return a result as JSON, with `whole` every field."""
        return item_view(found, self._plugin_layers, whole=whole)

    async def count_layers(self) -> tuple[Mapping[str, LayerCount], Mapping[str, MemoryLayer]]:
        """Return what each layer holds, and all layers by name. Raises StoreErrors."""
        counts = {each.layer: each for each in await self._store.memory_lifecycle.count(self.scope)}
        return counts, layers_of(self._service.settings, self._plugin_layers, counts)

    async def check_layer(self, name: str, *others: str) -> str:
        """Return the name of an existing layer. Raises InvalidRequest, which lists the layers and other names."""
        _, layers = await self.count_layers()
        if name in layers:
            return name
        raise InvalidRequest(no_layer(name, (*layers, *others)))

    async def get(self, id: str) -> MemoryItem:
        """Return the item whose id starts so. Raises NotFound."""
        item = await self._service.find(id, self.scope)
        if item is None:
            raise NotFound(
                translatable("no single item in memory has an id beginning with {id}; give 6 characters or more", id=id)
            )
        return item

    async def select(self, criteria: MemoryQuery, *, standing: bool = False) -> Sequence[Recalled]:
        """Return the items that match the filter; `standing` leaves out withdrawn and replaced ones. Raises
        InvalidRequest.
        """
        layers = (await self.check_layer(criteria.layer),) if criteria.layer else ()
        if criteria.query:
            as_of = criteria.as_of or math.inf
            found = await self._service.search(criteria.query, self.scope, criteria.limit, layers, as_of=as_of)
            return [each for each in found if _holds(criteria, each.item)]
        where, values = await self._condition(criteria, standing=standing)
        items = await self._store.items.of(self.scope).select(where, values, limit=criteria.limit)
        return [Recalled(item, 0.0) for item in items]

    async def count(self, criteria: MemoryQuery) -> int:
        """Count the items that match the filter, whatever its limit. Raises InvalidRequest."""
        return await self._store.items.of(self.scope).count(*await self._condition(criteria))

    async def _condition(self, criteria: MemoryQuery, *, standing: bool = False) -> tuple[str, Sequence[object]]:
        """Return the filter as SQL over `i`, and its values."""
        tests = {
            "i.layer = ?": criteria.layer,
            "(i.source = ? OR substr(i.source, 1, length(?) + 1) IN (? || ':', ? || '/'))": criteria.source,
            "i.origin = ?": criteria.origin,
            "i.at >= ?": criteria.since,
            STOOD: criteria.as_of,
            "(i.at, i.seq) < (SELECT at, seq FROM memory_items WHERE id = ?)": criteria.before,
        }
        chosen: list[tuple[str, object]] = [(test, value) for test, value in tests.items() if value]
        if standing and not criteria.as_of:
            chosen.append(("i.superseded_by = ?", ""))
        if criteria.waiting:
            chosen.append(await self._waiting(criteria.waiting))
        where = " AND ".join(test for test, _ in chosen) or "1"
        return where, [value for test, value in chosen for _ in range(test.count("?"))]

    async def _waiting(self, name: str) -> tuple[str, int]:
        """Return the condition for items that wait for this work, and its progress. Raises InvalidRequest."""
        if name == "vectors":
            return "i.seq > ?", _MAX_SEQ if (place := await self._embedding.place()) is None else place
        if name not in _WORKS:
            told = translatable("{name} is none of {names}", name=name, names=", ".join(("vectors", *_WORKS)))
            raise InvalidRequest(told)
        return f"i.seq > ? AND {OWNERS_WORDS}", await self._store.memory_work.place(_WORKS[name])


def _holds(criteria: MemoryQuery, item: MemoryItem) -> bool:
    return (
        (
            not criteria.source
            or item.source == criteria.source
            or item.source.startswith((f"{criteria.source}:", f"{criteria.source}/"))
        )
        and (not criteria.origin or item.label.origin == criteria.origin)
        and item.at >= criteria.since
    )
