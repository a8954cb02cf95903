"""The tutorial can be typed as it stands."""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hob.testing.model_server import ModelServer

from .pages import ROOT, page

pytestmark = pytest.mark.slow


@pytest.fixture
def home() -> Iterator[Path]:
    # not tmp_path: a Unix socket's path has to be short
    with tempfile.TemporaryDirectory(prefix="hob") as directory:
        yield Path(directory)


class Terminal:
    """Somebody who types blocks of commands, each when the one before has shown what it shows."""

    def __init__(self, home: Path, address: str) -> None:
        self._address = address
        self._out = home / "out.txt"
        self._environ = {
            "HOME": str(home),
            "HOB_GATEWAY_PORT": "0",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }

    async def type(self, commands: str) -> str:
        """What is on the screen when they are done; programs in the background go on."""
        self._out.touch()
        text = commands.replace("http://127.0.0.1:18799", self._address)
        with self._out.open("a") as out:
            shell = await asyncio.create_subprocess_exec(
                "bash", "-ec", text, cwd=ROOT, env=self._environ, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )
            assert await asyncio.wait_for(shell.wait(), 60) == 0, self._out.read_text()
        return self._out.read_text()

    async def shows(self, text: str) -> None:
        """Wait until it is on the screen."""
        async with asyncio.timeout(60):
            while text not in self._out.read_text():  # noqa: ASYNC110 - nobody sets an event over there
                await asyncio.sleep(0.05)


async def test_each_step_does_what_the_tutorial_says(home: Path) -> None:
    steps = page("docs/tutorial/first-steps.md").blocks("sh")
    first = next(number for number, block in enumerate(steps) if "bakery" in block)
    tell, accept, ask, serve, question, kill, look, trace, backup, restore = steps[first:]
    async with ModelServer() as server:
        terminal = Terminal(home, server.url.removesuffix("/v1"))
        await terminal.type(f"hob onboard --base-url {server.url} --name Anna --non-interactive")
        try:
            assert "USER.md        not accepted" in await terminal.type(tell)
            await terminal.type(accept)
            assert "You said: what is a hob?" in await terminal.type(ask)
            await terminal.type(serve)
            await terminal.shows(" ready: http")
            await terminal.type(question)
            await terminal.type(kill)
            await terminal.shows("You said: are you still there?")
            seen = await terminal.type(look)
            (id,) = set(re.findall(r"  ([0-9a-f]{8})  ", seen))
            assert "Hob was stopped during it" in await terminal.type(re.sub(r"\b[0-9a-f]{8}\b", id, trace))
            await terminal.type(backup)
            assert (home / "hob-first.db").stat().st_size > 0
            await terminal.type(restore)
            assert "are you still there?" in await terminal.type("hob timeline --json")
        finally:
            await terminal.type("hob stop || true")
