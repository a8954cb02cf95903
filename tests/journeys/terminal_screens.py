"""Somebody at a terminal."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from .world import World, send

PROMPT = "> \x1b[0m"
"""Of a chat that listens."""

SPAWN = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"


@dataclass
class Typist:
    """Somebody at a terminal of their own."""

    process: asyncio.subprocess.Process
    seen: str = ""
    _unread: str = ""

    async def sees(self, text: str) -> None:
        """Wait until it stands on the screen, behind what was waited for before."""
        assert self.process.stdout is not None
        shown = self._unread
        async with asyncio.timeout(30):
            while text not in shown:
                piece = (await self.process.stdout.read(1000)).decode()
                assert piece, f"never shown: {text!r} {self.seen!r}"
                shown += piece
                self.seen += piece
        self._unread = shown.partition(text)[2]

    def types(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())

    async def end(self) -> int:
        assert self.process.stdout is not None
        async with asyncio.timeout(30):
            self.seen += (await self.process.stdout.read()).decode()
            return await self.process.wait()


@asynccontextmanager
async def terminal(world: World, *arguments: str) -> AsyncIterator[Typist]:
    """A `hob` command at a terminal while the block is open, at most."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SPAWN, sys.executable, "-m", "hob", *arguments,
        env=world.environ(TERM="xterm"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield Typist(process)
    finally:
        if process.returncode is None:
            send(process, signal.SIGKILL)
        await process.communicate()
