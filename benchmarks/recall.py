"""Cost of storing and searching memory, from 5,000 to a million items with Zipf-distributed words."""

import asyncio
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import apsw

from benchmarks.bench import Bench
from benchmarks.processes import memory_of, python
from benchmarks.rows import Row
from hob.core.clock import SystemClock
from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.trust.labels import OWNER_LABEL
from hob.memory.retrieval.dense import BinaryVectorIndex
from hob.memory.retrieval.query import Query
from hob.memory.retrieval.retriever import SnapshotSearch
from hob.memory.service import SEARCHED
from hob.store.memory.search import ScopedIndex
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store

_OWNER = Scope("owner")
_BATCH = 100
_NOW = 1_780_000_000.0
_WORDS = 60_000
_DIMENSION = 384
_VECTOR_SIZES = ((50_000, 384, 12.0), (50_000, 1536, 15.0), (1_000_000, 384, 60.0))
"""Number of vectors, their dimension, and the limit in ms."""


def measure(bench: Bench) -> Iterator[Row]:
    """Measure storing and searching in this process, and the vector index in a separate one."""
    yield from asyncio.run(_measure_storing(bench.home()))
    yield from asyncio.run(_measure_recall(bench.home(), bench.times(200, 50)))
    yield from _measure_idle(bench)
    for count, dimension, maximum in _VECTOR_SIZES[:2] if bench.quick else _VECTOR_SIZES:
        yield from _measure_vectors(count, dimension, maximum)
    sizes = [(5_000, None), (50_000, 15.0)] if bench.quick else [(50_000, 15.0), (1_000_000, 250.0)]
    for size, limit in sizes:
        yield from asyncio.run(_measure_searches(bench.home(), size, limit, bench.times(300, 50)))


async def _measure_storing(home: Path) -> list[Row]:
    """Measure batches and single items, beside inserts into a bare table."""
    language = _Language(random.Random(7))
    items = [_item(language, n) for n in range(10_100)]
    bare = _bare_table_rate(home / "bare.db", [item.text for item in items[:2_000]])
    async with open_store(home / "hob", StoreSettings(), SystemClock()) as store:
        began = time.perf_counter()
        for start in range(0, 10_000, _BATCH):
            await store.items.add(items[start : start + _BATCH])
        acknowledged = time.perf_counter()
        await store.memory_index.read(_OWNER, lambda index: index.size)
        searchable, single = time.perf_counter(), []
        for item in items[10_000:]:
            before = time.perf_counter()
            await store.items.add([item])
            single.append(time.perf_counter() - before)
    rate = 10_000 / (acknowledged - began)
    table = "rows of a bare SQLite table"
    return [
        Row("memory: acknowledged, 10,000 items", rate, "items/s", 10_000, at_least=True, baseline=bare, beside=table),
        Row("memory: searchable after the last of them", (searchable - acknowledged) * 1e3, "ms", 1_000),
        Row("memory: one item on disk, p95", _p95(single) * 1e3, "ms", 10),
    ]


def _bare_table_rate(path: Path, texts: list[str]) -> float:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE item (text TEXT)").fetchall()
    began = time.perf_counter()
    for start in range(0, len(texts), _BATCH):
        with connection:
            connection.executemany("INSERT INTO item VALUES (?)", ((text,) for text in texts[start : start + _BATCH]))
    return len(texts) / (time.perf_counter() - began)


async def _measure_recall(home: Path, turns: int) -> list[Row]:
    """Measure the CPU time of automatic recall per turn, beside FTS5 over the same texts."""
    language = _Language(random.Random(7))
    plain = apsw.Connection(":memory:")
    plain.execute("CREATE VIRTUAL TABLE item USING fts5(text, tokenize = 'porter unicode61')")
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        for start in range(0, 50_000, 1_000):
            some = [_item(language, n) for n in range(start, start + 1_000)]
            await store.items.add(some)
            plain.executemany("INSERT INTO item VALUES (?)", ((item.text,) for item in some))
        spent = bare = 0.0
        for _ in range(turns):
            text = " ".join(language.words(9))

            def recall(index: ScopedIndex, text: str = text) -> float:
                began = time.thread_time()
                SnapshotSearch(Query.parse(text, _NOW), frozenset(SEARCHED), _NOW, 18, 0)(index)
                return time.thread_time() - began

            spent += await store.memory_index.read(_OWNER, recall)
            began = time.thread_time()
            wanted = " OR ".join(text.split())
            plain.execute("SELECT rowid FROM item WHERE item MATCH ? ORDER BY rank LIMIT 18", (wanted,)).fetchall()
            bare += time.thread_time() - began
    told = "memory: recall for a turn, 50,000 items, mean"
    return [Row(told, spent / turns * 1e3, "ms CPU", 5, baseline=bare / turns * 1e3, beside="FTS5, by words alone")]


def _measure_idle(bench: Bench) -> Iterator[Row]:
    """Measure the memory a daemon holds after a turn with 5,000 items, over one without any."""
    full, empty = bench.home(), bench.home()
    asyncio.run(_fill(full, 5_000))
    held = []
    for home in (empty, full):
        with bench.daemon(home) as daemon:
            daemon.client().say("What was it about the garden?")
        with bench.daemon(home) as daemon:  # the first run compiles, which leaves memory allocated
            daemon.client().say("What was it about the garden?")
            time.sleep(2)  # work that follows a turn
            held.append(memory_of(daemon.pid).pss)
    yield Row("memory: idle with 5,000 items, over none", held[1] - held[0], "MiB PSS", 5)


