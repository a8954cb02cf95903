"""`hob import` at a terminal, beside a running daemon, and killed midway."""

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

from tests.app.imports import folders
from tests.journeys.pty_session import ENTER, open_terminal
from tests.journeys.world import World

MANY = 3_000


def long_talk(world: World) -> None:
    """An OpenClaw folder with one long conversation."""
    root = folders.openclaw(world.root / ".openclaw")
    entries = (folders.claw_message(f"x{n}", "user", folders.said(f"line {n}"), folders.AT + n) for n in range(MANY))
    folders.write_lines(root / "agents/main/sessions/s-1.jsonl", entries)


async def imports(world: World, *arguments: str) -> dict[str, Any]:
    said = await world.hob("import", "openclaw", "--json", *arguments)
    assert said.status == 0, said.err
    view: dict[str, Any] = json.loads(said.out)
    return view


async def lines(world: World) -> list[str]:
    """Return the entries of the long conversation."""
    said = await world.hob("export", "--session", "openclaw:main/s-1")
    return [entry["text"] for entry in map(json.loads, said.out.splitlines()) if entry["type"] == "entry"]


async def test_import_shows_its_plan_and_asks(world: World) -> None:
    folders.openclaw(world.root / ".openclaw")
    program = (sys.executable, "-m", "hob", "import", "openclaw")
    async with open_terminal(program, world.environ(), columns=120, rows=60) as terminal:
        await terminal.see("2 conversations", "Take this over? [y/N]")
        terminal.type("n", ENTER)
        await terminal.see("Nothing was changed.")
        assert await terminal.ended() == 1
    assert not (world.root / "hob").exists()
    async with open_terminal(program, world.environ(), columns=120, rows=60) as terminal:
        await terminal.see("Take this over? [y/N]")
        terminal.type("y", ENTER)
        await terminal.see("5 messages taken", "hob accept")
        assert await terminal.ended() == 0


async def test_import_beside_a_running_hob_brings_history_and_sends_nothing(world: World) -> None:
    folders.openclaw(world.root / ".openclaw")
    async with world.serve() as daemon:
        view = await imports(world, "--yes")
        assert view["messages"] == {"new": 5, "there": 0}
        assert (await daemon.ask("/sessions/show", session="openclaw:main/s-1"))["entries"] == 4
        status = await daemon.ask("/status")
        assert (status["owed"], status["waiting"], status["running"]) == (0, 0, 0)
        assert (await daemon.ask("/tasks"))["tasks"] == []
        assert not world.model.requests
        assert (await imports(world, "--dry-run"))["messages"] == {"new": 0, "there": 5}


async def test_killed_import_continues_where_it_stopped(world: World) -> None:
    long_talk(world)
    assert await killing(world, "1500") == -signal.SIGKILL
    before = (await imports(world, "--dry-run"))["messages"]
    assert before == {"new": MANY - 1500, "there": 1501}  # one belongs to another conversation
    assert (await imports(world, "--yes"))["messages"] == before
    assert await lines(world) == [f"line {n}" for n in range(MANY)]
    assert (await imports(world, "--yes"))["counts"]["done"] == 0


async def test_import_reports_a_dying_daemon_and_continues_later(world: World) -> None:
    long_talk(world)
    async with world.serve() as daemon:
        assert await killing(world, "1000", str(daemon.process.pid)) == 1
        await daemon.gone()
    assert (await imports(world, "--yes"))["messages"]["there"] >= 1000
    assert await lines(world) == [f"line {n}" for n in range(MANY)]


async def killing(world: World, *arguments: str) -> int:
    """Import and kill the command midway; return how it ended."""
    harness = str(Path(__file__).parents[1] / "importer.py")
    process = await asyncio.create_subprocess_exec(sys.executable, harness, *arguments, env=world.environ())
    async with asyncio.timeout(60):
        return await process.wait()
