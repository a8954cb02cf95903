"""The daemon keeps its locks on the database, whatever else happens in its home."""

import sys

import pytest

from tests.journeys.world import World

LOCKED = {"hob.db", "hob.db-shm"}


@pytest.mark.skipif(sys.platform != "linux", reason="locks are listed by Linux alone")
async def test_daemon_keeps_its_locks_while_others_read_its_home(world: World) -> None:
    async with world.harness() as daemon:
        assert (await daemon.post("hello")).status_code == 200
        assert daemon.locks(world.home) == LOCKED
        commands = (
            ("backup", str(world.home / "backups" / "mine.db")),
            ("export", "--all"),
            ("doctor", "--offline"),
            ("security", "audit"),
            ("rebuild", "--check"),
            ("audit", "verify"),
            ("status",),
        )
        for command in commands:
            await world.hob(*command)
            assert daemon.process.returncode is None, daemon.errors
            assert daemon.locks(world.home) == LOCKED, command
        assert (await daemon.post("still there?")).status_code == 200
