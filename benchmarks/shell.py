"""Cost of reading a shell command and deciding about it."""

import shlex
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.bench import Bench
from benchmarks.rows import Row
from hob.guard.shell.analysis import analyse
from hob.guard.shell.verdict import judge_command

_DATA = Path(__file__).parents[1] / "tests/guard/data"
_WORKSPACE = "/home/anna/work/project"
_LONG = "\n".join(f"cp src/file{n}.py build/ && echo 'copied {n}' >> build/log" for n in range(1200))  # 64 kB


def measure(bench: Bench) -> Iterator[Row]:
    """Measure CPU microseconds per developer command, per hostile command, and for the longest accepted text."""
    times = bench.times(20, 3)
    for name, file in (("a usual command", "benign_commands.toml"), ("a hostile command", "hostile_commands.toml")):
        texts = [entry["text"] for entry in tomllib.loads((_DATA / file).read_text("utf-8"))["commands"]]
        minimum = _each(texts, _split, times)
        took = _each(texts, _judge, times)
        yield Row(f"judging {name}", took, "µs", 200, baseline=minimum, beside="shlex takes it apart")
    yield Row("judging 64 kB of commands", _each([_LONG], _judge, max(3, times // 4)) / 1000, "ms", 500)


def _judge(text: str) -> None:
    judge_command(analyse(text), cwd=_WORKSPACE, workspace=_WORKSPACE)


def _split(text: str) -> None:
    try:
        list(shlex.shlex(text, posix=True, punctuation_chars=True))
    except ValueError:  # an unclosed quote
        return


def _each(texts: list[str], work: Callable[[str], None], times: int) -> float:
    """Return the CPU microseconds per text: the median of several rounds over all texts."""
    took: list[float] = []
    for _ in range(times):
        began = time.process_time()
        for text in texts:
            work(text)
        took.append(time.process_time() - began)
    return median(took) / len(texts) * 1e6
