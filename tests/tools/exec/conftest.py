from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.calling import text_of
from tests.tools.commanding import Bench, open_bench
from tests.tools.exec.running import Running


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench("bubblewrap", tmp_path) as bench:
        yield bench


@pytest.fixture
async def running(bench: Bench, tmp_path: Path) -> Running:
    await text_of(bench.tools, "exec", command="git init -q lib; git init -q other")
    return Running(bench, tmp_path / "others")
