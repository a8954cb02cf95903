"""A known secret is stored nowhere: no file of the home, no answer, no event, no log."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hob.guard.screening.masking.mask import MASKED
from hob.testing.model_server import ModelServer, Reply
from tests.guard.canaries import CANARY, leaks
from tests.journeys.world import Daemon, World, open_world

SECRET = 'canary Zq8/Lw +2m"x Kt7Vb31 end'  # a model server streams it in five pieces


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with open_world() as opened:
        notes = opened.root / "notes"
        notes.mkdir()
        (notes / "one.txt").write_text(f"the door opens with {SECRET}\n")
        (notes / "many.txt").write_text("".join(f"{n} {SECRET}\n" for n in range(60_000)))
        opened.home.mkdir(mode=0o700)
        (opened.home / "config.toml").write_text(f"[sandbox]\nread = [{json.dumps(str(notes))}]\n")
        yield opened


class Seen:
    """Everything a client was sent."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self.texts: list[str] = []
        self._keys = 0

    async def ask(self, text: str) -> str:
        """Send a message and follow it; return the reply."""
        self._keys += 1
        reply = ""
        async for name, data in self._daemon.events(text, f"k{self._keys}"):
            self.texts.append(json.dumps(data, ensure_ascii=False))
            if name == "result":
                reply = str(data["reply"] or data.get("error"))
        return reply

    async def call(self, tool: str, **arguments: Any) -> str:
        """Let the model call a tool; return the reply, which quotes the result."""
        return await self.ask(f"CALL {tool} {json.dumps(arguments)}")

    async def look(self, *routes: str) -> None:
        for route in routes:
            self.texts.append((await self._daemon.client.get(route)).text)


async def test_secret_entered_anywhere_is_stored_nowhere(world: World) -> None:
    notes = world.root / "notes"
    async with world.serve(DOOR_TOKEN=SECRET) as daemon:
        seen = Seen(daemon)
        assert await seen.ask(f"my key is {SECRET}, keep it") == f"You said: my key is {MASKED}, keep it"
        assert MASKED in await seen.call("read", path=str(notes / "one.txt"))
        assert MASKED in await seen.call("exec", command=f"cat {notes}/one.txt; cat {notes}/one.txt >&2; sleep 0.3")
        assert "left out" in await seen.call("exec", command=f"cat {notes}/many.txt")
        assert MASKED in await seen.call("exec", command=f"cat {notes}/one.txt; exit 3")
        assert SECRET not in await seen.call("read", path=f"{notes}/{SECRET}.txt")
        await seen.call("remember", content=f"the door: {SECRET}")
        world.model.script.append(Reply(f"Of course: {SECRET}. Well?", reasoning=f"they want {SECRET}"))
        assert await seen.ask("what opens the door?") == f"Of course: {MASKED}. Well?"
        await seen.look("/timeline?limit=500", "/tasks?all=1", "/status", "/export", f"/chat/{SECRET}")
        daemon.process.terminate()
        await daemon.gone()
        exported = await world.hob("export", DOOR_TOKEN=SECRET)
        assert leaks(world.home, [*seen.texts, daemon.errors, exported.out, exported.err], SECRET) == []
    assert SECRET not in "".join(asked.body.decode() for asked in world.model.requests)


async def test_secret_is_found_without_the_mask(world: World) -> None:
    async with world.serve() as daemon:
        seen = Seen(daemon)
        await seen.call("read", path=str(world.root / "notes" / "one.txt"))
        assert len(leaks(world.home, seen.texts, SECRET)) > 1


async def test_key_quoted_by_its_provider_is_in_no_error(world: World) -> None:
    async with (
        ModelServer(key="sk-another-one") as strict,
        world.serve(OPENAI_API_KEY=CANARY, OPENAI_BASE_URL=strict.url) as daemon,
    ):
        seen = Seen(daemon)
        assert "Incorrect API key" in await seen.ask("hello")
        await seen.look("/timeline", "/status", "/tasks?all=1")
        assert leaks(world.home, [*seen.texts, daemon.errors]) == []
