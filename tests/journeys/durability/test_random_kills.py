"""Killed at random moments under load: nothing acknowledged is lost, done twice or shown twice."""

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from hob.testing.channel import SpoolChannel
from tests.journeys.world import LOST, Daemon, World, kinds_of, open_world, until

SECONDS = 60.0
"""Time after the last kill within which everything is answered, including quarantined messages; one more per message.
"""

PATIENT = {
    "HOB_BUS_SENDER_WAITING": "100000",
    "HOB_BUS_SESSION_WAITING": "100000",
    "HOB_BUS_TOTAL_WAITING": "100000",
    "HOB_BUS_SUSPECT_SECONDS": "2",
}

TALKERS, MESSAGES = 5, 6


@dataclass(slots=True)
class Sent:
    """One message. `id` is set once it was acknowledged; `alone` means that its session has no other."""

    text: str
    key: str
    session: str
    alone: bool
    platform: bool
    id: str | None = None


@dataclass(slots=True)
class Load:
    """Messages sent while a daemon lives: `open` ones wait for an answer, `answered` ones have it as shown."""

    world: World
    random: Random
    tools: bool
    open: list[Sent] = field(default_factory=list)
    answered: list[tuple[Sent, dict[str, Any]]] = field(default_factory=list)
    count: int = 0
    quarantined: set[str] = field(default_factory=set)

    def fresh(self, session: str | None, *, platform: bool = False) -> Sent:
        self.count += 1
        mark = f"n{self.count}"
        kinds = [f"hello {mark}"]
        if self.tools:
            kinds += [f'CALL {name} {{"mark": "{mark}"}}' for name in ("never", "again")]
        alone = session is None
        sent = Sent(self.random.choice(kinds), f"key {mark}", session or f"chat {mark}", alone, platform)
        self.open.append(sent)
        return sent

    async def talk(self, daemon: Daemon, session: str | None) -> None:
        """Send one message after another, sometimes waiting for the answer, until the daemon is gone."""
        with suppress(*LOST):
            for _ in range(MESSAGES):
                sent = self.fresh(session)
                if self.random.random() < 0.5:
                    sent.id = await daemon.accepted(sent.text, sent.key, session=sent.session)
                else:
                    await self.send(daemon, sent)

    async def write(self) -> None:
        """The same on the platform."""
        with suppress(*LOST):
            for _ in range(MESSAGES):
                sent = self.fresh(None, platform=True)
                sent.id = await self.world.say(sent.text, sent.key, sent.session)

    async def send(self, daemon: Daemon, sent: Sent) -> str:
        """Send a message, possibly again; return its id."""
        if sent.platform:
            sent.id = await self.world.say(sent.text, sent.key, sent.session)
            return sent.id
        # many may be before it in its conversation; its answer is awaited later
        response = await daemon.post(sent.text, key=sent.key, session=sent.session, wait=30)
        assert response.status_code in (200, 202) or response.json()["state"] == "set_aside", response.text
        sent.id = id = str(response.json()["id"])
        return id

    async def check(self, daemon: Daemon) -> None:
        """Check that every acknowledged message is answered by itself, and the others once sent again."""
        for sent in self.open:
            if sent.id is None:
                await self.send(daemon, sent)
        try:
            async with asyncio.timeout(SECONDS + len(self.open)), asyncio.TaskGroup() as group:
                for sent in self.open:
                    group.create_task(self._check_one(daemon, sent, str(sent.id)))
        except TimeoutError:
            views = [await daemon.get(str(sent.id)) for sent in self.open]
            left = [view for view in views if view["state"] != "done"]
            raise AssertionError(f"{len(left)} of {len(views)} are not answered: {left[:3]} {daemon.errors}") from None
        self.open.clear()
        if sys.platform == "linux":
            assert daemon.locks(self.world.home) == {"hob.db", "hob.db-shm"}

    async def _check_one(self, daemon: Daemon, sent: Sent, id: str) -> None:
        while (view := await daemon.get(id, wait=5))["state"] != "done":
            assert view["state"] in ("waiting", "running", "set_aside"), (sent, view, daemon.errors)
            if view["state"] == "set_aside":
                self.quarantined.add(id)
                await asyncio.sleep(0.1)  # it is retried by itself, and nothing announces that
        if sent.alone:
            mark = sent.key.removeprefix("key ")
            assert mark in view["reply"] or "is unknown" in view["reply"], view
            events = (await daemon.ask("/timeline", trace=view["trace_id"]))["events"]
            kinds = kinds_of(events)
            assert (kinds["inbound"], kinds["outbound"], kinds["turn"]) == (1, 1, 1), events
        self.answered.append((sent, view))


@pytest.mark.parametrize("stream", range(4))
async def test_random_kills_lose_nothing_acknowledged_and_repeat_nothing(
    stream: int, rounds: Callable[[int, int], int]
) -> None:
    """Killed again and again 0 to 2.5 s after each start, whether or not anything was answered meanwhile.

    At the end all is answered: no innocent message stays quarantined. Each stream is killed HOB_TEST_KILLS times.
    """
    seed = int(os.environ.get("HOB_TEST_SEED", time.time_ns() % 1_000_000))
    kills = int(os.environ.get("HOB_TEST_KILLS", rounds(6, 250)))
    print(f"HOB_TEST_SEED={seed}")
    random = Random(f"{seed}.{stream}")
    tools = stream % 2 == 1
    async with open_world(delay=0.05) as world:
        load = Load(world, random, tools)

        def started() -> AbstractAsyncContextManager[Daemon]:
            return world.harness(**PATIENT) if tools else world.serve(**PATIENT)

        async def live() -> None:
            async with started() as daemon, asyncio.TaskGroup() as group:
                for n in range(TALKERS):
                    group.create_task(load.talk(daemon, "shared" if n < 2 else None))
                if tools:
                    group.create_task(load.write())
                await asyncio.sleep(random.uniform(0.0, random.choice((0.5, 2.5))))  # the moment of the kill
                daemon.kill()

        for _ in range(kills):
            if random.random() < 0.25:
                await world.stillborn(random.uniform(0.1, 0.8), harness=tools)
            await live()
            if random.random() < 0.2:
                async with started() as daemon:
                    await load.check(daemon)
        async with started() as daemon:
            await load.check(daemon)
            await same_again(load, daemon)
            await shown_once(load)
    assert set(Counter(world.effects("never")).values()) <= {1}
    print(f"{kills} kills, {len(load.answered)} messages, {len(load.quarantined)} quarantined for a while")


async def same_again(load: Load, daemon: Daemon) -> None:
    """Check that the same key gets the same answer."""
    for sent, view in load.random.sample(load.answered, min(20, len(load.answered))):
        if not sent.platform:
            again = await daemon.post(sent.text, key=sent.key, session=sent.session)
            assert again.json() == view


async def shown_once(load: Load) -> None:
    """Check that on the platform each message has one answer; a notice about its quarantine may precede it."""
    chats = sorted(sent.session for sent, _ in load.answered if sent.platform)

    def answers() -> list[str]:
        rows = SpoolChannel(load.world.platform).shown()
        return sorted(row["chat"] for row in rows if "`hob retry" not in row["text"])

    await until(lambda: len(answers()) >= len(chats))
    assert answers() == chats
