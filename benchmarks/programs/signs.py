"""Searches random vectors in a database and prints the cost; arguments: COUNT DIMENSION.

It is a separate process so that its memory can be measured alone.
"""

import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import apsw

from benchmarks.processes import memory_of
from hob.core.memory import Scope
from hob.memory.retrieval.dense import BinaryVectorIndex
from hob.store.database.migration import apply_migrations
from hob.store.memory.search import ScopedIndex

_EMBEDDER, _SEARCHES = 1, 60


def main() -> None:
    """Run the program."""
    count, dimension = int(sys.argv[1]), int(sys.argv[2])
    draw = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        connection = apsw.Connection(str(Path(folder) / "signs.db"))
        apply_migrations(connection)
        vector = b"".join(bytes(draw.choices(range(68, 189), k=dimension)) for _ in range(2))
        seqs = range(1, count + 1)
        bits = ((_EMBEDDER, seq, os.urandom(dimension // 8)) for seq in seqs)
        with connection:
            connection.executemany("INSERT INTO memory_bits (embedder, scope, seq, bits) VALUES (?, 1, ?, ?)", bits)
            vectors = ((seq, _EMBEDDER, vector) for seq in seqs)
            connection.executemany("INSERT INTO memory_vectors (seq, embedder, vector) VALUES (?, ?, ?)", vectors)
        index, signs = ScopedIndex(connection, Scope("owner")), BinaryVectorIndex(_EMBEDDER)
        index.scope = 1
        before = memory_of(os.getpid()).rss
        began = time.perf_counter()
        signs.update(index)
        loaded, held = time.perf_counter() - began, memory_of(os.getpid()).rss - before
        durations = []
        for _ in range(_SEARCHES):
            asked = [draw.gauss(0, dimension**-0.5) for _ in range(dimension)]
            began = time.perf_counter()
            signs.find(index, asked)
            durations.append(time.perf_counter() - began)
    p95 = sorted(durations)[int(len(durations) * 0.95)]
    print(json.dumps({"seconds": p95, "load": loaded, "rss": held}))


if __name__ == "__main__":
    main()
