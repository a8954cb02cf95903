"""Cost of running a command in the sandbox, and of making its effects undoable."""

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.bench import Bench
from benchmarks.rows import Row
from hob.core.clock import SystemClock
from hob.core.errors import NotConfigured
from hob.tools.sandbox.backends.detection import find_backend
from hob.tools.sandbox.backends.landlock import Landlock, landlock_version
from hob.tools.sandbox.job import JobRoot, Limits, SandboxJob
from hob.tools.sandbox.launcher.launcher import Backend
from hob.tools.sandbox.running_command import run
from hob.tools.sandbox.sandbox_environment import SandboxEnvironment
from hob.tools.undo.snapshots.snapshots import Snapshots

_FILES = 5_000


def measure(bench: Bench) -> Iterator[Row]:
    """Measure the wall milliseconds for `true` in each sandbox of this machine, and for a snapshot of 5,000 files."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name).resolve()
        for part in ("caches", "state", "work"):
            (top / part).mkdir()
        surroundings = SandboxEnvironment(caches=top / "caches", state=top / "state")
        times = bench.times(60, 10)
        bare = median(_bare() for _ in range(times))
        for backend in _backends(surroundings):
            job = SandboxJob(("true",), top / "work", (JobRoot(top / "work", writable=True),))
            took = asyncio.run(_run(backend, job, times))
            limit = 40 if backend.name == "bubblewrap" else None
            yield Row(f"a command in {backend.name}", took, "ms", limit, baseline=bare, beside="subprocess.run")
            if backend.filters_network:
                took = asyncio.run(_run(backend, replace(job, hosts=("example.org",)), times))
                yield Row(f"the same with a way to the network ({backend.name})", took, "ms")
        yield from _snapshots(top, times)


def _backends(surroundings: SandboxEnvironment) -> Iterator[Backend]:
    with suppress(NotConfigured):
        yield find_backend("bubblewrap", surroundings, os.defpath).backend
    if version := landlock_version():
        landlock = Landlock(surroundings, version)
        landlock.write_files()
        yield landlock


def _bare() -> float:
    began = time.perf_counter()
    subprocess.run(["true"], check=True)
    return (time.perf_counter() - began) * 1000


async def _run(backend: Backend, job: SandboxJob, times: int) -> float:
    took = []
    for _ in range(times + 1):
        began = time.perf_counter()
        finished = await run(backend, job, SystemClock(), limits=Limits())
        took.append((time.perf_counter() - began) * 1000)
        if finished.status != 0:
            raise RuntimeError(f"the command failed in {backend.name}: {finished.output.decode()}")
    return median(took[1:])


def _snapshots(top: Path, times: int) -> Iterator[Row]:
    tree = top / "tree"
    for number in range(_FILES):
        path = tree / f"{number % 100}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n" * 200)
    snapshots = Snapshots(top / "snapshots", SystemClock())
    began = time.perf_counter()
    snapshots.take(tree)
    yield Row(f"the first snapshot of {_FILES:,} files", (time.perf_counter() - began) * 1000, "ms")
    time.sleep(0.1)  # files as young as the snapshot would be read again
    snapshots.take(tree)
    again, changed = [], []
    for number in range(times):
        began = time.perf_counter()
        snapshots.take(tree)
        again.append((time.perf_counter() - began) * 1000)
        (tree / "1" / "1.txt").write_text(f"{number}")
        began = time.perf_counter()
        snapshots.take(tree)
        changed.append((time.perf_counter() - began) * 1000)
    yield Row("a snapshot when nothing changed", median(again), "ms", 150)
    yield Row("a snapshot when one file changed", median(changed), "ms", 150)
