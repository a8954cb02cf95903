"""Memory and activity of an idle Hob, and growth over time."""

import time
from collections.abc import Iterator

from benchmarks.bench import Bench, Daemon
from benchmarks.processes import Memory, cpu_of, memory_of, wakeups_of
from benchmarks.rows import Row

BARE = "bare asyncio HTTP server, nothing kept"


def measure(bench: Bench) -> Iterator[Row]:
    """Measure idle memory, CPU and wake-ups, and growth over a thousand turns."""
    turns = bench.times(1_000, 200)
    with bench.daemon(bench.home()) as daemon:
        daemon.client().say("hi")  # the first run of an installation compiles modules, which leaves memory allocated
    with bench.daemon(bench.home()) as daemon, bench.program("echo") as echo:
        fresh = memory_of(daemon.pid)
        daemon.client().say("hi")
        echo.client().say("hi")
        seconds = bench.times(20, 5)
        cpu, wakes, minimum = _idle(daemon.pid, echo.pid, seconds)
        idle, small = memory_of(daemon.pid), memory_of(echo.pid)
        yield Row("idle after the start", fresh.pss, "MiB PSS", 50, baseline=small.pss, beside=BARE)
        yield Row("idle after a turn", idle.pss, "MiB PSS", 50, baseline=small.pss, beside=BARE)
        yield Row("idle after a turn", idle.rss, "MiB RSS", baseline=small.rss, beside=BARE)
        yield Row(f"idle for {seconds} s", cpu, "% CPU", 0.1, baseline=minimum, beside=BARE)
        yield Row(f"idle for {seconds} s", wakes, "wake-ups")
        after = _talk(daemon, turns)
        growth, bare_growth = after.rss - idle.rss, _talk(echo, turns).rss - small.rss
        yield Row(f"growth over {turns:,} turns", growth, "MiB RSS", 5, baseline=max(0.0, bare_growth), beside=BARE)
        yield Row(f"after {turns:,} turns", after.pss, "MiB PSS", 50, baseline=small.pss, beside=BARE)


def _idle(pid: int, echo: int, seconds: float) -> tuple[float, float, float]:
    """Return the daemon's share of a core in percent, its wake-ups, and the baseline's share of a core."""
    time.sleep(2)  # work that follows a turn
    before, wakes, minimum = cpu_of(pid), wakeups_of(pid), cpu_of(echo)
    time.sleep(seconds)
    percent = 100 / seconds
    return (cpu_of(pid) - before) * percent, wakeups_of(pid) - wakes, (cpu_of(echo) - minimum) * percent


def _talk(daemon: Daemon, turns: int) -> Memory:
    client = daemon.client()
    for number in range(turns):
        client.say(f"message {number}", f"session-{number % 10}")
    return memory_of(daemon.pid)
