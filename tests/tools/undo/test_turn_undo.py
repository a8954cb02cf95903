"""A turn's changes by tools and commands can be undone, but never later changes."""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hob.core.errors import NotFound
from hob.core.ids import TurnId
from hob.core.undo import undo_turn_id
from tests.tools.calling import text_of
from tests.tools.commanding import Bench, open_bench
from tests.tools.sandbox.test_running import gone

TURN = TurnId("t_here")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench("bubblewrap", tmp_path) as bench:
        yield bench


async def run(bench: Bench, command: str, turn: str = TURN, **more: object) -> str:
    return await text_of(bench.tools, "exec", turn=turn, command=command, **more)


def contents(folder: Path) -> dict[str, str]:
    found = folder.rglob("*")
    return {str(path.relative_to(folder)): path.read_text() if path.is_file() else "/" for path in found}


async def test_changes_of_commands_are_undone(bench: Bench) -> None:
    (bench.work / "a").write_text("a")
    (bench.work / "gone").write_text("gone")
    (bench.work / "gone").chmod(0o640)
    before = contents(bench.work)
    await run(bench, "echo b >> a; mkdir d; echo new > d/new")
    await run(bench, "echo c >> a; rm gone; echo x >> d/new")
    done = await bench.undo.restore(TURN)
    assert contents(bench.work) == before
    assert (bench.work / "gone").stat().st_mode & 0o777 == 0o640
    assert done.kept == ()


async def test_preview_changes_nothing_and_describes_the_result(bench: Bench) -> None:
    (bench.work / "a").write_text("one\n")
    await run(bench, "echo two > a; mkdir d")
    before = contents(bench.work)
    text = (await bench.undo.preview(TURN)).diff
    assert "-two\n+one\n" in text
    assert f"# {bench.work}/d becomes nothing again\n" in text
    assert contents(bench.work) == before


async def test_tools_and_commands_are_undone_in_any_order(bench: Bench) -> None:
    files = bench.files.toolset
    await text_of(files, "write", path="f", content="one\n")
    await run(bench, "echo two >> f")
    await text_of(files, "read", path="f")
    await text_of(files, "edit", path="f", old_text="two", new_text="three")
    await run(bench, "echo four >> f")
    assert (bench.work / "f").read_text() == "one\nthree\nfour\n"
    done = await bench.undo.restore(TURN)
    assert contents(bench.work) == {}
    assert done.kept == ()


async def test_undo_restores_the_state_before_the_first_tool_change(bench: Bench) -> None:
    (bench.work / "f").write_text("zero\n")
    await text_of(bench.files.toolset, "write", path="f", content="one\n")
    await run(bench, "echo two > f")
    await bench.undo.restore(TURN)
    assert contents(bench.work) == {"f": "zero\n"}


async def test_later_change_is_kept_by_undo(bench: Bench) -> None:
    await run(bench, "echo command > a; echo command > b")
    (bench.work / "a").write_text("mine")
    done = await bench.undo.restore(TURN)
    assert contents(bench.work) == {"a": "mine"}
    assert [(kept.path, kept.reason) for kept in done.kept] == [(f"{bench.work}/a", "it was changed since")]


async def test_change_between_two_commands_is_kept(bench: Bench) -> None:
    await run(bench, "echo command > a")
    (bench.work / "a").write_text("mine\n")
    await run(bench, "echo again >> a")
    await bench.undo.restore(TURN)
    assert contents(bench.work) == {"a": "mine\n"}


async def test_other_turns_are_not_undone(bench: Bench) -> None:
    await run(bench, "echo first > a")
    await run(bench, "echo second > b", turn="t_other")
    await bench.undo.restore(TURN)
    assert contents(bench.work) == {"b": "second\n"}


async def test_undo_can_itself_be_undone(bench: Bench) -> None:
    (bench.work / "a").write_text("old")
    await run(bench, "echo new > a; touch b")
    after = contents(bench.work)
    await bench.undo.restore(TURN)
    await bench.undo.restore(undo_turn_id(TURN))
    assert contents(bench.work) == after


async def test_undoing_twice_is_harmless(bench: Bench) -> None:
    (bench.work / "a").write_text("old")
    await run(bench, "echo new > a; touch b")
    await bench.undo.restore(TURN)
    done = await bench.undo.restore(TURN)
    assert contents(bench.work) == {"a": "old"}
    assert (done.restored, done.kept) == ((), ())


async def test_background_command_is_undone_up_to_its_current_state(bench: Bench) -> None:
    await run(bench, "echo begun > a; echo ready; sleep 60", background=True)
    assert (bench.work / "a").exists()
    await bench.undo.restore(TURN)
    assert contents(bench.work) == {}


async def test_only_the_last_turns_are_kept(bench: Bench) -> None:
    for turn in ("t_1", "t_2"):
        await run(bench, f"head -c 100000 /dev/urandom > {turn}; touch x; rm x", turn=turn)
        await run(bench, f"rm {turn}", turn=turn)
    assert await bench.log.prune(turns=1) >= 100_000
    await bench.undo.restore(TurnId("t_2"))
    assert contents(bench.work) == {}
    with pytest.raises(NotFound, match="not kept any more"):
        await bench.undo.restore(TurnId("t_1"))


async def test_turn_without_commands_is_left_to_the_file_tools(bench: Bench) -> None:
    await text_of(bench.files.toolset, "write", path="f", content="one\n")
    assert (await bench.undo.restore(TURN)).restored == (f"{bench.work}/f",)


async def test_commands_of_a_killed_hob_can_be_undone(tmp_path: Path) -> None:
    """The process below starts a background command and is killed."""
    mark = f"98765.{secrets.randbelow(10**9):09}"
    program = f"""
import asyncio, os, signal
from pathlib import Path
from tests.tools.calling import text_of
from tests.tools.commanding import open_bench

async def main():
    async with open_bench("bubblewrap", Path({str(tmp_path)!r})) as bench:
        command = "echo changed > a; echo ready; sleep {mark}"
        print(await text_of(bench.tools, "exec", command=command, background=True), flush=True)
        while not (bench.work / "a").exists(): await asyncio.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    hob = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=subprocess.PIPE, env=environ)
    output, _ = await hob.communicate()
    if not output:
        pytest.skip("there is no bubblewrap here")
    assert hob.returncode == -signal.SIGKILL
    process = output.decode().partition(":")[0].removeprefix("(")
    assert gone(mark)
    async with open_bench("bubblewrap", tmp_path) as later:
        text = await text_of(later.tools, "process", action="poll", id=process)
        assert "it ended when Hob was stopped" in text
        assert f"sleep {mark}" in text
        await later.undo.restore(TURN)
        assert contents(later.work) == {}
