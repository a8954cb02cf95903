"""Throughput with many clients at once."""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.bench import Bench, Daemon
from benchmarks.processes import busy_seconds, cpu_of
from benchmarks.rows import Row

CLIENTS = 10


@dataclass(slots=True)
class Run:
    """The figures of one run."""

    failed: list[str] = field(default_factory=list)
    wall: float = 0.0
    cpu: float = 0.0
    free: float = 1.0


def measure(bench: Bench) -> Iterator[Row]:
    """Measure ten clients with a session each, which send the next message once the last is answered."""
    each = bench.times(100, 20)
    with bench.daemon(bench.home()) as daemon:
        send(bench, daemon, 5)
        run = send(bench, daemon, each)
    with bench.program("echo") as echo:
        minimum = send(bench, echo, each)
    count = each * CLIENTS
    beside = "bare asyncio HTTP server, nothing kept"
    rate, bare = count / run.wall / run.free, count / minimum.wall / minimum.free
    yield Row(f"{CLIENTS} clients, per free core", rate, "messages/s", 60, at_least=True, baseline=bare, beside=beside)
    yield Row(f"{CLIENTS} clients, failed of {count:,}", len(run.failed), "messages", 0)
    cpu, bare = run.cpu / count * 1000, minimum.cpu / count * 1000
    yield Row(f"{CLIENTS} clients, the daemon's part", cpu, "ms CPU", 15, baseline=bare, beside=beside)


def send(bench: Bench, daemon: Daemon, each: int) -> Run:
    """Let every client send `each` messages, one after the other."""
    run = Run()

    def talk(name: int) -> None:
        client = daemon.client()
        for number in range(each):
            try:
                client.say(f"message {number}", f"client-{name}")
            except (RuntimeError, OSError, ValueError) as error:
                run.failed.append(str(error))

    threads = [threading.Thread(target=talk, args=(name,)) for name in range(CLIENTS)]
    cpu, foreign, began = cpu_of(daemon.pid), _foreign(bench, daemon), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run.wall = time.perf_counter() - began
    run.cpu = cpu_of(daemon.pid) - cpu
    taken = (_foreign(bench, daemon) - foreign) / run.wall
    # the daemon is one process, so it can use at most one free core
    run.free = min(1.0, max(0.1, (os.cpu_count() or 1) - taken))
    return run


def _foreign(bench: Bench, daemon: Daemon) -> float:
    """Return the CPU seconds used by everything but the daemon, its model server and these clients."""
    return busy_seconds() - time.process_time() - cpu_of(daemon.pid) - cpu_of(bench.model_pid)
