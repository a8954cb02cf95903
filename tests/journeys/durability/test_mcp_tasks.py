"""A call that became a task of an MCP server outlives the daemon."""

from importlib.util import find_spec

import pytest

from hob.testing.model_server import Reply
from tests.bus.bench import until
from tests.journeys.world import World

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_spec("mcp") is None, reason="the library is missing")]


async def test_mcp_task_survives_a_kill_and_its_result_reaches_the_model(world: World) -> None:
    from hob.tools.mcp.accepted import save_accepted
    from hob.tools.mcp.settings import McpServer
    from tests.tools.mcp.reaching import accept, connected, on_loopback

    async with on_loopback(world.root) as url:
        world.home.mkdir(exist_ok=True)
        async with connected(world.home, McpServer(url=url)) as connection:
            save_accepted(world.home, await accept(connection))
        (world.home / "config.toml").write_text(f'[mcp.notes]\nurl = "{url}"\n[policy]\nmode = "full"\n')
        (world.home / "config.toml").chmod(0o600)
        world.model.script.extend(
            [
                Reply(calls=(("load_tools", '{"names": ["notes__bake"]}'),)),
                Reply(calls=(("notes__bake", '{"what": "slow"}'),)),
                Reply("It is ready."),
            ]
        )
        async with world.serve(HOB_POLICY_AUTONOMY="autonomous") as daemon:
            id = await daemon.accepted("Bake it.", "k", session="main")
            await until(lambda: (world.root / "slow.begun").exists())
            daemon.kill()
            await daemon.gone()
        (world.root / "slow.done").touch()
        async with world.serve(HOB_POLICY_AUTONOMY="autonomous") as daemon:
            told = await daemon.get(id, wait=30)
    assert told["reply"] == "It is ready."
    assert b"slow is baked" in world.model.requests[-1].body
    assert (world.root / "slow.calls").read_text() == "."
