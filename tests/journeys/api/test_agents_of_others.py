"""LangChain's agent and the command `llm`, with their own tools, against the real daemon."""

import asyncio
import json
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from pathlib import Path

import pytest

from hob.testing.model_server import Reply
from tests.journeys.world import TOKEN, World, held_port, until

from .test_openai_sdk import asked

FOLDER = Path(__file__).with_name("clients")
PROGRAMS = Path(__file__).parents[3] / ".venv" / "agents" / "bin"
ASKED = 'CALL get_weather {"city": "Paris"}'

pytestmark = pytest.mark.skipif(
    not (PROGRAMS / "llm").exists(), reason="LangChain and llm are missing; `make .venv/agents` adds them"
)


def langchain(_: Path, url: str) -> list[str]:
    return [str(PROGRAMS / "python"), str(FOLDER / "langchain_agent.py"), url, TOKEN, ASKED]


def llm(folder: Path, url: str) -> list[str]:
    told = {
        "model_id": "hob",
        "model_name": "hob",
        "api_base": f"{url}/v1",
        "api_key_name": "hob",
        "supports_tools": True,
    }
    (folder / "extra-openai-models.yaml").write_text(json.dumps([told]))
    tools = ("-T", "llm_version", "--functions", str(FOLDER / "weather.py"))
    return [str(PROGRAMS / "llm"), "-m", "hob", "--key", TOKEN, *tools, ASKED]


@pytest.mark.parametrize("program", [langchain, llm])
async def test_agent_finishes_although_the_daemon_is_killed_during_its_tool(
    world: World, tmp_path: Path, program: Callable[[Path, str], list[str]]
) -> None:
    ours = {"PYTHONPATH": str(FOLDER.parents[3]), "LLM_USER_PATH": str(tmp_path), "GATE": str(tmp_path)}
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **ours}
    with held_port() as held:
        port = str(held)
        async with world.serve(HOB_GATEWAY_PORT=port) as daemon:
            command = program(tmp_path, f"http://127.0.0.1:{port}")
            process = await asyncio.create_subprocess_exec(*command, env=environ, stdin=DEVNULL, stdout=PIPE)
            await until(lambda: (tmp_path / "called").exists() or process.returncode is not None, 60)
            daemon.kill()
            await daemon.gone()
        async with world.serve(HOB_GATEWAY_PORT=port), asyncio.timeout(60):
            (tmp_path / "go").touch()
            answer, _ = await process.communicate()
        assert process.returncode == 0
        assert b"rain in Paris" in answer


async def test_langchains_structured_output_arrives_although_the_daemon_is_killed(world: World, tmp_path: Path) -> None:
    world.model.script += [Reply("Never heard.", delay=30), Reply('{"name": "Paris", "rain": true}')]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(FOLDER.parents[3])}
    with held_port() as held:
        port = str(held)
        async with world.serve(HOB_GATEWAY_PORT=port) as daemon:
            command = [str(PROGRAMS / "python"), str(FOLDER / "langchain_structured.py"), f"http://127.0.0.1:{port}"]
            process = await asyncio.create_subprocess_exec(
                *command, TOKEN, "Paris?", env=environ, stdin=DEVNULL, stdout=PIPE
            )
            await until(lambda: asked(world) or process.returncode is not None, 60)
            daemon.kill()
            await daemon.gone()
        async with world.serve(HOB_GATEWAY_PORT=port), asyncio.timeout(60):
            answer, _ = await process.communicate()
    assert process.returncode == 0
    assert answer == b"name='Paris' rain=True\n"
