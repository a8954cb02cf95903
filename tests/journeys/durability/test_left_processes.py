"""The next start kills processes that a killed Hob left running, even if they were detached."""

import contextlib
import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.journeys.world import World, until

_HANGS = """#!/bin/sh
test "{name}" = bwrap && test ! -e "{folder}/hangs" && exec {real} "$@"
echo $$ > "{folder}/new"
mv "{folder}/new" "{folder}/pid"
sleep 987
"""


def _group(leader: int) -> list[int]:
    """Return the processes of this group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] not in "ZX":
            found.append(int(stat.parent.name))
    return found


def _program(world: World, name: str) -> Path:
    """A program of this name that writes its process into a file and hangs; bwrap only once it is told to."""
    folder = world.root / "bin"
    folder.mkdir()
    (folder / name).write_text(_HANGS.format(folder=folder, name=name, real=shutil.which("bwrap")))
    (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize("what", ["a model's CLI", pytest.param("a sandbox", marks=pytest.mark.bubblewrap)])
async def test_next_start_kills_processes_of_a_killed_daemon(world: World, what: str) -> None:
    cli = what == "a model's CLI"
    folder = _program(world, "claude" if cli else "bwrap")
    path = f"{folder}:{os.environ['PATH']}"
    environ = {"PATH": path, "HOB_MODEL_NAME": "claude-cli"} if cli else {"PATH": path}
    async with world.serve(**environ) as daemon:
        text = "hello" if cli else 'CALL exec {"command": "sleep 987"}'
        if not cli:  # the sandbox is detected with the first command
            await daemon.post('CALL exec {"command": "true"}')
            (folder / "hangs").touch()
        await daemon.accepted(text, "1")
        await until((folder / "pid").exists)
        pid = int((folder / "pid").read_text())
        watchers = set(_group(pid))
        for each in watchers:
            os.kill(each, signal.SIGSTOP)
        daemon.kill()
        await daemon.gone()
    assert watchers <= set(_group(pid))
    assert not cli or list(world.home.glob("cache/claude-cli/run-*"))
    try:
        async with world.serve():
            await until(lambda: not _group(pid))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    assert not list(world.home.glob("cache/claude-cli/run-*"))
    assert not list(world.home.glob("run/*"))
