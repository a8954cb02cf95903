"""Gives memories their vectors in the background, and questions theirs at once."""

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault
from hob.core.ports.media import Embedder
from hob.store.memory.vectors import StoredVectors

_log = logging.getLogger(__name__)
_BATCH = 64
_LONGEST = 8_000
"""Characters of a text that are embedded."""
_SHORTEST = 200
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 300.0


class News(Protocol):
    """Says that something happened."""

    def clear(self) -> None: ...
    async def wait(self) -> object: ...


class MemoryEmbedder:
    """One embedder for what is kept and for what is asked. Its queue is durable: a place in the order of the items."""

    def __init__(self, embedder: Embedder, provider: str, model: str, vectors: StoredVectors, clock: Clock) -> None:
        self._embedder = embedder
        self._name = f"{provider}|{model}".lower()
        self._vectors = vectors
        self._clock = clock
        self._failures = 0
        self._dimension = 0
        self.number = 0
        """Of its vectors in the store; 0 before it was first asked."""
        self.problem = ""
        """Why it failed last; empty since it went well."""

    async def embed_question(self, text: str) -> tuple[float, ...]:
        """The question's vector. Raises ModelError: a search does not go on as if no embedder had been chosen."""
        vector = (await self._embedder.embed([text])).vectors[0]
        await self._begin(len(vector))
        return vector

    async def run(self, news: AbstractContextManager[News]) -> None:
        """Embed what waits and what comes, until cancelled. After a failure it tries again, later each time."""
        with news as happened:
            while True:
                happened.clear()
                while await self.embed_some():
                    continue
                if self._failures:
                    await self._clock.sleep(min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(20, self._failures - 1)))
                else:
                    await happened.wait()

    async def embed_some(self) -> bool:
        """Embed what comes next; whether there may be more. Raises StoreErrors; of others `problem` tells."""
        self.number = self.number or await self._vectors.find(self._name)
        pending = await self._vectors.pending(self.number, _BATCH)
        if not pending:
            if self.number:
                await self._vectors.drop_others(self.number)
            return False
        told = [(seq, text) for seq, text in pending if text.strip()]
        try:
            vectors = await self._embed([text for _, text in told])
        except ModelError as error:
            self._failures += 1
            self.problem = str(error)
            _log.warning("memories get no vectors: %s", error)
            return False
        self._failures, self.problem = 0, ""
        if vectors and await self._begin(len(vectors[0])):
            return True  # what was pending was another embedder's
        places = [seq for seq, _ in told]
        await self._vectors.keep(self.number, pending[-1][0], list(zip(places, vectors, strict=True)))
        return True

    async def waiting(self) -> int:
        """How many memories have no vector yet. Raises StoreErrors."""
        return await self._vectors.waiting(self.number)

    async def _begin(self, dimension: int) -> bool:
        """Make sure that the number is of vectors of this dimension; whether it is another now."""
        if dimension == self._dimension:
            return False
        before, self._dimension = self.number, dimension
        self.number = await self._vectors.begin(f"{self._name}|{dimension}|true")
        return self.number != before

    async def _embed(self, texts: Sequence[str], longest: int = _LONGEST) -> Sequence[tuple[float, ...]]:
        """The vectors of the texts, of their beginnings where they are too long. Raises ModelError."""
        if not texts:
            return ()
        try:
            return (await self._embedder.embed([text[:longest] for text in texts])).vectors
        except ModelError as error:
            if error.fault is not ModelFault.CONTEXT_OVERFLOW or longest <= _SHORTEST:
                raise
            return await self._embed(texts, longest // 4)
