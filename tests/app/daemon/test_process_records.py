"""A Hob ends what the one before it has left running, and nothing else."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from hob.app.daemon.process_records import RunningProcesses, start_time

_TREE = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        os.execvp("sleep", ["sleep", "60"])
time.sleep(60)
"""


async def _tree() -> tuple[asyncio.subprocess.Process, int]:
    """A process, and one below it in a session of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _TREE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    return process, int(await process.stdout.readline())


async def _gone(pid: int) -> bool:
    async with asyncio.timeout(10):
        while start_time(pid):  # noqa: ASYNC110 - it is no child of ours
            await asyncio.sleep(0.01)
    return True


async def test_process_tree_of_a_killed_hob_is_ended(tmp_path: Path) -> None:
    process, below = await _tree()
    folder = tmp_path / "cache" / "run-1"
    folder.mkdir(parents=True)
    RunningProcesses(tmp_path).add(process.pid, folder)
    RunningProcesses(tmp_path).reap()
    assert await process.wait() == -signal.SIGKILL
    assert await _gone(below)
    assert not folder.exists()
    assert not list((tmp_path / "run").iterdir())


async def test_process_with_a_reused_pid_is_left_alone(tmp_path: Path) -> None:
    process, below = await _tree()
    records = RunningProcesses(tmp_path)
    records.add(process.pid)
    record = tmp_path / "run" / str(process.pid)
    record.write_text(record.read_text().replace(start_time(process.pid), "some-boot 17"))
    records.reap()
    try:
        assert start_time(process.pid)
        assert start_time(below)
        assert not record.exists()
    finally:
        os.killpg(os.getpgid(below), signal.SIGKILL)
        process.kill()
        await process.wait()


def test_damaged_or_foreign_record_is_harmless(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    (home / "run").mkdir(parents=True)
    elsewhere.mkdir()
    (home / "run" / "1").write_text('{"began": "')
    (home / "run" / "none").write_text("[]")
    (home / "run" / "99999999").write_text(f'{{"began": "then", "folder": "{elsewhere}"}}')
    RunningProcesses(home).reap()
    assert elsewhere.is_dir()
    assert not list((home / "run").iterdir())
