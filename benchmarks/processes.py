"""Cost of processes as the kernel counts it: CPU seconds, memory, wake-ups."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU (user and system) and wall seconds."""

    cpu: float
    wall: float


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of a process in MiB: PSS counts its share of shared pages, RSS counts them in full."""

    pss: float
    rss: float


def run_once(command: Sequence[str], environ: Mapping[str, str]) -> tuple[Cost, str]:
    """Run a command to its end; return its cost and its output. Raises RuntimeError with the output if it fails."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    output = process.stdout.read().decode(errors="replace")
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{output}")
    return Cost(usage.ru_utime + usage.ru_stime, wall), output


def run_often(command: Sequence[str], environ: Mapping[str, str], times: int) -> Cost:
    """Return the lowest CPU and wall seconds of several runs, after one that fills the caches.

    Other programs on the same core can only add to them, so the lowest is closest to the truth.
    """
    run_once(command, environ)
    costs = [run_once(command, environ)[0] for _ in range(times)]
    return Cost(min(cost.cpu for cost in costs), min(cost.wall for cost in costs))


@contextmanager
def running(command: Sequence[str], environ: Mapping[str, str], ready: str = "") -> Iterator[tuple[int, str, float]]:
    """Run a server; yield its process id, the output line that contains `ready`, and the seconds until that line."""
    began = time.perf_counter()
    process = subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if ready in line:
                yield process.pid, line.strip(), time.perf_counter() - began
                break
        else:
            raise RuntimeError(f"{' '.join(command)} ended with status {process.wait()} before it was ready")
    finally:
        process.terminate()
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
        if process.stdout is not None:
            process.stdout.close()


def cpu_of(pid: int) -> float:
    """Return the CPU seconds a process has used so far with all its threads, including ended ones.

    For living threads the scheduler's own count is used if available: a tick is 10 ms, longer than a turn.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = (int(fields[11]) + int(fields[12])) / TICKS
    try:
        counts = [path.read_text().split()[0] for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    except OSError:
        return ticks
    exact = sum(map(int, counts)) / 1e9
    return exact if abs(exact - ticks) < max(0.1, ticks / 50) else ticks


def wait_until_idle(pid: int) -> None:
    """Return once the process has been nearly idle for a while, at the latest after half a minute."""
    for _ in range(60):
        before = cpu_of(pid)
        time.sleep(0.5)
        if cpu_of(pid) - before < 0.005:
            return


def wakeups_of(pid: int) -> int:
    """Return how often the threads of the process have woken up."""
    total = 0
    for path in Path(f"/proc/{pid}/task").glob("*/status"):
        for line in path.read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                total += int(line.split()[1])
    return total


def memory_of(pid: int) -> Memory:
    """Return the memory of the process."""
    values = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, rest = line.partition(":")
        values[name] = int(rest.split()[0])
    return Memory(values["Pss"] / 1024, values["Rss"] / 1024)


def busy_seconds() -> float:
    """Return the CPU seconds used by all processes of the machine together."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq, *_ = map(int, fields)
    return (user + nice + system + irq + softirq) / TICKS


def python() -> str:
    """Return the path of this Python interpreter."""
    return sys.executable
