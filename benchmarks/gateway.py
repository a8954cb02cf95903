"""Cost of the API: a daemon with a hundred typed routes, single calls of them, and read requests to a home in use."""

import asyncio
from collections.abc import Iterator

from benchmarks.bench import Bench, Client
from benchmarks.history import fill
from benchmarks.processes import cpu_of, memory_of, python, run_often, wait_until_idle
from benchmarks.programs.routes import ROUTES
from benchmarks.rows import Row
from hob.app.daemon.unix_http import call
from hob.app.endpoints import ENDPOINTS
from hob.app.home import socket_of

SERVE = (python(), "-m", "benchmarks.programs.routes")
LIBRARIES = "import asyncio, apsw, httptools, starlette.applications, uvicorn"
_MESSAGES = 400
_LOOKS = (
    "/health",
    "/status",
    "/tasks?all=1",
    "/timeline",
    "/usage",
    "/sessions",
    "/unread",
    "/approvals",
    "/v1/models",
)
_PAGES = (
    "/api/v1/status",
    "/api/v1/timeline",
    "/api/v1/tasks",
    "/api/v1/sessions",
    "/api/v1/usage",
    "/api/v1/settings",
    "/api/v1/memory/status",
    "/api/v1/approvals/pending",
)
BARE = "bare asyncio HTTP server, nothing kept"


def measure(bench: Bench) -> Iterator[Row]:
    """Measure CPU until ready, idle memory, and the daemon's CPU per call, with and without a validated body."""
    times, calls = bench.times(7, 3), bench.times(2_000, 300)
    ready: list[float] = []
    memory: list[float] = []
    for _ in range(times):
        with bench.daemon(bench.home(), SERVE) as daemon:
            ready.append(cpu_of(daemon.pid))
            memory.append(memory_of(daemon.pid).pss)
    libraries = run_often((python(), "-c", LIBRARIES), bench.environ(bench.root), times)
    beside = f"python -c '{LIBRARIES}'"
    yield Row("100 routes, until ready", min(ready), "s CPU", 0.6, baseline=libraries.cpu, beside=beside)
    with bench.daemon(bench.home(), SERVE) as daemon, bench.program("echo") as echo:
        minimum = _milliseconds(echo.pid, echo.client(), "POST", "/chat", {"message": "hi"}, calls)
        yield Row("100 routes, idle", min(memory), "MiB PSS", 60, baseline=memory_of(echo.pid).pss, beside=BARE)
        client = daemon.client()
        last = (ROUTES - len(ENDPOINTS) - 1) // 2 * 2  # even numbers are GET routes, odd ones POST
        asked = {"text": "hello", "limit": 10, "everything": True}
        for name, method, path, body in (
            ("GET of the table's last route", "GET", f"/more/{last}/x?limit=10", None),
            ("POST with a body that is checked", "POST", f"/more/{last - 1}/x", asked),
            ("GET /tasks", "GET", "/tasks", None),
        ):
            cost = _milliseconds(daemon.pid, client, method, path, body, calls)
            yield Row(name, cost, "ms CPU", 1.5, baseline=minimum, beside=BARE)
    home = bench.home()
    asyncio.run(fill(home, _MESSAGES))
    with bench.daemon(home) as daemon:
        client = daemon.client()
        wait_until_idle(daemon.pid)  # memory indexes the existing messages first
        for path in _LOOKS:
            cost = _milliseconds(daemon.pid, client, "GET", path, None, max(calls // 4, 100))
            yield Row(f"GET {path}, a home in use", cost, "ms CPU", 1.5, baseline=minimum, beside=BARE)
        before = memory_of(daemon.pid).pss
        page = Client(call(socket_of(home), "POST", "/dashboard/link").body["address"])
        for path in _PAGES:
            cost = _milliseconds(daemon.pid, page, "GET", path, None, max(calls // 4, 100))
            yield Row(f"GET {path}, a home in use", cost, "ms CPU", 1.5, baseline=minimum, beside=BARE)
        grown = memory_of(daemon.pid).pss - before
        yield Row("the dashboard's listener once it was used", grown, "MiB PSS", 10)


def _milliseconds(
    pid: int, client: Client, method: str, path: str, body: dict[str, object] | None, calls: int
) -> float:
    """Return the server's CPU milliseconds per call."""
    for _ in range(20):
        client.call(method, path, body)
    before = cpu_of(pid)
    for _ in range(calls):
        client.call(method, path, body)
    return (cpu_of(pid) - before) / calls * 1_000
