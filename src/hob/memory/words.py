"""A plain retriever: those that share words with the query, rare words counting more; of equals the newest first."""

import math
import re
from collections.abc import Collection, Sequence

from hob.core.memory import Layer, Recalled, Scope
from hob.store.database.rows import marks
from hob.store.memory.items import StoredItems

_WORD = re.compile(r"\w{2,}")
_STEM = 5  # letters by which longer words are taken for the same: plurals and cases end differently
_MOST = 5_000


class WordRetriever:
    """Implements `Retriever` by reading the newest items."""

    def __init__(self, items: StoredItems) -> None:
        self._items = items

    async def search(
        self, query: str, *, scope: Scope, layers: Collection[Layer] = (), now: float, limit: int = 8, budget: int = 0
    ) -> Sequence[Recalled]:
        where = f"i.layer IN ({marks(layers)})" if layers else "1"
        kept = await self._items.of(scope).select(f"{where} AND i.superseded_by = ''", tuple(layers), limit=_MOST)
        wanted, words = _words(query), [_words(item.text) for item in kept]
        weights = {word: math.log(1 + len(kept) / (1 + sum(word in each for each in words))) for word in wanted}
        whole = sum(weights.values()) or 1.0
        scores = [sum(weights[word] for word in wanted & each) / whole for each in words]
        found = zip(scores, kept, strict=True)
        best = sorted((pair for pair in found if pair[0] > 0), key=lambda pair: (-pair[0], -pair[1].at, -pair[1].seq))
        return [Recalled(item, score, {"words": score}) for score, item in best[:limit]]


def _words(text: str) -> frozenset[str]:
    """The words of a text as they are compared: without case, and without the ends of long ones."""
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()))
