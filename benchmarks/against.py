"""Comparison of this tree with another revision, in interleaved rounds. The base is also compared with itself, which
shows the noise of the machine.
"""

import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any

from benchmarks.bench import Bench
from benchmarks.load import CLIENTS, send
from benchmarks.processes import cpu_of, memory_of, python, run_often
from benchmarks.rows import aligned, joined, short
from benchmarks.turn import CALL, write_note

TOLERATED = 0.05
"""The smallest change that counts, as a share of the base."""
_TURNS = 20
_REST = 1.0
"""Seconds to wait for the work that follows a turn."""
_BASE, _AGAIN, _NOW = "base", "again", "now"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure, less being better: a value per round of the base, of the base measured again, and of this tree."""

    name: str
    unit: str
    base: Sequence[float]
    again: Sequence[float]
    now: Sequence[float]

    @property
    def change(self) -> float:
        """The median change against the base, as a share."""
        return median(_ratios(self.now, self.base)) - 1

    @property
    def spread(self) -> tuple[float, float]:
        """The smallest and largest change of the base against itself."""
        ratios = _ratios(self.again, self.base)
        return min(ratios) - 1, max(ratios) - 1

    @property
    def worse(self) -> bool:
        """Whether the increase exceeds both the tolerance and the noise."""
        return self.change > max(TOLERATED, self.spread[1])

    @property
    def better(self) -> bool:
        """Whether the decrease exceeds both the tolerance and the noise."""
        return self.change < min(-TOLERATED, self.spread[0])

    def view(self) -> dict[str, Any]:
        """Return the figure as JSON values."""
        minimum, maximum = self.spread
        return {
            "name": self.name, "unit": self.unit, "base": median(self.base), "now": median(self.now),
            "change": self.change, "spread": [minimum, maximum], "worse": self.worse, "better": self.better,
        }  # fmt: skip


def _ratios(values: Sequence[float], base: Sequence[float]) -> list[float]:
    return [value / known for value, known in zip(values, base, strict=True)]


def compare(bench: Bench, revision: str) -> Iterator[Comparison]:
    """Measure all sides in rounds, in rotating order. Raises RuntimeError if the revision cannot be installed."""
    found: defaultdict[str, defaultdict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    with checked_out(bench.root, revision) as hob:
        now = replace(bench, hob=_installed(Path(__file__).parent.parent, bench.root / "now"))
        sides = [(_BASE, replace(bench, hob=hob)), (_AGAIN, replace(bench, hob=hob)), (_NOW, now)]
        rounds = bench.times(10, 3)
        for number in range(rounds + 1):
            for side, its in sides[number % 3 :] + sides[: number % 3]:
                for figure, value in measure(its).items():
                    if number:  # the first round compiles modules
                        found[side][figure].append(value)
            print(f"round {number} of {rounds}", file=sys.stderr, flush=True)
    for (name, unit), values in found[_BASE].items():
        yield Comparison(name, unit, values, found[_AGAIN][name, unit], found[_NOW][name, unit])


def measure(bench: Bench) -> Mapping[tuple[str, str], float]:
    """Measure every figure of one side, once."""
    home = bench.home()
    write_note(bench, home)
    environ = bench.environ(home)
    found: dict[tuple[str, str], float] = {}
    for name, arguments in (("version", ["--version"]), ("help", ["--help"]), ("ask", ["ask", "hi"])):
        found[name, "s CPU"] = run_often((bench.hob, *arguments), environ, 2).cpu
    bench.asked()
    with bench.daemon(home) as daemon:
        found["ready", "s"] = daemon.ready
        client = daemon.client()
        client.say("hi")
        found["first request", "bytes"] = len(bench.asked()[0])
        time.sleep(_REST)
        found["idle after a turn", "MiB PSS"] = memory_of(daemon.pid).pss
        for name, text in (("turn", "What should I cook?"), ("turn with a tool", CALL)):
            client.say(text)
            before = cpu_of(daemon.pid)
            for _ in range(_TURNS):
                client.say(text)
            found[name, "ms CPU"] = (cpu_of(daemon.pid) - before) / _TURNS * 1000
        run = send(bench, daemon, _TURNS // 4)
        found[f"{CLIENTS} clients", "ms CPU"] = run.cpu / (_TURNS // 4 * CLIENTS) * 1000
    return found


@contextmanager
def checked_out(root: Path, revision: str) -> Iterator[str]:
    """Check out another revision into a work tree and an environment of its own; yield the path of its `hob`."""
    here, tree = Path(__file__).parent.parent, root / "base"
    _run("git", "-C", str(here), "worktree", "add", "--quiet", "--detach", str(tree), revision)
    try:
        yield _installed(tree, root / "before")
    finally:
        _run("git", "-C", str(here), "worktree", "remove", "--force", str(tree))


def _installed(tree: Path, environment: Path) -> str:
    """Install a tree as users do, without development packages, since some libraries import them if they are there.
    Return the path of its `hob`.
    """
    if shutil.which("uv"):
        sync = ("uv", "sync", "--quiet", "--frozen", "--no-dev", "--directory", str(tree), "--python", python())
        _run(*sync, environ={"UV_PROJECT_ENVIRONMENT": str(environment)})
    else:
        _run(python(), "-m", "venv", str(environment))
        _run(str(environment / "bin/pip"), "install", "--quiet", "--editable", str(tree))
    return str(environment / "bin/hob")


def _run(*command: str, environ: Mapping[str, str] = MappingProxyType({})) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environ})
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr.strip()}")


def render(comparisons: Sequence[Comparison]) -> str:
    """Format the comparisons as an aligned table."""
    lines = [("what", "base", "now", "change", "base against base", "")]
    for each in comparisons:
        minimum, maximum = each.spread
        base, now = (f"{short(median(values))} {each.unit}" for values in (each.base, each.now))
        verdict = "WORSE" if each.worse else "better" if each.better else ""
        lines.append((each.name, base, now, f"{each.change:+.1%}", f"{minimum:+.1%} to {maximum:+.1%}", verdict))
    return joined(aligned(lines, left={0, 5}))
