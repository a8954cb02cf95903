"""Running commands: output, input, limits, and ending with everything they started."""

import asyncio
import hashlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import NotFound, ToolFailed
from hob.tools.sandbox.job import EndReason, Limits, Window
from hob.tools.sandbox.processes import Processes
from hob.tools.sandbox.running_command import OutputCallbacks, run, start
from tests.tools.sandbox.conftest import Place, make_backend


@pytest.fixture
def mark() -> str:
    """Return a sleep duration that no other process uses."""
    return f"98765.{secrets.randbelow(10**9):09}"


def alive(mark: str) -> bool:
    """Return whether any process has the mark in its command line, except a shell that starts one."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"sleep") and mark.encode() in words:
            return True
    return False


def begun(mark: str) -> bool:
    """Return whether it is running within a few seconds; a shell may not have started its program yet."""
    until = time.monotonic() + 5
    while not alive(mark) and time.monotonic() < until:
        time.sleep(0.01)
    return alive(mark)


def gone(mark: str) -> bool:
    """Return whether it is gone within a few seconds, for processes nobody waits for."""
    until = time.monotonic() + 5
    while alive(mark) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(mark)


@asynccontextmanager
async def open_processes(place: Place) -> AsyncIterator[Processes]:
    """Background commands in this place, killed at the end of the block."""
    processes = Processes(place.backend, SystemClock(), Limits())
    try:
        yield processes
    finally:
        await processes.close()


async def test_command_returns_output_and_status(place: Place) -> None:
    finished = await place.run("sh", "-c", "echo out; echo err >&2; exit 3")
    assert (finished.reason, finished.status, finished.output) == (EndReason.EXITED, 3, b"out\nerr\n")


async def test_ending_signal_is_reported(place: Place) -> None:
    assert (await place.run("sh", "-c", "kill -9 $$")).signal == 9


async def test_missing_command_is_reported(place: Place) -> None:
    finished = await place.run("no-such-command")
    assert finished.status != 0
    assert b"no-such-command" in finished.output


async def test_complete_input_is_delivered(place: Place) -> None:
    data = os.urandom(300_000)
    finished = await place.run("sha256sum", stdin=data)
    assert finished.output.decode().split()[0] == hashlib.sha256(data).hexdigest()


async def test_command_without_input_reads_end_of_file(place: Place) -> None:
    assert (await place.run("cat")).output == b""


async def test_long_output_is_passed_on_completely_and_kept_without_its_middle(place: Place) -> None:
    heard: list[bytes] = []
    listening = replace(place, callbacks=OutputCallbacks(output=heard.append))
    finished = await listening.run("seq", "200000")
    assert finished.output.startswith(b"1\n2\n")
    assert finished.output.endswith(b"199999\n200000\n")
    assert len(b"".join(heard)) == len(finished.output) + finished.left_out == 1288895


async def test_endless_output_stops_the_command(place: Place) -> None:
    limits = Limits(output=1_000_000)
    finished = await run(place.backend, place.job("yes"), SystemClock(), limits=limits, seconds=20)
    assert finished.reason is EndReason.TOO_MUCH_OUTPUT


async def test_command_gets_sigterm_at_the_timeout(place: Place) -> None:
    script = "trap 'echo goodbye; exit 0' TERM; echo begun; while :; do sleep 0.05; done 2>&-"
    finished = await place.run("sh", "-c", script, seconds=0.5)
    assert finished.reason is EndReason.TIMED_OUT
    assert finished.output == b"begun\ngoodbye\n"


async def test_command_ignoring_sigterm_is_killed(place: Place, mark: str) -> None:
    running = await start(
        place.backend, place.job("sh", "-c", f"trap '' TERM; sleep {mark}"), SystemClock(), limits=Limits()
    )
    finished = await running.stop(grace=0.2)
    assert finished.reason is EndReason.STOPPED
    assert not alive(mark)


async def test_background_process_does_not_outlive_its_command(place: Place, mark: str) -> None:
    code = f"""
