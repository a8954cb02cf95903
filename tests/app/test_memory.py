"""What is said to Hob enters its memory, once, and can be taken up again from the beginning."""

import asyncio
from pathlib import Path

from hob.app.memory.opening import FOLLOWER
from hob.core.memory import Scope
from tests.app.visiting import ANNA, ME, Visited, visited

OWNER = Scope("owner")


async def eventually(hob: Visited, wanted: list[str], person: str = "owner") -> None:
    """Wait until the memory holds exactly what was said."""
    async with asyncio.timeout(10):
        while await texts(hob, Scope(person)) != wanted:  # noqa: ASYNC110 - a real thread writes it
            await asyncio.sleep(0.005)


async def texts(hob: Visited, scope: Scope = OWNER) -> list[str]:
    return sorted(item.text for item in await hob.app.store.items.of(scope).select("i.layer = 'conversation'"))


async def test_what_was_said_is_remembered_once_over_restarts_and_rebuilds(tmp_path: Path) -> None:
    async with visited(tmp_path, "Noted.") as hob:
        await hob.knows()
        await hob.answer("My sister is called Anna.", ME)
        await eventually(hob, ["My sister is called Anna."])
        await hob.app.store.followers.forget(FOLLOWER)
    async with visited(tmp_path, "Nice.") as hob:
        await hob.answer("The club meets on Friday.", ANNA)
        await eventually(hob, ["The club meets on Friday."], "person:anna")
        assert await texts(hob) == ["My sister is called Anna."]
