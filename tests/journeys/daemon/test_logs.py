"""The daemon's log tells what happened and no word of what was said."""

import json
import signal
from collections.abc import AsyncIterator

import pytest

from hob.testing.model_server import Fault, Reply
from tests.journeys.world import World, open_world, until

CANARY = "canary-9f3c-of-a-message"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with open_world() as opened:
        yield opened


def logged(world: World) -> list[dict[str, str]]:
    return [json.loads(line) for line in (world.home / "logs" / "hob.log").read_text().splitlines()]


@pytest.mark.bubblewrap
async def test_message_texts_are_not_logged_from_info_up(world: World) -> None:
    async with world.serve(HOB_LOGS_FORMAT="json") as daemon:
        reply = await daemon.post(f"{CANARY} asks", key=f"{CANARY}-key")
        assert reply.json()["reply"] == f"You said: {CANARY} asks"
        await daemon.post(f'CALL exec {{"command": "echo {CANARY}; exit 3"}}')
        await daemon.post(f'CALL read {{"path": "/nowhere/{CANARY}"}}')
        await daemon.post(f"/nonsense {CANARY}")
        world.model.script.append(Reply(fault=Fault.BAD_REQUEST))
        assert (await daemon.post(f"{CANARY} fails")).json().get("error")
        daemon.process.terminate()
        await daemon.gone()
        assert CANARY not in daemon.errors
    lines = logged(world)
    assert CANARY not in json.dumps(lines)
    texts = [line["text"] for line in lines]
    assert any("accepted from api" in text for text in texts)
    assert any(" done after " in text for text in texts)
    assert any(" failed, " in text for text in texts)
    assert texts[-1] == "hob has ended"
    traces = {line["trace"] for line in lines if "accepted" in line["text"]}
    assert traces == {line["trace"] for line in lines if " after " in line["text"]}


async def test_unclean_end_is_logged_at_the_next_start(world: World) -> None:
    async with world.serve(HOB_LOGS_FORMAT="json") as daemon:
        daemon.kill()
        await daemon.gone()
    async with world.serve(HOB_LOGS_FORMAT="json") as daemon:
        await until(lambda: any("the last run was killed" in line["text"] for line in logged(world)))
        daemon.signal(signal.SIGTERM)
        assert await daemon.gone() == 0


async def test_log_says_why_a_daemon_broke(world: World) -> None:
    async with world.serve():
        pass
    (world.home / "hob.db").write_bytes(b"no database at all, and long enough to be looked at" * 100)
    said = await world.hob("serve")
    assert said.status == 1
    assert (
        "CRITICAL hob.app.logs.log_file - Hob ends: The database is damaged"
        in (world.home / "logs" / "hob.log").read_text()
    )
