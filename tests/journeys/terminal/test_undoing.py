"""Changes of files are shown and undone by API, command and chat, also across kills."""

import json
import re
import signal
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.journeys.world import SHARED, Daemon, Shared, World, send, until


def call(tool: str, **arguments: Any) -> str:
    """Return text that makes the model call the tool."""
    return f"CALL {tool} {json.dumps(arguments)}"


async def said(daemon: Daemon, text: str, session: str = "main") -> str:
    view = (await daemon.post(text, session=session)).json()
    assert view["reply"] is not None, view
    return str(view["reply"])


async def undo(daemon: Daemon, **fields: Any) -> dict[str, Any]:
    response = await daemon.client.post("/undo", json=fields)
    body: dict[str, Any] = response.json()
    return body


def work(world: World) -> Path:
    return world.work


def files(world: World) -> Mapping[str, str]:
    found = {}
    for path in work(world).iterdir():
        with suppress(FileNotFoundError):  # restored meanwhile
            if path.is_file():
                found[path.name] = path.read_text()
    return found


def ended_undoings(world: World) -> int:
    connection = apsw.Connection(str(world.home / "hob.db"))
    with closing(connection):
        return int(connection.execute("SELECT count(*) FROM undo_log WHERE outcome IS NOT NULL").get)


@SHARED
async def test_api_shows_undoes_and_redoes_the_changes_of_a_turn(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    await said(daemon, call("write", path="a.md", content="one\n"))
    shown = await undo(daemon, session="api:main", preview=True)
    assert shown["restored"] == [str(work(world) / "a.md")]
    assert "-one\n" in shown["diff"]
    assert files(world) == {"a.md": "one\n"}
    done = await undo(daemon, session="api:main")
    assert (files(world), done["kept"]) == ({}, [])
    assert (await undo(daemon, session="api:main"))["error"]["code"] == "not_found"
    events = (await daemon.ask("/timeline", session="api:main"))["events"]
    assert [(each["name"], each["turn"]) for each in events if each["kind"] == "system"][-1] == ("undo", done["turn"])
    await undo(daemon, id=done["back"])
    assert files(world) == {"a.md": "one\n"}
    assert (await undo(daemon, session="api:main"))["turn"] == done["turn"]


@SHARED
async def test_chat_names_changed_files_and_restores_them(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    await said(daemon, call("write", path="a.md", content="one\n"))
    told = await said(daemon, "/undo")
    assert str(work(world) / "a.md") in told
    assert "`/undo files` puts them back" in told
    assert files(world) == {"a.md": "one\n"}
    assert "-one" in await said(daemon, "/undo files preview")
    told = await said(daemon, "/undo files")
    assert files(world) == {}
    (back,) = re.findall(r"`(/undo files undo:\w+)` takes this back", told)
    assert "a.md" in await said(daemon, back)
    assert files(world) == {"a.md": "one\n"}
    assert "/undo files preview" in await said(daemon, "/undo everything")


@SHARED
async def test_later_change_is_kept_and_reported(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    await said(daemon, call("write", path="a.md", content="one\n"))
    (work(world) / "a.md").write_text("mine")
    told = await said(daemon, "/undo files")
    assert f"{work(world)}/a.md (it was changed since)" in told
    assert files(world) == {"a.md": "mine"}
    events = (await daemon.ask("/timeline", session="api:main"))["events"]
    assert [each["status"] for each in events if each["kind"] == "system"][-1:] == ["kept"]


async def test_undo_works_with_and_without_a_daemon(world: World) -> None:
    message = call("write", path="a.md", content="one\n")
    assert (await world.hob("ask", message)).status == 0
    shown = await world.hob("undo", "--preview")
    assert "-one" in shown.out
    async with world.serve():
        seen = json.loads((await world.hob("undo", "--json")).out)
        assert files(world) == {}
    assert (await world.hob("undo")).status == 1
    assert (await world.hob("undo", seen["back"])).status == 0
    assert files(world) == {"a.md": "one\n"}
    unknown = await world.hob("undo", "m_nobody")
    assert (unknown.status, "no turn or message m_nobody" in unknown.err) == (1, True)


async def test_killed_undo_is_finished_at_the_next_start(world: World) -> None:
    many = "".join(f"*** Add File: f{n}\n+{n}\n" for n in range(150))
    async with world.serve() as daemon:
        await said(daemon, call("apply_patch", patch=f"*** Begin Patch\n{many}*** End Patch"))
    assert len(files(world)) == 150
    async with world.running("undo", "--session", "api:main") as process:
        await until(lambda: len(files(world)) < 140)
        send(process, signal.SIGKILL)
        await process.wait()
    assert files(world)
    (work(world) / "f149").write_text("mine")
    async with world.serve() as daemon:
        await until(lambda: set(files(world)) <= {"f149", "f0"} and len(files(world)) == 1)
        assert files(world) == {"f149": "mine"}
        await until(lambda: ended_undoings(world))
        events = (await daemon.ask("/timeline", session="api:main"))["events"]
        assert [each["status"] for each in events if each["kind"] == "system"] == ["kept"]
        assert (await undo(daemon, session="api:main"))["error"]["code"] == "not_found"


@pytest.mark.bubblewrap
@pytest.mark.parametrize("background", [True, False])
async def test_command_killed_with_its_daemon_is_reported_and_can_be_undone(world: World, background: bool) -> None:
    mark = f"7{id(world)}"
    command = call("exec", command=f"echo x > made; sleep {mark}", background=background, timeout=1000)
    async with world.serve() as daemon:
        if background:
            process = re.findall(r"\((\S+): running\)", await said(daemon, command))[0]
        else:
            await daemon.accepted(command, "key", session="main")
            await until(lambda: (work(world) / "made").exists())
        assert runs(mark)
        daemon.kill()
        await daemon.gone()
    await until(lambda: not runs(mark))
    async with world.serve() as daemon:
        if background:
            told = await said(daemon, call("process", action="poll", id=process, timeout=50))
            assert "ended when Hob was stopped" in told
        else:
            (task,) = (await daemon.ask("/tasks", all=1))["tasks"]
            assert "Whether it took effect is unknown" in str((await daemon.get(task["id"], wait=20))["reply"])
        done = await undo(daemon, session="api:main")
        assert done["restored"] == [str(work(world) / "made")]
        assert files(world) == {}


def runs(mark: str) -> bool:
    """Whether a process with this text on its command line runs."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0")[-2:][0]:
                return True
        except OSError:
            continue
    return False
