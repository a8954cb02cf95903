"""`/ws` of the real daemon: kills, restarts, handover, TLS, the Unix socket, approvals."""

import asyncio
import signal
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect, unix_connect
from websockets.exceptions import ConnectionClosed

from hob.testing.model_server import Reply
from tests.conftest import Rounds
from tests.gateway.lively import Client, Reached
from tests.journeys.world import SHARED, TOKEN, Daemon, Shared, World, until

PEM = Path(__file__).parents[1] / "localhost.pem"
OWNING = """
import pathlib, sys
from hob.app.daemon.embedded_daemon import embedded_daemon
with embedded_daemon(pathlib.Path(sys.argv[1])):
    sys.stdin.read()
"""
"""A chat without a daemon: it owns the home until it ends or a daemon takes over."""


@asynccontextmanager
async def live(daemon: Daemon, token: str = TOKEN, **more: Any) -> AsyncIterator[Client]:
    """Connect to this daemon and wait for the welcome."""
    async with Reached(urlsplit(daemon.url).port or 0).client(token, **more) as client:
        yield client


async def heard(client: Client) -> list[dict[str, Any]]:
    """Collect events up to the end of the backlog or of the connection."""
    found: list[dict[str, Any]] = []
    try:
        while (said := await client.next())["type"] != "caught_up":
            found += [said] if said["type"] == "event" else []
    except ConnectionClosed:
        pass
    return found


async def test_reconnecting_client_gets_exactly_the_missed_events(world: World) -> None:
    world.model.script += [Reply("one two three four five six seven eight", pause=0.05)]
    async with world.serve() as daemon, live(daemon) as client:
        await client.ask("subscribe", "caught_up", after=0)
        await client.say("send", ref="c", key="k1", message="hi")
        before = await client.until("delta")
        daemon.kill()
        before += (await client.rest())[0]
    first = [each for each in before if each["type"] == "event"]
    async with world.serve() as daemon, live(daemon) as client:
        await client.say("send", ref="c", key="k1", message="hi")
        result = await client.last("result")
        assert result["id"] == next(each["id"] for each in before if each["type"] == "accepted")
        assert (result["state"], bool(result["reply"])) == ("done", True)
        await client.say("subscribe", after=first[-1]["cursor"])
        rest = await heard(client)
        whole = (await daemon.ask("/timeline", limit=1000))["events"]
    assert [each["event"] for each in first + rest] == whole
    assert sum(event["kind"] == "inbound" for event in whole) == 1


async def test_follower_sees_every_event_once_despite_kills(world: World, rounds: Rounds) -> None:
    seen: list[dict[str, Any]] = []
    for n in range(rounds(3, 30)):
        async with world.serve() as daemon, live(daemon) as client:
            await client.say("subscribe", after=seen[-1]["cursor"] if seen else 0)
            for m in range(4):
                await client.say("send", key=f"k{n}-{m}", message="hi", session=f"s{m}")
            count = n % 13 + 1  # kill after a different number of events each round
            while count:
                said = await client.next()
                seen += [said] if said["type"] == "event" else []
                count -= said["type"] == "event"
            daemon.kill()
            seen += [each for each in (await client.rest())[0] if each["type"] == "event"]
    async with world.serve() as daemon, live(daemon) as client:
        await client.say("subscribe", after=seen[-1]["cursor"])
        seen += await heard(client)
        upto = seen[-1]["cursor"]
        await client.say("subscribe", after=0)
        whole = [each for each in await heard(client) if each["cursor"] <= upto]
    assert [(each["cursor"], each["event"]) for each in seen] == [(each["cursor"], each["event"]) for each in whole]


async def test_stopping_daemon_announces_its_return(world: World) -> None:
    async with world.serve() as daemon, live(daemon) as client:
        await client.ask("subscribe", "caught_up")
        daemon.signal(signal.SIGTERM)
        assert (await client.end())[0] == 1012
        assert await daemon.gone() == 0
        assert "Traceback" not in daemon.errors


