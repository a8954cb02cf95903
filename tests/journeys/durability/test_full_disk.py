"""The disk fills up under a running daemon: it refuses messages, waits, and continues by itself."""

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hob.testing.model_server import Reply
from tests.journeys.world import Daemon, World, open_world, until

QUICK = {"HOB_BUS_FAILURE_SECONDS": "0.2", "HOB_BUS_FAILURE_MOST_SECONDS": "0.5"}


@pytest.fixture
async def small() -> AsyncIterator[World]:
    """A world whose home is a file system of three megabytes."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system")
    async with open_world() as world:
        world.home.mkdir()
        if run("mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(world.home)) != 0:
            pytest.skip("mounting a small file system is not permitted here")
        try:
            yield world
        finally:
            assert run("umount", "--lazy", str(world.home)) == 0


def run(*command: str) -> int:
    return subprocess.run(command, capture_output=True, check=False).returncode


def fill(home: Path) -> Path:
    """Use up all remaining space; deleting the file frees it."""
    ballast = home / "ballast"
    with ballast.open("wb", buffering=0) as out:
        for size in (65536, 4096, 512, 1):
            while True:
                try:
                    if out.write(bytes(size)) < size:
                        break
                except OSError:
                    break
    return ballast


async def write_until_refused(daemon: Daemon, prefix: str) -> list[str]:
    """Send messages until one is refused because the disk is full; return the ids of the acknowledged ones."""
    ids: list[str] = []
    for n in range(200):
        response = await daemon.post(f"{prefix} {n} {'x' * 5000}", wait=0, session=f"{prefix}{n}")
        if response.status_code != 202:
            assert (response.status_code, response.json()["error"]["code"]) == (507, "store_full")
            assert int(response.headers["retry-after"]) >= 1
            return ids
        ids.append(response.json()["id"])
    raise AssertionError("the disk never ran full")


async def test_full_disk_loses_nothing_acknowledged_and_recovers_by_itself(small: World) -> None:
    small.model.script.append(Reply("after all", delay=1))
    async with small.serve(**QUICK) as daemon:
        slow = await daemon.accepted("slow", "slow", session="slow")
        await until(lambda: len(small.model.chats) == 1)
        ballast = fill(small.home)
        acknowledged = await write_until_refused(daemon, "full")
        await until(lambda: "api:slow waits for the store" in daemon.errors)
        assert (await daemon.get(slow))["state"] == "running"
        assert (await daemon.client.get("/health")).status_code == 503
        refused = await daemon.post("refused", key="refused", wait=0)
        assert refused.status_code == 507

        ballast.unlink()
        assert (await daemon.get(slow, wait=5))["reply"] == "after all"
        for id in acknowledged:
            assert (await daemon.get(id, wait=5))["state"] == "done"
        assert (await daemon.post("refused", key="refused")).status_code == 200
        assert (await daemon.client.get("/health")).status_code == 200
        assert len((await daemon.ask("/tasks", all=1, limit=1000))["tasks"]) == len(acknowledged) + 2


async def test_daemon_killed_on_a_full_disk_continues_once_there_is_space(small: World) -> None:
    small.model.script.append(Reply("never heard", delay=60))
    async with small.serve(**QUICK) as daemon:
        slow = await daemon.accepted("slow", "slow", session="slow")
        await until(lambda: len(small.model.chats) == 1)
        ballast = fill(small.home)
        acknowledged = await write_until_refused(daemon, "full")
        daemon.kill()
        await daemon.gone()
    said = await small.hob("serve")
    assert said.status == 1
    assert "disk is full" in said.err
    assert "Traceback" not in said.err
    ballast.unlink()
    async with small.serve(**QUICK) as daemon:
        assert (await daemon.get(slow, wait=3))["reply"] == "You said: slow"
        for id in acknowledged:
            assert (await daemon.get(id, wait=3))["state"] == "done"


async def test_commands_without_a_daemon_name_the_full_disk_and_the_next_step(small: World) -> None:
    assert (await small.hob("ask", "hello")).status == 0
    ballast = fill(small.home)
    for command, status in ((("ask", "again"), 1), (("status",), 0)):  # commands that only read still work
        said = await small.hob(*command)
        assert said.status == status
        assert str(small.home) in said.err
        assert "room" in said.err or "space" in said.err
        assert "Traceback" not in said.err
    ballast.unlink()
    assert (await small.hob("ask", "again")).status == 0


async def test_read_only_home_can_be_read_and_exported(small: World) -> None:
    async with small.serve() as daemon:
        assert (await daemon.post("hello there")).status_code == 200
    assert run("mount", "-o", "remount,ro", str(small.home)) == 0
    try:
        exported = await small.hob("export", "--all")
        assert (exported.status, "hello there" in exported.out) == (0, True)
        assert "cannot be written" in exported.err
        for command in (
            ("status",),
            ("timeline",),
            ("tasks", "--all"),
            ("sessions", "list"),
            ("audit",),
            ("config", "show"),
        ):
            assert (await small.hob(*command)).status == 0, command
        asked = await small.hob("ask", "hi")
        assert asked.status != 0
        assert "cannot be written" in asked.err
    finally:
        run("mount", "-o", "remount,rw", str(small.home))
