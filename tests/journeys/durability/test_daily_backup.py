"""The daemon makes a backup each day; kill -9 in the middle leaves nothing that could pass for one."""

import asyncio
import json
import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from tests.journeys.world import World, open_world, until


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """A home with so much data that a backup takes a while."""
    async with open_world() as opened:
        async with open_store(opened.home, StoreSettings(), SystemClock()) as store:
            for _ in range(30):
                await store.blobs.put(os.urandom(2_000_000), "image/png")
        for folder in ("backups", "logs", "secrets"):
            (opened.home / folder).mkdir(mode=0o700)
        connection = sqlite3.connect(opened.home / "hob.db")
        connection.execute("UPDATE runs SET began = 0")
        connection.commit()
        connection.close()
        yield opened


def whole(world: World) -> list[Path]:
    return sorted((world.home / "backups").glob("*.db"))


def parts(world: World) -> list[Path]:
    return list((world.home / "backups").glob(".*"))


async def test_killed_backup_is_discarded_and_repeated_at_the_next_start(world: World) -> None:
    async with world.serve() as daemon:
        await until(lambda: parts(world))
        daemon.kill()
        await daemon.gone()
    assert whole(world) == []
    async with world.serve() as daemon:
        await until(lambda: whole(world), 20)
        assert (await daemon.post("hi")).json()["reply"]
        backups = (await daemon.ask("/status"))["backups"]
        assert (backups["kept"], backups["problem"]) == (1, None)
        said = await world.hob("status")
        assert "1 kept" in said.out
    assert parts(world) == []
    async with world.serve():
        await asyncio.sleep(0)
    (file,) = whole(world)
    said = await world.hob("restore", str(file))
    assert said.status == 0, said.err
    assert json.loads((await world.hob("status", "--json")).out)["store"] == "ok"
