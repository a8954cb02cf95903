"""A program at a pseudo terminal, and what a person sees of it: the screen and what has scrolled away."""

import asyncio
import contextlib
import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import pyte

from .fork_server import MODULE, ForkedProcess, fork_server

Process = asyncio.subprocess.Process | ForkedProcess
ENTER, ESCAPE, CTRL_C, CTRL_D, TAB, BACKSPACE, UP = "\r", "\x1b", "\x03", "\x04", "\t", "\x7f", "\x1b[A"
_SECONDS = 20.0


class Terminal:
    """What is typed and seen. Waiting is for what is on the screen, never for a time."""

    def __init__(self, descriptor: int, process: Process, columns: int, rows: int) -> None:
        self._descriptor = descriptor
        self.process = process
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000)
        self._stream = pyte.ByteStream(self._screen)
        self._changed = asyncio.Event()
        self.raw = b""
        """All that was written."""
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, 65_536)
        except OSError:  # the other end is closed
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._descriptor)
        self.raw += data
        self._stream.feed(data)
        self._changed.set()

    @property
    def screen(self) -> str:
        """The screen's lines."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    @property
    def text(self) -> str:
        """The lines that have scrolled away, and the screen's."""
        columns = range(self._screen.columns)
        above = ("".join(row[place].data for place in columns).rstrip() for row in self._screen.history.top)
        return "\n".join([*above, self.screen])

    def style_of(self, words: str) -> pyte.screens.Char:
        """How the first of these words on the screen look."""
        row, line = next((row, line) for row, line in enumerate(self._screen.display) if words in line)
        return self._screen.buffer[row][line.index(words)]

    def type(self, *keys: str) -> None:
        """Press these keys."""
        os.write(self._descriptor, "".join(keys).encode())

    def paste(self, text: str) -> None:
        """Paste as a terminal does that brackets what is pasted."""
        self.type(f"\x1b[200~{text}\x1b[201~")

    async def until(self, condition: Callable[[], bool], seconds: float = _SECONDS) -> None:
        """Wait until it holds. Raises AssertionError, with the screen."""
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"not seen within {seconds:g} s:\n{self.text}") from None

    async def see(self, *words: str) -> None:
        """Wait until all of these stand on the screen or above it."""
        await self.until(lambda: all(each in self.text for each in words))

    async def see_now(self, *words: str) -> None:
        """Wait until all of these stand on the screen itself."""
        await self.until(lambda: all(each in self.screen for each in words))

    async def gone(self, *words: str) -> None:
        """Wait until none of these stands on the screen."""
        await self.until(lambda: not any(each in self.screen for each in words))

    def resize(self, columns: int, rows: int) -> None:
        """Another size of the window."""
        self._screen.resize(rows, columns)
        _set_size(self._descriptor, columns, rows)

    async def ended(self) -> int:
        """Wait for the program's end; its exit status."""
        async with asyncio.timeout(_SECONDS):
            return await self.process.wait()

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(ValueError):
            asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)


def _set_size(descriptor: int, columns: int, rows: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@asynccontextmanager
async def open_terminal(
    program: Sequence[str], environ: Mapping[str, str], *, columns: int = 80, rows: int = 24
) -> AsyncIterator[Terminal]:
    """The program at a terminal of its own, until the block ends."""
    ours, theirs = pty.openpty()
    _set_size(ours, columns, rows)
    variables = {"TERM": "xterm-256color", "LANG": "C.UTF-8", **environ}
    process: Process
    if tuple(program[:2]) == (sys.executable, MODULE):
        process = await fork_server().start(
            program[1:], variables, stdin=theirs, stdout=theirs, stderr=theirs, terminal=True
        )
    else:
        process = await asyncio.create_subprocess_exec(
            *program,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=variables,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
    os.close(theirs)
    terminal = Terminal(ours, process, columns, rows)
    try:
        yield terminal
    finally:
        terminal.close()
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