@SHARED
async def test_approval_is_requested_and_given_over_one_connection(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    made = await world.hob("token", "new", "desk", "--scope", "chat", "--scope", "read", "--scope", "approve")
    async with live(daemon, made.out.strip()) as client, live(daemon) as watching:
        await watching.ask("subscribe", "caught_up", kinds=["approval"])
        await client.say("send", ref="c", key="k1", message='CALL exec {"command": "rm -rf ."}')
        question = await client.last("question")
        assert (await watching.next())["event"]["kind"] == "approval"
        (asked,) = question["asked"]
        listed = await watching.ask("approvals", "approvals")
        assert [each["id"] for each in listed["approvals"]] == [asked["id"]] == question["approvals"]
        answered = await client.ask("answer", "answered", approval=asked["id"], allowed=False)
        assert (answered["state"], answered["by"]) == ("denied", "api:desk")
        assert (await client.last("result"))["state"] == "done"
        again = await client.ask("answer", "answered", approval=asked["id"], allowed=True)
        assert again["error"]["code"] == "not_allowed"


@SHARED
async def test_revoked_token_ends_its_connections(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    made = (await world.hob("token", "new", "lamp", "--scope", "read")).out.strip()
    async with live(daemon, made) as client:
        await client.ask("subscribe", "caught_up")
        assert "api:lamp 127.0.0.1" in (await world.hob("status")).out
        assert (await world.hob("token", "revoke", "lamp")).status == 0
        await daemon.post("hi")
        assert await client.rest() == ([], (4401, "the token does not hold any more"))
    assert made not in daemon.errors


async def test_unix_socket_needs_no_token_and_tls_works_over_tcp(world: World) -> None:
    async with world.serve(HOB_GATEWAY_TLS_CERT=str(PEM)) as daemon:
        async with unix_connect(str(world.home / "hob.sock"), "ws://hob/ws") as wire:
            assert (await Client(wire).next())["who"] == "local:owner"
        context = ssl.create_default_context(cafile=str(PEM))
        url = daemon.url.replace("https://", "wss://") + "/ws"
        async with connect(url, ssl=context, proxy=None, origin=daemon.url) as wire:  # type: ignore[arg-type]
            assert (await Client(wire).ask("hello", "welcome", token=TOKEN))["who"] == "api:owner"
            assert (await Client(wire).ask("send", "result", key="k", message="hi"))["state"] == "done"


async def test_one_shot_owner_hands_its_clients_over_to_the_daemon(world: World) -> None:
    chat = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OWNING, str(world.home)), stdin=asyncio.subprocess.PIPE, env=world.environ()
    )
    try:
        await until((world.home / "hob.sock").exists)
        async with unix_connect(str(world.home / "hob.sock"), "ws://hob/ws") as wire:
            client = Client(wire)
            await client.ask("subscribe", "caught_up", after=0)
            async with world.serve() as daemon:
                assert (await client.end())[0] == 1012
                async with live(daemon) as again:
                    assert (await again.ask("send", "result", key="k", message="hi"))["state"] == "done"
    finally:
        await chat.communicate(b"")


@pytest.mark.parametrize("sessions", [1, 4])
async def test_many_watchers_of_many_conversations_see_the_same_events(world: World, sessions: int) -> None:
    async with world.serve() as daemon:

        async def watch() -> list[int]:
            async with live(daemon) as client:
                await client.ask("subscribe", "caught_up", after=0)
                ready.release()
                seen: list[int] = []
                ends = 0
                while ends < sessions * 3:
                    said = await client.next()
                    seen.append(said["cursor"])
                    ends += said["event"]["kind"] == "turn" and said["event"]["seconds"] is not None
                return seen

        ready = asyncio.Semaphore(0)
        async with asyncio.TaskGroup() as group:
            watchers = [group.create_task(watch()) for _ in range(3)]
            for _ in watchers:
                await ready.acquire()
            for n in range(sessions * 3):
                group.create_task(daemon.post("hi", key=f"k{n}", session=f"s{n % sessions}"))
        seen = [watcher.result() for watcher in watchers]
    assert seen[0] == sorted(set(seen[0]))
    assert all(each[: min(map(len, seen))] == seen[0][: min(map(len, seen))] for each in seen)
