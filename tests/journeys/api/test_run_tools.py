"""OpenAI's JavaScript client with `runTools` against the real daemon."""

import asyncio
import shutil
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.journeys.world import TOKEN, World, held_port

FOLDER = Path(__file__).with_name("clients")

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (FOLDER / "node_modules").is_dir(),
    reason="Node or the client is missing; `make web` adds them",
)


async def test_run_tools_finishes_although_the_daemon_is_killed(
    world: World,
) -> None:
    with held_port() as held:
        port = str(held)
        async with world.serve(HOB_GATEWAY_PORT=port) as daemon:
            program = FOLDER / "openai_run_tools.mjs"
            arguments = (f"http://127.0.0.1:{port}", TOKEN, 'CALL get_weather {"city": "Paris"}')
            process = await asyncio.create_subprocess_exec("node", program, *arguments, stdin=PIPE, stdout=PIPE)
            assert process.stdout is not None
            assert process.stdin is not None
            async with asyncio.timeout(60):
                assert await process.stdout.readline() == b"called\n"
            daemon.kill()
            await daemon.gone()
        process.stdin.write(b"go on\n")  # the next request finds no daemon and is retried
        async with world.serve(HOB_GATEWAY_PORT=port), asyncio.timeout(60):
            answer, _ = await process.communicate()
        assert process.returncode == 0
        assert b"rain in Paris" in answer
