"""Start-up cost: short commands, one question without and with a daemon, and the daemon itself."""

from collections.abc import Iterator
from contextlib import ExitStack
from subprocess import check_output

from benchmarks.bench import HOB, Bench, seconds_of
from benchmarks.processes import cpu_of, python, run_often
from benchmarks.rows import Row

LIBRARIES = "import asyncio, httpx2, apsw"
DECLARATIONS = """
import time, tracemalloc, hob.config.loading
import hob.app.maintenance.settings, hob.channels.webhooks.settings, hob.gateway.dashboard.settings
import hob.gateway.webhooks.settings
import hob.app.diagnostics.settings, hob.memory.settings, hob.tools.sandbox.settings, hob.tools.web.settings
import hob.app.subagents.settings, hob.bus.settings, hob.memory.er1.settings, hob.memory.knowledge.settings
import hob.tools.mcp.settings
{before}
began = time.process_time()
import hob.app.subsystems
print({after})
"""
"""Reads the declarations of Hob's features beside settings that are read already."""
SERVER = "import asyncio, apsw, httptools, starlette.applications, uvicorn"


def measure(bench: Bench) -> Iterator[Row]:
    """Measure CPU seconds of commands, and wall seconds of the daemon's start and first turn."""
    times = bench.times(11, 3)
    home = bench.home()
    environ = bench.environ(home)

    def cpu(*command: str) -> float:
        return run_often(command, environ, times).cpu

    nothing = cpu(python(), "-c", "pass")
    libraries = cpu(python(), "-c", LIBRARIES)
    client = cpu(python(), "-c", "import http.client, json")
    yield Row("hob --version", cpu(HOB, "--version"), "s CPU", 0.06, baseline=nothing, beside="python -c pass")
    yield Row("hob --help", cpu(HOB, "--help"), "s CPU", 0.15, baseline=nothing, beside="python -c pass")
    code = DECLARATIONS.format(before="", after="time.process_time() - began")
    read = min(float(check_output([python(), "-c", code])) for _ in range(times))
    yield Row("declarations of all features", read, "s CPU", 0.01)
    alone = run_often((HOB, "ask", "hi"), environ, times)
    beside = f"python -c '{LIBRARIES}'"
    yield Row("hob ask hi, no daemon", alone.cpu, "s CPU", 0.5, baseline=libraries, beside=beside)
    yield Row("hob ask hi, no daemon, until the answer", alone.wall, "s", baseline=libraries, beside=beside)
    with bench.daemon(home):
        attached = cpu(HOB, "ask", "hi")
    beside = "python -c 'import http.client, json'"
    yield Row("hob ask hi, to the daemon", attached, "s CPU", 0.15, baseline=client, beside=beside)
    yield from _daemon(bench, times)


def _daemon(bench: Bench, times: int) -> Iterator[Row]:
    """Measure daemons on empty homes, each with its first message ever. The lowest figures count: other programs only
    add.
    """
    ready: list[float] = []
    cpu: list[float] = []
    first: list[float] = []
    minimum: list[float] = []
    for _ in range(times):
        with ExitStack() as stack:
            daemon = stack.enter_context(bench.daemon(bench.home()))
            ready.append(daemon.ready)
            cpu.append(cpu_of(daemon.pid))
            first.append(seconds_of(daemon.client(), "hi"))
            echo = stack.enter_context(bench.program("echo"))
            minimum.append(seconds_of(echo.client(), "hi"))
    libraries = run_often((python(), "-c", SERVER), bench.environ(bench.root), times)
    beside = f"python -c '{SERVER}'"
    yield Row("hob serve, until ready", min(ready), "s", 0.5, baseline=libraries.wall, beside=beside)
    yield Row("hob serve, until ready", min(cpu), "s CPU", baseline=libraries.cpu, beside=beside)
    beside = "bare asyncio HTTP server, nothing kept"
    yield Row("first turn after the start", min(first), "s", 0.2, baseline=min(minimum), beside=beside)
