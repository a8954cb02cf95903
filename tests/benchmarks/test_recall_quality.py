"""Recall is measured by a harness that lies elsewhere, with Hob behind its adapter."""

from dataclasses import replace
from pathlib import Path

from benchmarks import recall_quality
from benchmarks.bench import Bench

HARNESS = """
import argparse, importlib.util, json
given = argparse.ArgumentParser()
for name in ("--adapter", "--bench", "--out"):
    given.add_argument(name)
given = given.parse_args()
file, _, name = given.adapter.rpartition(":")
spec = importlib.util.spec_from_file_location("adapter", file)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
adapter = getattr(module, name)()
common = dict(speaker="Ann", role="user", timestamp="2026-03-02T18:00:00", session="s")
texts = ["I adopted a hedgehog.", "The weather was fine.", "He is called Bert."]
adapter.add([dict(common, id=str(n), text=text) for n, text in enumerate(texts)])
found = adapter.search("Which hedgehogs were adopted?", 3, now="2026-04-01T10:00:00")
adapter.close()
share = 1.0 if found[:1] == ["0"] else 0.0
json.dump({"macro": {"R@5": share, "R@10": share, "R@50": share}}, open(given.out, "w"))
"""
PLAIN = """
class Fts5:
    def add(self, items): pass
    def search(self, query, k, now=None): return []
    def close(self): pass
"""


def test_figures_are_those_of_the_harness_beside_fts5(tmp_path: Path) -> None:
    (tmp_path / "harness.py").write_text(HARNESS)
    (tmp_path / "reference.py").write_text(PLAIN)
    bench = Bench(tmp_path, "", 0)
    rows = list(recall_quality.measure(replace(bench, questions=tmp_path)))
    assert len(rows) == 9
    assert {(row.value, row.baseline, row.holds) for row in rows} == {(100.0, 0.0, True)}
    assert {row.name: row.limit for row in rows if row.limit}["recall: LongMemEval by words, R@10"] == 84


def test_nothing_is_measured_without_questions(tmp_path: Path) -> None:
    assert not list(recall_quality.measure(Bench(tmp_path, "", 0)))
