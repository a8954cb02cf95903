"""The programs that the benchmarks measure do what their rows say."""

from contextlib import closing

import pytest

from benchmarks.bench import open_bench
from benchmarks.gateway import SERVE
from benchmarks.programs.routes import ROUTES
from hob.app.endpoints import ENDPOINTS


@pytest.mark.slow
def test_daemon_with_a_hundred_routes_answers_at_the_last_one() -> None:
    last = (ROUTES - len(ENDPOINTS) - 1) // 2 * 2
    with (
        open_bench(quick=True) as bench,
        bench.daemon(bench.home(), SERVE) as daemon,
        closing(daemon.client()) as client,
    ):
        client.get(f"/more/{last}/x?limit=10")  # a refusal is an error
        client.call("POST", f"/more/{last - 1}/x", {"text": "hello"})
