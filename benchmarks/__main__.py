"""`python -m benchmarks`: measure, print, and exit with 1 if a limit is exceeded."""

import argparse
import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks import (
    against,
    dashboard,
    endpoints,
    gateway,
    guard,
    hands,
    history,
    lighthouse,
    load,
    masking,
    memory,
    prompt,
    recall,
    recall_quality,
    sandbox,
    screening,
    shell,
    startup,
    turn,
    web,
    wires,
)
from benchmarks.bench import VECTORS, Bench, open_bench
from benchmarks.rows import Row, render

SUBJECTS: Mapping[str, Callable[[Bench], Iterator[Row]]] = {
    "startup": startup.measure,
    "turn": turn.measure,
    "load": load.measure,
    "history": history.measure,
    "memory": memory.measure,
    "prompt": prompt.measure,
    "recall": recall.measure,
    "quality": recall_quality.measure,
    "sandbox": sandbox.measure,
    "screening": screening.measure,
    "shell": shell.measure,
    "gateway": gateway.measure,
    "endpoints": endpoints.measure,
    "dashboard": dashboard.measure,
    "lighthouse": lighthouse.measure,
    "guard": guard.measure,
    "masking": masking.measure,
    "web": web.measure,
    "hands": hands.measure,
    "wires": wires.measure,
}


def main() -> int:
    """Run the benchmarks; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What Hob costs on this machine.")
    parser.add_argument("--only", choices=SUBJECTS, action="append", metavar="NAME", help=", ".join(SUBJECTS))
    parser.add_argument("--against", metavar="REV", help="compare this tree with another revision, in turns")
    parser.add_argument("--questions", type=Path, metavar="FOLDER", help="public question sets, for `quality`")
    parser.add_argument("--embedder", type=Path, metavar="FOLDER", help="a sentence model, for `quality`")
    parser.add_argument("--vectors", type=Path, default=VECTORS, metavar="FILE", help=f"keeps its vectors ({VECTORS})")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quick", action="store_true", help="measure less often; the figures are rough")
    options = parser.parse_args()
    if options.against:
        return compare(options.against, quick=options.quick, as_json=options.json)
    rows: list[Row] = []
    broken: list[str] = []
    with open_bench(quick=options.quick) as bench:
        bench = replace(bench, questions=options.questions, embedder=options.embedder, vectors=options.vectors)
        for name in options.only or SUBJECTS:
            if not options.json:
                print(f"measuring {name} ...", file=sys.stderr, flush=True)
            try:
                rows.extend(SUBJECTS[name](bench))
            except Exception:  # noqa: BLE001  # the others' figures took minutes and are worth reading
                traceback.print_exc()
                broken.append(name)
    if options.json:
        print(json.dumps({"machine": machine(), "rows": [row.view() for row in rows]}, indent=2))
    else:
        print(f"{machine()}; load {os.getloadavg()[0]:.1f}\n")
        print(render(rows, colour=sys.stdout.isatty()))
    if broken:
        print(f"not measured, or not whole: {', '.join(broken)}; the errors stand above", file=sys.stderr)
    return 0 if all(row.holds for row in rows) and not broken else 1


def compare(revision: str, *, quick: bool, as_json: bool) -> int:
    """Compare with another revision, and return 1 if anything got worse."""
    with open_bench(quick=quick) as bench:
        found = list(against.compare(bench, revision))
    if as_json:
        print(json.dumps({"machine": machine(), "rows": [each.view() for each in found]}, indent=2))
    else:
        print(f"{machine()}; load {os.getloadavg()[0]:.1f}; base is {revision}\n")
        print(against.render(found))
    return 1 if any(each.worse for each in found) else 0


def machine() -> str:
    """Describe the machine."""
    return f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"


if __name__ == "__main__":
    sys.exit(main())
