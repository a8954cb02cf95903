"""Promises about lightness that need no stopwatch: what is sent to a model, and that waiting costs nothing."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from benchmarks.prompt import same_bytes
from hob.app.composition import App, open_app
from hob.app.daemon.daemon import TcpListener, serve_api
from hob.app.settings.sections import SECTIONS
from hob.config.loading import load_config
from hob.gateway.chat.inbound import owners_inbound
from hob.gateway.chat.outcome import follow
from hob.gateway.settings import GatewaySettings
from hob.testing.model_server import ModelServer


@asynccontextmanager
async def running(home: Path, server: ModelServer) -> AsyncIterator[App]:
    environ = {
        "HOB_MODEL_BASE_URL": server.url,
        "HOB_MODEL_NAME": "m",
        "HOB_WORKSPACE_PATH": str(home / "workspace"),
        "HOB_GATEWAY_PORT": "0",
    }
    config = load_config(SECTIONS, home=home, environ=environ)
    async with open_app(home, config) as app:
        yield app


async def say(app: App, text: str) -> None:
    inbound = owners_inbound({"message": text}, None, app.api.clock)
    events = [event async for event in follow(app.api, inbound, 30)]
    assert events[-1].data["reply"] == f"You said: {text}"


async def test_first_request_for_hi_is_small(tmp_path: Path) -> None:
    async with ModelServer() as server, running(tmp_path, server) as app:
        await say(app, "hi")
        assert len(server.chats[0].body) <= 6_400  # 12 tools are two thirds of it


async def test_request_starts_with_the_previous_one(tmp_path: Path) -> None:
    async with ModelServer() as server, running(tmp_path, server) as app:
        for number in range(30):
            await say(app, f"What shall I cook on the {number}th of May, with eggs, leeks and half a loaf of bread?")
        turns = [asked.body for asked in server.chats if "You summarise" not in json.dumps(asked.json()["messages"][0])]
    assert len(turns) == 30
    known = sum(same_bytes(old, new) for old, new in pairwise(turns))
    assert known >= 0.9 * sum(map(len, turns[1:]))


async def test_question_that_needs_no_tool_loads_none(tmp_path: Path) -> None:
    """Neither what tools are made of, nor the judge before them, nor a server that nobody calls."""
    code = "import sys; from hob.cli.table import run; run(['ask', 'hi']); print(*sys.modules, sep='\\n')"
    async with ModelServer() as server:
        environ = {**os.environ, "HOB_HOME": str(tmp_path), "HOB_MODEL_BASE_URL": server.url, "HOB_MODEL_NAME": "m"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", code), env=environ, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
        )
        answer, *found = (await process.communicate())[0].decode().splitlines()
    assert answer == "You said: hi"
    assert {"hob.app.composition", "hob.tools.registry.builtin_groups"} <= set(found)
    assert set(found).isdisjoint(
        {"hob.app.tools.runtime", "hob.app.trust.guard", "hob.tools.filesystem.files", "hob.tools.exec.commands"}
    )
    assert set(found).isdisjoint({"hob.tools.documents.documents", "statistics", "decimal"})
    assert set(found).isdisjoint({"hob.guard.policy.policy", "hob.guard.shell", "starlette", "uvicorn", "cyclopts"})


async def test_waiting_sets_no_timer(tmp_path: Path) -> None:
    """A timer that comes again is a wake-up for ever; the one that closes an unused connection comes once, and memory's
    pause after a message, which lets quick messages be taken up together, ends.

    Whether the hour of the day's backup has come is looked at once an hour.
    """
    with TcpListener.opened(replace(GatewaySettings(), port=0)) as tcp:
        async with ModelServer() as server, running(tmp_path, server) as app, serve_api(app, tcp):
            assert timers() == []
            await say(app, "hi")
            for _ in range(600):
                if not (left := [timer for timer in timers() if "_Connection.close" not in repr(timer)]):
                    break
                await asyncio.sleep(0.05)
            assert left == []


def timers() -> list[asyncio.TimerHandle]:
    """What this loop will wake for by itself within the next half hour."""
    scheduled: list[asyncio.TimerHandle] = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
    soon = asyncio.get_running_loop().time() + 1_800
    return [timer for timer in scheduled if not timer.cancelled() and timer.when() < soon]