async def _fill(home: Path, size: int) -> None:
    language = _Language(random.Random(7))
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        for start in range(0, size, _BATCH):
            await store.items.add([_item(language, n) for n in range(start, start + _BATCH)])


def _measure_vectors(count: int, dimension: int, limit: float) -> Iterator[Row]:
    command = (python(), "-m", "benchmarks.programs.signs", str(count), str(dimension))
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    what = f"memory: by meaning, {count:,} x {dimension}"
    yield Row(f"{what}, p95", told["seconds"] * 1e3, "ms", limit)
    yield Row(f"{what}, held", told["rss"], "MiB RSS", 60 if count <= 50_000 else 200)
    yield Row(f"{what}, read at the start", told["load"], "s", 0.5 * count / 1_000_000 if count > 50_000 else None)


async def _measure_searches(home: Path, size: int, limit: float | None, searches: int) -> Iterator[Row]:
    draw = random.Random(7)
    language = _Language(draw)
    rows = []
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        durations = []
        items = [_item(language, n) for n in range(size)] if size <= 100_000 else None
        for start in range(0, size, _BATCH):
            some = (
                items[start : start + _BATCH] if items else [_item(language, n) for n in range(start, start + _BATCH)]
            )
            before = time.perf_counter()
            await store.items.add(some)
            durations.append(time.perf_counter() - before)
        spent = sum(durations)
        del items
        rows.append(Row(f"memory: kept and indexed, {size:,} items in one go", size / spent, "items/s"))
        rows.append(Row(f"memory: a batch of {_BATCH} at {size:,} items, p95", _p95(durations) * 1e3, "ms"))
        found = await _searches(store, language, searches)
        rows.append(Row(f"memory: search by words, {size:,} items, p50", found[len(found) // 2] * 1e3, "ms"))
        rows.append(Row(f"memory: search by words, {size:,} items, p95", _p95(found) * 1e3, "ms", limit))
        if size <= 100_000:
            rows += await _measure_hybrid(store, language, size, searches, draw)
    return iter(rows)


async def _searches(
    store: Store, language: "_Language", count: int, signs: BinaryVectorIndex | None = None
) -> list[float]:
    durations = []
    for number in range(count + 5):
        vector = [language.draw.gauss(0, _DIMENSION**-0.5) for _ in range(_DIMENSION)]
        text = " ".join(language.words(9))

        def search(index: object, text: str = text, vector: list[float] = vector) -> float:
            began = time.perf_counter()
            meaning = (lambda inner: signs.find(inner, vector)) if signs else None
            SnapshotSearch(Query.parse(text, _NOW), frozenset(), _NOW, 10, 0, meaning)(index)  # type: ignore[arg-type]
            return time.perf_counter() - began

        duration = await store.memory_index.read(_OWNER, search)
        if number >= 5:
            durations.append(duration)
    return sorted(durations)


async def _measure_hybrid(
    store: Store, language: "_Language", size: int, searches: int, draw: random.Random
) -> list[Row]:
    embedder = await store.memory_vectors.begin(f"benchmark|random|{_DIMENSION}|true")
    some = [[draw.gauss(0, 0.05) for _ in range(_DIMENSION)] for _ in range(500)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while pending := await store.memory_vectors.pending(embedder, 1_000):
        given = [(seq, some[draw.randrange(len(some))]) for seq, *_ in pending]
        place = await store.memory_vectors.place(embedder)
        sentences = {seq: draw.sample(some, 2) for seq, *_ in pending if seq % 2}  # the assistant's messages have none
        await store.memory_vectors.keep(embedder, (place, pending[-1].seq), given, sentences)
    signs = BinaryVectorIndex(embedder)
    found = await _searches(store, language, searches, signs)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / (
        1024 if sys.platform == "linux" else 1 << 20
    )
    return [
        Row(
            f"memory: search by words and meaning, {size:,} x {_DIMENSION}, p95",
            _p95(found) * 1e3,
            "ms",
            12.0,
        ),
        Row(f"memory: what {size:,} vectors add to the process", grown, "MiB", 60.0),
    ]


def _p95(durations: list[float]) -> float:
    return sorted(durations)[int(len(durations) * 0.95)]


class _Language:
    """Random words with the frequencies of a language (Zipf)."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        letters = "abcdefghiklmnoprstuvwz"
        self._words = ["".join(draw.choices(letters, k=draw.randrange(3, 10))) for _ in range(_WORDS)]
        total = 0.0
        self._weights = [total := total + 1 / (rank + 10) for rank in range(_WORDS)]

    def words(self, count: int) -> list[str]:
        """Return this many words."""
        return self.draw.choices(self._words, cum_weights=self._weights, k=count)


def _item(language: _Language, number: int) -> MemoryItem:
    words = " ".join(language.words(language.draw.randrange(8, 40)))
    return MemoryItem(
        scope=_OWNER, layer=Layer.CONVERSATION, source="conversation:local", text=words, label=OWNER_LABEL,
        at=_NOW - 90 * number, session=f"local:{number // 40}", position=number, speaker="Anna", role="user",
        turn=f"t{number}",
    )  # fmt: skip
