"""Cost of one turn for the daemon, with durable commits and every call judged."""

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.bench import Bench, Daemon
from benchmarks.processes import cpu_of, python, run_once
from benchmarks.rows import Row

COMMITS, TOOL_COMMITS = 2, 4
"""The fewest commits that keep the promises: accepted and finished; with a tool call also its intent and its receipt.
"""

CALL = 'CALL read {"path": "note.md"}'


def measure(bench: Bench) -> Iterator[Row]:
    """Measure CPU milliseconds of a plain turn and of one with a tool call, in a growing, compacted session."""
    rounds, turns = bench.times(8, 3), 40
    with bench.daemon(bench.home()) as daemon:
        plain = least_cpu(daemon, lambda number: f"message {number}", rounds, turns)
    beside = f"{COMMITS} commits with bare apsw"
    yield Row("a turn", plain, "ms CPU", 15, baseline=_bare(bench, COMMITS), beside=beside)
    home = bench.home()
    write_note(bench, home)
    with bench.daemon(home) as daemon:
        if "milk" not in daemon.client().say(CALL)["reply"]:
            raise RuntimeError("the tool did not read the note: a refusal would be measured")
        called = least_cpu(daemon, lambda _: CALL, rounds, turns)
    beside = f"{TOOL_COMMITS} commits with bare apsw"
    yield Row("a turn with a tool call", called, "ms CPU", 25, baseline=_bare(bench, TOOL_COMMITS), beside=beside)


def write_note(bench: Bench, home: Path) -> None:
    """Write the file that the tool call reads."""
    note = bench.workspace(home) / "work" / "note.md"
    note.parent.mkdir(parents=True)
    note.write_text("milk and bread\n")


def least_cpu(daemon: Daemon, text: Callable[[int], str], rounds: int, turns: int, *, fresh: bool = False) -> float:
    """Return the median CPU milliseconds per turn over several rounds, after a warm-up round.

    All turns share a session, or with `fresh` have one each.
    """
    client = daemon.client()
    costs: list[float] = []
    for n in range(rounds + 1):
        before = cpu_of(daemon.pid)
        for number in range(turns):
            client.say(text(number), f"fresh-{n}-{number}" if fresh else "main")
        costs.append((cpu_of(daemon.pid) - before) / turns * 1000)
    return sorted(costs[1:])[rounds // 2]


def _bare(bench: Bench, commits: int) -> float:
    command = (python(), "-m", "benchmarks.programs.commits", str(commits), str(bench.times(500, 100)), str(bench.root))
    return float(run_once(command, bench.environ(bench.root))[1]) * 1000
