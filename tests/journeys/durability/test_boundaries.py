"""Killed at each boundary and restarted: nothing is lost, done twice or shown twice, and nobody writes again."""

import asyncio
import time
from collections import Counter
from typing import Any

import pytest

from hob.testing.model_server import Reply
from tests.journeys.world import LOST, Daemon, World, kinds_of, until

SECONDS = 3.0
"""Time limit for the answer, counted from when the daemon reports that it is ready: the benchmarks measure how long a
start takes, which depends on the machine's load.
"""

PLAIN = ["accepted", "claimed", "model_asked", "mid_stream", "finished", "outbox_written"]
UNKNOWN = "Whether it took effect is unknown"


async def killed(world: World, boundary: str, text: str) -> str | None:
    """Send a message to a daemon that dies at this boundary; return the message's id if it was acknowledged."""
    id = None
    async with world.harness(boundary) as daemon:
        try:
            async for name, data in daemon.events(text, "key"):
                id = data["id"] if name == "accepted" else id
        except LOST:
            pass
        assert await daemon.gone() == -9
    return id


async def outcome(daemon: Daemon, began: float) -> dict[str, Any]:
    """Return the result of the only message, without anybody writing again."""
    (task,) = (await daemon.ask("/tasks", all=1))["tasks"]
    view = await daemon.get(task["id"], wait=SECONDS)
    assert view["state"] == "done", view
    assert time.monotonic() - began < SECONDS
    return view


async def agree(daemon: Daemon, id: str, trace: str) -> Counter[str]:
    """Check that timeline and tasks agree on one message with one beginning and one end; return its events."""
    (task,) = (await daemon.ask("/tasks", all=1))["tasks"]
    assert (task["id"], task["state"], task["trace_id"]) == (id, "done", trace)
    kinds = kinds_of((await daemon.ask("/timeline", trace=trace))["events"])
    assert kinds["inbound"] == kinds["outbound"] == kinds["turn"] == 1
    return kinds


async def revived(world: World, id: str | None, text: str) -> dict[str, Any]:
    """Restart; check that the answer arrives by itself, by id and by the same key."""
    async with world.harness() as daemon:
        view = await outcome(daemon, time.monotonic())
        assert id in {None, view["id"]}
        again = await daemon.post(text, key="key")
        assert again.status_code == 200
        assert again.json() == view
        await agree(daemon, view["id"], view["trace_id"])
    return view


@pytest.mark.parametrize("boundary", PLAIN)
async def test_question_is_answered_whenever_the_daemon_was_killed(world: World, boundary: str) -> None:
    id = await killed(world, boundary, "hello")
    assert (id is None) == (boundary == "accepted")
    assert (await revived(world, id, "hello"))["reply"] == "You said: hello"


@pytest.mark.parametrize(
    ("boundary", "effects", "told"),
    [
        ("model_asked", 1, "did x"),
        ("tool_intent", 0, UNKNOWN),
        ("tool_running", 1, UNKNOWN),
        ("receipt", 1, "did x"),
        ("model_asked:2", 1, "did x"),
        ("mid_stream", 1, "did x"),
        ("finished", 1, "did x"),
        ("outbox_written", 1, "did x"),
    ],
)
async def test_unrepeatable_call_runs_once(world: World, boundary: str, effects: int, told: str) -> None:
    text = 'CALL never {"mark": "x"}'
    view = await revived(world, await killed(world, boundary, text), text)
    assert told in view["reply"]
    assert world.effects("never") == ["x"] * effects


@pytest.mark.parametrize(
    ("boundary", "effects"), [("tool_intent", 1), ("tool_running", 2), ("receipt", 1), ("finished", 1)]
)
async def test_repeatable_call_runs_until_it_completes(world: World, boundary: str, effects: int) -> None:
    text = 'CALL again {"mark": "x"}'
    view = await revived(world, await killed(world, boundary, text), text)
    assert "did x" in view["reply"]
    assert world.effects("again") == ["x"] * effects


@pytest.mark.parametrize("boundary", [*PLAIN, "sending", "sent"])
async def test_platform_with_idempotency_keys_shows_the_answer_once(world: World, boundary: str) -> None:
    async with world.harness(boundary) as daemon:
        try:
            await world.say("hello", "key", "anna")
        except LOST:
            assert boundary == "accepted"
        assert await daemon.gone() == -9
    async with world.harness() as daemon:
        began = time.monotonic()
        view = await outcome(daemon, began)
        while not world.shown():
            assert time.monotonic() - began < SECONDS
            await asyncio.sleep(0.01)
        assert await world.say("hello", "key", "anna") == view["id"]
        kinds = await agree_when_delivered(daemon, view)
    assert world.shown("anna") == ["You said: hello"] == world.shown()
    assert kinds["delivery"] == 1


async def agree_when_delivered(daemon: Daemon, view: dict[str, Any]) -> Counter[str]:
    """The same, once the delivery is recorded."""
    async with asyncio.timeout(5):
        while True:
            kinds = await agree(daemon, view["id"], view["trace_id"])
            if "delivery" in kinds:
                return kinds
            await asyncio.sleep(0.01)


async def test_message_that_makes_progress_is_not_quarantined(world: World) -> None:
    text = 'CALL never {"mark": "x"}'
    id = await killed(world, "model_asked", text)
    for boundary in ("tool_intent", "model_asked", "finished"):
        async with world.harness(boundary) as daemon:
            assert await daemon.gone() == -9
    view = await revived(world, id, text)
    assert UNKNOWN in view["reply"]
    assert world.effects("never") == []


async def test_message_that_joined_from_another_chat_is_answered_after_a_kill(world: World) -> None:
    # Regression: the addresses of joined messages were known only to the process.
    async with world.harness():
        await world.say("good day", "first", "anna")
        await until(lambda: world.shown("anna"))
    world.model.script.extend([Reply(calls=(("slow", '{"mark": "x"}'),)), Reply("both of you")])
    async with world.harness("mid_stream") as daemon:
        first = await daemon.accepted("hello", "key", session="spool:anna")
        await until(lambda: world.effects("slow"))
        second = await world.say("me too", "other", "anna")
        assert await daemon.gone() == -9
    world.model.script.extend([Reply("both of you")])
    async with world.harness() as daemon:
        assert (await daemon.get(first, wait=3))["reply"] == "both of you"
        view = await daemon.get(second, wait=3)
        assert (view["merged_into"], view["reply"]) == (first, "both of you")
        await until(lambda: "both of you" in world.shown("anna"))
        assert world.shown("anna").count("both of you") == 1