import os, sys
if os.fork(): sys.exit(5)
os.setsid()
if os.fork(): sys.exit()
os.execvp("sleep", ["sleep", "{mark}"])
"""
    finished = await place.run("python3", "-c", code)
    assert finished.status == 5
    assert not alive(mark)


async def test_background_process_does_not_outlive_the_timeout(place: Place, mark: str) -> None:
    script = f"(setsid sh -c 'trap \"\" TERM HUP; sleep {mark}' &) ; sleep {mark}"
    await place.run("sh", "-c", script, seconds=0.5)
    assert not alive(mark)


async def test_cancelled_call_leaves_no_process(place: Place, mark: str) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await place.run("sh", "-c", f"sleep {mark} & wait", seconds=60)
    assert gone(mark)


async def test_killed_hob_leaves_no_process(place: Place, mark: str, tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
from pathlib import Path
from hob.core.clock import SystemClock
from hob.tools.sandbox.job import Limits
from hob.tools.sandbox.running_command import start
from tests.tools.sandbox.conftest import make_place

async def main():
    place = make_place({place.backend.name!r}, Path({str(tmp_path)!r}, "hob"))
    job = place.job("sh", "-c", "(setsid sleep {mark} &) ; echo begun; sleep {mark}")
    running = await start(place.backend, job, SystemClock(), limits=Limits())
    while b"begun" not in running.output.kept:
        await asyncio.sleep(0.01)
    print("ready", flush=True)
    await running.wait()

asyncio.run(main())
"""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    hob = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=subprocess.PIPE, env=environ)
    assert hob.stdout is not None
    try:
        assert await hob.stdout.readline() == b"ready\n"
        assert begun(mark)
    finally:
        hob.kill()
        await hob.wait()
    assert gone(mark)


async def test_killed_hob_leaves_no_sandbox_in_setup(wrapped: Place, mark: str, tmp_path: Path) -> None:
    """Until bwrap had bound itself to its parent's life, nothing else did."""
    slow = tmp_path / "bwrap"
    slow.write_text(f"#!/bin/sh\necho making >> {tmp_path}/made\nsleep {mark}\n")
    slow.chmod(0o755)
    program = f"""
import asyncio
from dataclasses import replace
from pathlib import Path
from hob.core.clock import SystemClock
from hob.tools.sandbox.job import Limits
from hob.tools.sandbox.running_command import start
from tests.tools.sandbox.conftest import make_place

async def main():
    place = make_place("bubblewrap", Path({str(tmp_path)!r}, "hob"))
    slow = replace(place.backend, program={str(slow)!r})
    running = await start(slow, place.job("true"), SystemClock(), limits=Limits())
    while not Path({str(tmp_path)!r}, "made").exists():
        await asyncio.sleep(0.01)
    print("ready", flush=True)
    await running.wait()

asyncio.run(main())
"""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    hob = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=subprocess.PIPE, env=environ)
    assert hob.stdout is not None
    try:
        assert await hob.stdout.readline() == b"ready\n"
    finally:
        hob.kill()
        await hob.wait()
    assert gone(mark)


async def test_command_with_a_window_has_a_terminal(place: Place) -> None:
    script = "test -t 0 && test -t 1 && stty size"
    assert (await place.run("sh", "-c", script, window=Window(33, 99))).output == b"33 99\r\n"


async def test_interrupt_key_stops_the_foreground_process(place: Place) -> None:
    code = """
import time
try:
    print("begun", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("stopped")
"""
    job = place.job("python3", "-c", code, window=Window())
    heard = asyncio.Event()
    callbacks = OutputCallbacks(output=lambda piece: heard.set() if b"begun" in piece else None)
    running = await start(place.backend, job, SystemClock(), limits=Limits(), interactive=True, callbacks=callbacks)
    await heard.wait()
    running.write(b"\x03")
    finished = await running.wait(60)
    assert finished is not None
    assert finished.output.endswith(b"stopped\r\n")


