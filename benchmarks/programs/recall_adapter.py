"""Adapter of Hob's memory for a recall harness: added items go into a store of their own, questions search it.

The harness makes an adapter for each store, gives it items (`id`, `text`, `speaker`, `role`, `timestamp`, `session`)
and asks for ids.
"""

import asyncio
import hashlib
import os
import sqlite3
import tempfile
from array import array
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from hob.core.clock import SystemClock
from hob.core.content.media import Embeddings
from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.trust.labels import OWNER_LABEL
from hob.memory.embedding import MemoryEmbedder
from hob.memory.retrieval.retriever import Retriever
from hob.providers.local.bert import SentenceModel
from hob.providers.local.folder import ModelFolder
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store

_SCOPE = Scope("owner")
_AT_ONCE = 100


class Words:
    """Searches by words."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        home = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="hob-recall-"))
        opened = open_store(Path(home), StoreSettings(), SystemClock())
        self._store: Store = self._runner.run(self._stack.enter_async_context(opened))
        self._embedder = self._meaning()
        self._retriever = Retriever(self._store.memory_index, self._embedder)

    def _meaning(self) -> MemoryEmbedder | None:
        return None

    def add(self, items: Sequence[Mapping[str, str]]) -> None:
        """Store these items in their order, with vectors if there is an embedder."""
        self._runner.run(self._keep([_item(each, place) for place, each in enumerate(items)]))

    async def _keep(self, items: Sequence[MemoryItem]) -> None:
        for start in range(0, len(items), _AT_ONCE):
            await self._store.items.add(items[start : start + _AT_ONCE])
        while self._embedder is not None and await self._embedder.embed_some():
            continue

    def search(self, query: str, k: int, now: str) -> list[str]:
        """Return the ids of the best items."""
        moment = _moment(now)
        found = self._runner.run(self._retriever.search(query, scope=_SCOPE, now=moment, limit=k))
        return [each.item.turn for each in found]

    def close(self) -> None:
        """Close the store."""
        self._runner.run(self._stack.aclose())
        self._runner.close()


class Meaning(Words):
    """Searches by words and meaning."""

    def _meaning(self) -> MemoryEmbedder:
        embedder = _CachedEmbedder(Path(os.environ["HOB_BENCH_EMBEDDER"]), Path(os.environ["HOB_BENCH_VECTORS"]))
        return MemoryEmbedder(embedder, "", "benchmark", self._store.memory_vectors, SystemClock())


class _CachedEmbedder:
    """Implements `Embedder` over a model folder, with a persistent cache."""

    def __init__(self, folder: Path, kept: Path) -> None:
        self._folder = folder
        self._version = ModelFolder(folder).version()
        self._model: SentenceModel | None = None
        self._kept = sqlite3.connect(kept, isolation_level=None)
        self._kept.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of the texts, as `Embedder.embed` does."""
        keys = [hashlib.sha256(f"{self._version}\0{text}".encode()).digest() for text in texts]
        known = {key: row[0] for key in keys if (row := self._find(key))}
        if new := [(key, text) for key, text in zip(keys, texts, strict=True) if key not in known]:
            self._model = self._model or SentenceModel(self._folder)
            vectors, _ = self._model.encode([text for _, text in new])
            known |= {key: vector.astype("<f4").tobytes() for (key, _), vector in zip(new, vectors, strict=True)}
            self._kept.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", [(key, known[key]) for key, _ in new])
        return Embeddings(tuple(tuple(array("f", known[key])) for key in keys), "benchmark")

    def _find(self, key: bytes) -> tuple[bytes] | None:
        found: tuple[bytes] | None = self._kept.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return found


def _item(told: Mapping[str, str], place: int) -> MemoryItem:
    return MemoryItem(
        scope=_SCOPE, layer=Layer.CONVERSATION, source="conversation:benchmark", text=told["text"], label=OWNER_LABEL,
        at=_moment(told["timestamp"]), session=told["session"], position=place, turn=told["id"],
        speaker=told["speaker"], role=told["role"],
    )  # fmt: skip


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
