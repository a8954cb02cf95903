"""A world of its own for each journey, or one with a running daemon that the journeys of a module share."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from .world import Shared, World, open_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with open_world() as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running() -> AsyncIterator[Shared]:
    """The daemon of a module's journeys that kill nothing and need no settings of their own."""
    async with open_world() as world, world.serve() as daemon:
        yield Shared(world, daemon)


@pytest_asyncio.fixture(loop_scope="module")
async def shared(running: Shared) -> AsyncIterator[Shared]:
    """The same, with nothing under way, nothing said in the main session, nothing in the work folder."""
    world, daemon = running.world, running.daemon
    yield running
    for approval in (await daemon.ask("/approvals"))["approvals"]:
        await daemon.client.post(f"/approvals/{approval['id']}", json={"allowed": False})
    async with asyncio.timeout(20):
        while (status := await daemon.ask("/status"))["running"] or status["waiting"] or status["parked"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await daemon.post("/new")
    for file in world.work.glob("*"):
        if file.is_file():
            file.unlink()
    world.model.requests.clear()