async def test_background_command_can_be_polled_and_written_to(place: Place) -> None:
    async with open_processes(place) as processes:
        job = place.job("sh", "-c", "read name; echo hello $name; read rest; exit 4")
        heard = asyncio.Event()
        callbacks = OutputCallbacks(output=lambda piece: heard.set() if b"Anna" in piece else None)
        name, _ = await processes.start(job, "session", callbacks=callbacks)
        processes.write(name, "session", b"Anna\n")
        await heard.wait()
        polled = await processes.poll(name, "session")
        assert (polled.news, polled.finished) == (b"hello Anna\n", None)
        processes.write(name, "session", b"", end=True)
        polled = await processes.poll(name, "session", seconds=10)
        assert polled.finished is not None
        assert polled.finished.status == 4


async def test_command_belongs_to_its_starter(place: Place) -> None:
    async with open_processes(place) as processes:
        name, _ = await processes.start(place.job("sleep", "60"), "mine")
        with pytest.raises(NotFound):
            await processes.stop(name, "yours")
        assert [listed.id for listed in processes.list("mine")] == [name]
        assert processes.list("yours") == ()


async def test_background_commands_end_with_hob(place: Place, mark: str) -> None:
    async with open_processes(place) as processes:
        await processes.start(place.job("sleep", mark), "session")
    assert not alive(mark)


async def test_command_that_does_not_read_gets_no_more_input(place: Place) -> None:
    running = await start(place.backend, place.job("sleep", "60"), SystemClock(), limits=Limits(), interactive=True)
    try:
        running.write(b"x" * 4_000_000)
        with pytest.raises(ToolFailed, match="has not read"):
            running.write(b"x" * 400_000)
    finally:
        await running.stop(grace=0)


async def test_memory_is_limited(place: Place) -> None:
    small = smaller(place, Limits(memory=200 * 1024 * 1024))
    finished = await small.run("python3", "-c", "x = bytearray(400 * 1024 * 1024); print('had it')")
    assert b"had it" not in finished.output


async def test_file_size_is_limited(place: Place) -> None:
    small = smaller(place, Limits(file=1024 * 1024))
    await small.sh("head -c 5000000 /dev/zero > big")
    assert (place.work / "big").stat().st_size == 1024 * 1024


@pytest.mark.slow
async def test_total_bytes_written_to_disk_are_limited(place: Place) -> None:
    place = smaller(place, Limits(written=20 * 2**20))
    script = "for n in 1 2 3 4; do head -c 10M /dev/zero > f$n; done; sleep 60"
    finished = await place.run("sh", "-c", script, seconds=30)
    assert finished.reason is EndReason.TOO_MUCH_WRITTEN
    assert (await place.run("sh", "-c", "rm f*; head -c 10M /dev/zero > g; sleep 1.5")).status == 0


async def test_open_files_are_limited(place: Place) -> None:
    small = smaller(place, Limits(open_files=64))
    assert "Too many open files" in await small.python("x = [open('/dev/null') for _ in range(100)]")


@pytest.mark.slow
async def test_cpu_time_is_limited(place: Place) -> None:
    small = smaller(place, Limits(cpu_seconds=1))
    finished = await small.run("python3", "-c", "while True: pass", seconds=20)
    assert finished.signal in {signal.SIGKILL, signal.SIGXCPU}


async def test_fork_bomb_affects_only_its_sandbox(place: Place) -> None:
    if os.geteuid() == 0 and not getattr(place.backend, "groups", None):
        pytest.skip("root's processes are not counted, and there are no control groups here")
    small = smaller(place, Limits(processes=50))
    code = """
import os, time
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        made += 1
except BlockingIOError:
    pass
print(made)
"""
    assert int(await small.python(code)) < 60


def smaller(place: Place, limits: Limits) -> Place:
    around = replace(place.sandbox_environment, limits=limits)
    return replace(place, sandbox_environment=around, backend=make_backend(place.backend.name, around))
