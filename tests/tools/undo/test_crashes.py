"""A file is old or new at any kill, and changes can be undone."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hob.core.ids import TurnId
from tests.tools.calling import text_of
from tests.tools.keeping import kept_file_tools

pytestmark = pytest.mark.slow


def killed(top: Path, what: str, after: float) -> None:
    """Run the changer, and kill it that many seconds after it began its work."""
    command = [sys.executable, "-m", "tests.tools.changer", str(top), what]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after)  # the moment of the kill is what varies
        process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("seed", range(4))
async def test_kill_while_writing_leaves_the_old_or_the_new_file(tmp_path: Path, seed: int) -> None:
    ws = tmp_path / "ws"
    ws.mkdir()
    filler = "x" * 100_000
    for name in "ab":
        (ws / name).write_text(f"0\n{filler}")
    killed(tmp_path, "write", random.Random(seed).uniform(0.01, 0.15))
    numbers = []
    for name in "ab":
        number, rest = (ws / name).read_text().split("\n")
        assert rest == filler
        numbers.append(int(number))
    async with kept_file_tools(tmp_path) as files:
        await files.undo.remove_parts()
        assert sorted(path.name for path in ws.iterdir()) == [".hob", "a", "b"]
        for n in range(max(numbers) - 1, -1, -1):
            done = await files.undo.restore(TurnId(f"t_{n}"))
            assert done.kept == ()
    assert [(ws / name).read_text() for name in "ab"] == [f"0\n{filler}"] * 2


@pytest.mark.parametrize("seed", range(3))
async def test_undo_interrupted_by_a_kill_can_be_repeated(tmp_path: Path, seed: int) -> None:
    ws = tmp_path / "ws"
    async with kept_file_tools(tmp_path) as files:
        for n in range(30):
            (ws / f"{n}").write_text(f"old {n}\n")
            await text_of(files.toolset, "write", turn="t", path=f"{n}", content=f"new {n}\n")
    killed(tmp_path, "undo", random.Random(seed).uniform(0.0, 0.06))
    half = sum((ws / f"{n}").read_text() == f"old {n}\n" for n in range(30))
    async with kept_file_tools(tmp_path) as files:
        done = await files.undo.restore(TurnId("t"))
    assert [(ws / f"{n}").read_text() for n in range(30)] == [f"old {n}\n" for n in range(30)]
    assert (len(done.restored), len(done.unchanged), done.kept) == (30 - half, half, ())
    assert len(list(ws.iterdir())) == 31
