"""One message that kills the daemon whenever it runs, among others that do not."""

from contextlib import suppress

import pytest

from hob.testing.model_server import Reply
from tests.journeys.world import LOST, Daemon, World, until

INNOCENTS = 5


async def send_all(world: World, daemon: Daemon, poison: str) -> tuple[str, list[str]]:
    """Send harmless messages, each in its own session, and one that is not; return their ids."""
    world.model.script.extend(Reply("too late", delay=30) for _ in range(INNOCENTS))
    innocent = [await daemon.accepted(f"hello {n}", f"key {n}", session=f"s{n}") for n in range(INNOCENTS)]
    await until(lambda: len(world.model.chats) == INNOCENTS)
    return await world.say(poison, "poison", "anna"), innocent


@pytest.mark.parametrize(
    ("text", "poison", "reply"),
    [
        ('CALL poison {"a": 1}', "", "nothing"),
        ("Take the venom", "venom", "You said: Take the venom"),
        ('CALL never {"mark": "venom"}', "venom", "did venom"),
    ],
    ids=["tool", "model", "model and tool"],
)
async def test_crashing_message_is_quarantined_alone_and_can_be_retried(
    world: World, text: str, poison: str, reply: str
) -> None:
    async with world.harness("", poison) as daemon:
        guilty, innocent = await send_all(world, daemon, text)
        assert await daemon.gone() == -9
    for newcomer in ("first", "second"):
        async with world.harness("", poison) as daemon:
            with suppress(*LOST):
                innocent.append(await daemon.accepted("hello again", newcomer, session=newcomer))
            assert await daemon.gone() == -9
    async with world.harness("", poison) as daemon:
        view = await daemon.get(guilty, wait=3)
        assert (view["state"], view["reply"], view["error"]["code"]) == ("set_aside", None, "set_aside")
        assert [(await daemon.get(id, wait=3))["state"] for id in innocent] == ["done"] * len(innocent)
        assert (await daemon.post("are you there?")).json()["reply"] == "You said: are you there?"
        await until(lambda: world.shown("anna") == [view["error"]["message"]])
    (world.platform / "antidote").touch()
    async with world.harness() as daemon:
        assert (await world.hob("retry", guilty)).status == 0
        view = await daemon.get(guilty, wait=3)
        assert view["state"] == "done"
        assert reply in view["reply"]
        await until(lambda: view["reply"] in world.shown("anna"))
    assert len(world.shown("anna")) == 2
    assert world.effects("never") == (["venom"] if reply == "did venom" else [])
