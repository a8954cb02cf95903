"""JavaScript clients with their own tools, OpenAI's and the Vercel AI SDK, against the real daemon."""

import asyncio
import shutil
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from hob.testing.model_server import Reply
from tests.journeys.world import SHARED, TOKEN, Shared, World, held_port

FOLDER = Path(__file__).with_name("clients")

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (FOLDER / "node_modules").is_dir(),
    reason="Node or the clients are missing; `make web` adds them",
)


@pytest.mark.parametrize("client", ["openai_run_tools", "vercel_tools"])
async def test_client_finishes_although_the_daemon_is_killed_during_its_tool(world: World, client: str) -> None:
    with held_port() as held:
        port = str(held)
        async with world.serve(HOB_GATEWAY_PORT=port) as daemon:
            program = FOLDER / f"{client}.mjs"
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


@SHARED
async def test_vercel_sdk_gets_structured_output(shared: Shared) -> None:
    shared.world.model.script += [Reply("Paris."), Reply('{"city": "Paris"}')]  # Hob has the first one corrected
    async with asyncio.timeout(60):
        command = ("node", FOLDER / "vercel_structured.mjs", shared.daemon.url, TOKEN, "Which city?")
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
        answer, _ = await process.communicate()
    assert (process.returncode, answer) == (0, b'{"city":"Paris"}\n')
