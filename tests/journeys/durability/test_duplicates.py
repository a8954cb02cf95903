"""The same key makes one turn and gets one answer: concurrently, later, and after a restart."""

import asyncio
import signal

import pytest

from hob.testing.model_server import Reply
from tests.journeys.world import SHARED, Shared, World


@SHARED
async def test_twenty_concurrent_duplicates_make_one_turn(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    world.model.script.append(Reply("one answer", delay=0.3))
    responses = await asyncio.gather(*(daemon.post("hello", key="twenty") for _ in range(20)))
    assert {response.status_code for response in responses} == {200}
    assert len({response.text for response in responses}) == 1
    assert responses[0].json()["reply"] == "one answer"
    assert len(world.model.chats) == 1


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
async def test_duplicate_gets_the_same_answer_later_and_after_a_restart(world: World, end: signal.Signals) -> None:
    async with world.serve() as daemon:
        first = (await daemon.post("hello", key="same", session="a")).json()
        other = (await daemon.post("hello", key="other", session="a")).json()
        later = (await daemon.post("hello", key="same", session="a")).json()
        daemon.signal(end)
        await daemon.gone()
    async with world.serve() as daemon:
        restarted = (await daemon.post("hello", key="same", session="a")).json()
    assert first == later == restarted
    assert first["reply"] == "You said: hello"
    assert other["id"] != first["id"]
    assert len(world.model.chats) == 2


@SHARED
async def test_key_is_bound_to_content_and_destination(shared: Shared) -> None:
    daemon = shared.daemon
    first = await daemon.post("hello", key="said")
    second = await daemon.post("hello", key="said")
    others = [await daemon.post("hello", key="said", session="elsewhere"), await daemon.post("goodbye", key="said")]
    assert second.json() == first.json()
    assert [(each.status_code, each.json()["error"]["code"]) for each in others] == [(409, "key_reused")] * 2


@pytest.mark.parametrize("command", ["/status", "/new"])
async def test_duplicate_command_runs_once(world: World, command: str) -> None:
    async with world.serve() as daemon:
        first = await daemon.post(command, key="same")
        await daemon.post("hello")
        again = await daemon.post(command, key="same")
        daemon.kill()
    async with world.serve() as daemon:
        restarted = await daemon.post(command, key="same")
    assert first.status_code == 200
    assert first.json()["reply"]
    assert first.json() == again.json() == restarted.json()


@SHARED
async def test_client_that_cannot_wait_is_told_where_to_fetch_the_answer(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    world.model.script.append(Reply("at last", delay=0.5))
    first = await daemon.post("hello", key="late", wait=0)
    assert (first.status_code, first.json()["reply"]) == (202, None)
    assert first.headers["location"] == f"/chat/{first.json()['id']}"
    assert (await daemon.get(first.json()["id"], wait=5))["reply"] == "at last"
    assert (await daemon.post("hello", key="late", wait=0)).status_code == 200


async def test_platform_that_delivers_twice_gets_one_answer(world: World) -> None:
    async with world.harness() as daemon:
        ids = await asyncio.gather(*(world.say("hello", "same", "anna") for _ in range(5)))
        await daemon.get(ids[0], wait=5)
        daemon.kill()
    async with world.harness() as daemon:
        assert {await world.say("hello", "same", "anna"), *ids} == {ids[0]}
        daemon.signal(signal.SIGTERM)
        assert await daemon.gone() == 0
    assert world.shown() == ["You said: hello"]
