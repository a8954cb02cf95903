"""One run of a program: output lines, limits, and no process left behind."""

import asyncio
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

from hob.core.ports.processes import ProcessRecords
from hob.core.values import dataclass

MAX_LINE = 8 * 1024 * 1024
_MAX_WAITING = 512  # lines not yet consumed; beyond that the program has to wait
_MAX_TAIL = 8 * 1024
# The shell reads from a pipe held by Hob: when it closes, even by `kill -9`, everything that was started ends too.
_WATCHED = (
    'exec 3<&0; (read -r _ <&3; kill -9 -$$) </dev/null >/dev/null 2>&1 & exec 3<&-; file=$1; shift; exec "$@" <"$file"'
)
_GRACE = 5.0
_AFTER_EXIT = 1.0  # seconds for the last lines to arrive, since a child may keep the pipe open


@dataclass(frozen=True, slots=True)
class CliProcessPlan:
    """Command to run. The program sees only these variables, and reads the file as its standard input."""

    arguments: Sequence[str]
    environ: Mapping[str, str]
    folder: Path
    stdin: Path
    idle_seconds: float
    total_seconds: float


class LineTooLong(Exception):
    """The program wrote a line longer than 8 MiB."""


class Process:
    """A running program in its own process group."""

    def __init__(self, command: CliProcessPlan, output: "_Output", transport: asyncio.SubprocessTransport) -> None:
        self._command = command
        self._output = output
        self._transport = transport

    @property
    def pid(self) -> int:
        """Process id, which is also the group id."""
        return self._transport.get_pid()

    @property
    def returncode(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        return self._transport.get_returncode()

    @property
    def never_ran(self) -> bool:
        """Whether the wrapper shell could not start the program; the error output is then the shell's."""
        return self.returncode in (126, 127) and self.complaints.startswith("sh: ")

    @property
    def complaints(self) -> str:
        """Last part of the standard error."""
        return self._output.tail.decode("utf-8", "replace").strip()

    async def lines(self) -> AsyncGenerator[bytes]:
        """Yield the output lines without line ends.

        Raises TimeoutError if the program is silent for too long or takes too long in total, and LineTooLong.
        """
        output = self._output
        deadline = asyncio.get_running_loop().time() + self._command.total_seconds
        while True:
            while output.lines:
                yield output.take()
            if output.overflown:
                raise LineTooLong
            if output.ended:
                return
            # an ended program writes nothing more, even if a child keeps the pipe open
            idle = _AFTER_EXIT if output.exited.is_set() else self._command.idle_seconds
            heard = await output.wait(idle, deadline)
            if not heard:
                if output.exited.is_set():
                    return
                raise TimeoutError

    async def finish(self) -> None:
        """Wait a while for the program to exit on its own, and for its last error output."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self._output.exited.wait()
            async with asyncio.timeout(_AFTER_EXIT):
                await self._output.complained.wait()

    async def stop(self) -> None:
        """Terminate the program and all its children: SIGTERM, and SIGKILL after five seconds."""
        try:
            if not self._output.exited.is_set():
                self._signal(signal.SIGTERM)
                await self.finish()
        finally:
            self._signal(signal.SIGKILL)  # children that outlive their parent, and processes that ignored SIGTERM
            await self.finish()
            self._transport.close()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


@asynccontextmanager
async def run(command: CliProcessPlan, records: ProcessRecords | None = None) -> AsyncIterator[Process]:
    """Run the program while the block is open, and always stop it afterwards. Raises OSError."""
    loop = asyncio.get_running_loop()
    alive, life = os.pipe()
    try:
        with command.stdin.open("rb"):  # raises if it is not readable
            transport, output = await _start(loop, command, alive)
    except BaseException:
        os.close(life)
        raise
    finally:
        os.close(alive)
    process = Process(command, output, transport)
    if records is not None:
        records.add(process.pid, command.stdin.parent)
    try:
        yield process
    finally:
        try:
            await process.stop()
        finally:
            os.close(life)
            if records is not None:
                records.remove(process.pid)


async def _start(
    loop: asyncio.AbstractEventLoop, command: CliProcessPlan, alive: int
) -> tuple[asyncio.SubprocessTransport, "_Output"]:
    if not os.access(command.arguments[0], os.X_OK):
        raise FileNotFoundError(f"{command.arguments[0]} is not a program that you may run")
    return await loop.subprocess_exec(
        _Output,
        *("/bin/sh", "-c", _WATCHED, "sh", str(command.stdin), *command.arguments),
        stdin=alive,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=command.folder,
        env=dict(command.environ),
        start_new_session=True,
    )


class _Output(asyncio.SubprocessProtocol):
    """Output of the program: unread lines, and the tail of its error output."""

    def __init__(self) -> None:
        self.lines: deque[bytes] = deque()
        self.tail = bytearray()
        self.ended = False
        self.overflown = False
        self.exited = asyncio.Event()
        self.complained = asyncio.Event()
        self._part = bytearray()
        self._news = asyncio.Event()
        self._pipe: asyncio.ReadTransport | None = None
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        made = cast(asyncio.SubprocessTransport, transport)
        self._pipe = cast(asyncio.ReadTransport, made.get_pipe_transport(1))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.tail += data
            del self.tail[:-_MAX_TAIL]
            return
        if self.overflown:
            return
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = bytes(self._part) + whole[0]
            self._part = bytearray(rest)
            self.lines.extend(whole)
        else:
            self._part += rest
        self.overflown = len(self._part) > MAX_LINE
        if len(self.lines) > _MAX_WAITING:
            self._hold(True)
        self._news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            if self._part:
                self.lines.append(bytes(self._part))
                self._part.clear()
            self.ended = True
            self._news.set()
        elif fd == 2:
            self.complained.set()

    def process_exited(self) -> None:
        self.exited.set()
        self._news.set()

    def take(self) -> bytes:
        """Return the next line."""
        line = self.lines.popleft()
        if self._paused and not self.lines:
            self._hold(False)
        return line

    async def wait(self, idle: float, deadline: float) -> bool:
        """Return whether there is output within this many seconds and before the deadline."""
        self._news.clear()
        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(min(now + idle, deadline)):
                await self._news.wait()
        except TimeoutError:
            return False
        return True

    def _hold(self, on: bool) -> None:
        if self._pipe is not None and self._paused != on:
            self._paused = on
            act: Callable[[], None] = self._pipe.pause_reading if on else self._pipe.resume_reading
            act()
