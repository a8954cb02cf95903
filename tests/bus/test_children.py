"""Child processes end with the bus, and so does all that they started."""

import asyncio
import os
import sys
from pathlib import Path

from hob.bus import Children
from hob.core.clock import SystemClock
from tests.bus.bench import open_bench, until

STUBBORN = (
    "import signal, subprocess, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
    "print(child.pid, flush=True); import time; time.sleep(600)"
)


async def start(code: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, start_new_session=True, stdout=asyncio.subprocess.PIPE
    )


def runs(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_a_shutdown_ends_children_that_will_not_and_their_children(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        process = await start(STUBBORN)
        assert process.stdout is not None
        grandchild = int(await process.stdout.readline())
        with bench.bus.children.listed(process):
            await bench.bus.drain(0.05)
        assert process.returncode is not None
        await until(lambda: not runs(grandchild))


async def test_a_child_that_heeds_is_only_asked() -> None:
    children = Children(SystemClock())
    process = await start("import time; time.sleep(600)")
    with children.listed(process):
        await children.stop(10)
    assert process.returncode == -15


async def test_a_child_that_has_ended_is_no_trouble() -> None:
    children = Children(SystemClock())
    process = await start("pass")
    with children.listed(process):
        await process.wait()
        await children.stop(1)
    assert process.returncode == 0
    assert os.getpid()
