"""`hob stop --all` and `hob resume`: turns, commands, sub-agents and calls of MCP servers end, and nothing starts."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.world import Daemon, World, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.bubblewrap,
    pytest.mark.skipif(find_spec("mcp") is None, reason="the library is missing"),
]
AUTONOMOUS = {"HOB_POLICY_AUTONOMY": "autonomous"}


def is_running(command: str) -> bool:
    wanted = command.encode().replace(b" ", b"\0") + b"\0"
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if process.read_bytes() == wanted:
                return True
        except OSError:
            continue  # it has just ended
    return False


async def status(world: World) -> dict[str, Any]:
    seen: dict[str, Any] = json.loads((await world.hob("status", "--json")).out)
    return seen


async def open_tools(daemon: Daemon, *names: str) -> None:
    told = await daemon.post(f"CALL load_tools {json.dumps({'names': names})}", session="main")
    assert "can be called now" in told.json()["reply"]


async def test_stop_all_ends_everything_and_holds_hobs_own_work_over_a_kill(world: World) -> None:
    from hob.tools.mcp.accepted import save_accepted
    from hob.tools.mcp.settings import McpServer
    from tests.tools.mcp.reaching import accept, connected, on_loopback

    async with on_loopback(world.root) as url:
        world.home.mkdir(exist_ok=True)
        async with connected(world.home, McpServer(url=url)) as connection:
            save_accepted(world.home, await accept(connection))
        (world.home / "config.toml").write_text(f'[mcp.notes]\nurl = "{url}"\n[policy]\nmode = "full"\n')
        (world.home / "config.toml").chmod(0o600)
        async with world.serve(**AUTONOMOUS) as daemon:
            await open_tools(daemon, "notes__bake", "agents")
            await daemon.post('CALL spawn {"task": "FAULT silence"}', session="main")
            await until(lambda: any(b"You are a sub-agent" in each.body for each in world.model.chats))
            calls = ['CALL notes__bake {"what": "forever"}', 'CALL exec {"command": "sleep 4321"}', "FAULT silence"]
            baking = await daemon.accepted(calls[0], "bake", session="main")
            others = [await daemon.accepted(text, text, session=text[-9:-2]) for text in calls[1:]]
            await until(lambda: (world.root / "forever.begun").exists() and is_running("sleep 4321"))
            await until(lambda: any(b"FAULT silence" in each.body[-300:] for each in world.model.chats))

            said = await world.hob("stop", "--all")
            assert said.out.startswith("Everything is stopped (")
            for id in (baking, *others):
                assert (await daemon.get(id, wait=10))["state"] == "cancelled"
            await until(lambda: (world.root / "forever.cancelled").exists() and not is_running("sleep 4321"))
            assert not (await status(world))["subagents"]
            daemon.kill()
            await daemon.gone()
        async with world.serve(**AUTONOMOUS) as daemon:
            assert (await daemon.post("hello", session="other")).json()["reply"] == "You said: hello"
            await daemon.post('CALL spawn {"task": "count"}', session="main")
            seen = await status(world)
            assert seen["halted"]
            assert [each["state"] for each in seen["subagents"]] == ["accepted"]
            assert (await world.hob("resume")).out == "Hob continues its own work.\n"
            await until(
                lambda: any(b"count" in each.body and b"a sub-agent" in each.body for each in world.model.chats)
            )
            assert (await world.hob("resume")).out == "Nothing was stopped.\n"

            assert "Everything is stopped" in (await daemon.post("/stop all", session="main")).json()["reply"]
            assert (await status(world))["halted"]
            await daemon.post("/resume", session="main")
            assert not (await status(world))["halted"]
