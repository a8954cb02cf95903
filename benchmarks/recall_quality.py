"""Quality of recall: the share of evidence that memory finds in public question sets, beside FTS5 in the same harness.

Sets and harness are not included (`--questions FOLDER`, which holds `harness.py` and the reference `reference.py`):
LoCoMo may be used for evaluation but not redistributed. With `--embedder FOLDER`, a sentence-transformers model, recall
by meaning is measured too; vectors are computed once and kept in `--vectors FILE`.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.processes import python
from benchmarks.rows import Row
from hob.providers.local.embedder import LocalEmbedder

_ADAPTER = Path(__file__).parent / "programs" / "recall_adapter.py"
_SETS = {"locomo": "LoCoMo", "lme": "LongMemEval", "lme-pool": "pool"}
_LOCOMO = ("R@5", "R@10", "R@50")
_WORDS: Mapping[str, Mapping[str, float]] = {
    "locomo": dict(zip(_LOCOMO, (70, 79, 91), strict=True)), "lme": {"R@10": 84}, "lme-pool": {"R@10": 62},
}  # fmt: skip
_MEANING: Mapping[str, Mapping[str, float]] = {
    "locomo": dict(zip(_LOCOMO, (74, 84, 95), strict=True)), "lme": {"R@10": 87}, "lme-pool": {"R@10": 68},
}  # fmt: skip


def measure(bench: Bench) -> Iterator[Row]:
    """Measure recall by words, and by words and meaning; nothing without a folder of questions."""
    if bench.questions is None:
        print("  --questions FOLDER names none: how well memory finds is not measured", file=sys.stderr)
        return
    if bench.embedder:
        yield asyncio.run(_measure_question(bench.embedder, bench.times(100, 20)))
    for name, told in _SETS.items():
        plain = _scores(bench, name, "reference.py:Fts5")
        ways = [("words", "Words", _WORDS), ("words and meaning", "Meaning", _MEANING)]
        for way, adapter, limits in ways if bench.embedder else ways[:1]:
            found = _scores(bench, name, f"{_ADAPTER}:{adapter}")
            for figure in _LOCOMO:
                yield Row(
                    f"recall: {told} by {way}, {figure}", found[figure] * 100, "%", limits[name].get(figure),
                    at_least=True, baseline=plain[figure] * 100, beside="FTS5",
                )  # fmt: skip


async def _measure_question(folder: Path, times: int) -> Row:
    """Measure how long a local model takes to embed a question."""
    embedder, took = LocalEmbedder(folder), []
    try:
        for number in range(times + 3):
            began = time.perf_counter()
            await embedder.embed([f"When did my sister Anna say that she would plant {number} leeks in the garden?"])
            took.append(time.perf_counter() - began)
    finally:
        await embedder.aclose()
    p95 = sorted(took[3:])[int(times * 0.95)]
    return Row("recall: a question's vector from a local model, p95", p95 * 1e3, "ms", 60)


def _scores(bench: Bench, name: str, adapter: str) -> Mapping[str, float]:
    """Return the scores of a set, averaged over its stores."""
    assert bench.questions is not None
    out = bench.root / "recall.json"
    environ = {**os.environ, "HOB_BENCH_EMBEDDER": str(bench.embedder or ""), "HOB_BENCH_VECTORS": str(bench.vectors)}
    command = (python(), "harness.py", "--adapter", adapter, "--bench", name, "--out", str(out))
    subprocess.run(command, cwd=bench.questions, env=environ, check=True, stdout=subprocess.DEVNULL)
    told: Mapping[str, float] = json.loads(out.read_text())["macro"]
    return told
