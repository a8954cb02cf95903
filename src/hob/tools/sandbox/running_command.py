"""A running command: its buffered output, its input, and how it ends with everything it started."""

import asyncio
import fcntl
import os
import pty
import struct
import termios
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import cast

from hob.core.clock import Clock
from hob.core.errors import ToolFailed
from hob.core.ports.processes import ProcessRecords
from hob.core.values import dataclass
from hob.tools.sandbox.job import MIB, EndReason, JobFinished, Limits, SandboxJob, Window
from hob.tools.sandbox.launcher.launcher import Backend, Launch
from hob.tools.sandbox.network.hosts import HostDecision, HostDecisionCallback

# Output buffer: the beginning and the end are kept; the middle of long output is counted and passed on.

MAX_KEPT = 256 * 1024
_HEAD = 0.4  # share of the beginning; the most important output is at the end

OutputCallback = Callable[[bytes], None]


def discard(*_: object) -> None:
    """Discard the output."""


class CommandOutputBuffer:
    """Buffers output. `on_output` receives every piece, including those not kept."""

    def __init__(self, on_output: OutputCallback = discard, maximum: int = MAX_KEPT) -> None:
        self.total = 0
        self._on_output = on_output
        self._room = int(maximum * _HEAD)
        self._most_tail = maximum - self._room
        self._head = bytearray()
        self._tail = bytearray()
        self._news = bytearray()
        self._missed = 0

    def feed(self, piece: bytes) -> None:
        """Add a piece."""
        self.total += len(piece)
        self._on_output(piece)
        self._news += piece
        if (over := len(self._news) - self._most_tail) > 0:
            del self._news[:over]
            self._missed += over
        room = self._room - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:] if room else piece
        if len(self._tail) > 2 * self._most_tail:  # trimmed only now and then, so that small pieces stay cheap
            del self._tail[: -self._most_tail]

    @property
    def kept(self) -> bytes:
        """The beginning and the end, without the middle."""
        return bytes(self._head) + bytes(self._tail[-self._most_tail :])

    @property
    def left_out(self) -> int:
        """Number of bytes missing in the middle."""
        return self.total - len(self.kept)

    @property
    def gap(self) -> int:
        """Position of the missing bytes in `kept`."""
        return len(self._head)

    def take_news(self) -> tuple[bytes, int]:
        """Return the output since the last call, and the number of bytes before it that were dropped."""
        news, missed = bytes(self._news), self._missed
        self._news.clear()
        self._missed = 0
        return news, missed


GRACE = 2.0  # seconds between SIGTERM and SIGKILL
_DEAD = 5.0  # seconds within which killed processes are gone
_AFTER_EXIT = 1.0  # seconds to wait for the last output after the exit, as another process may hold the pipe open
_LOOK = 1.0  # seconds between checks of the bytes written to disk
_MAX_UNREAD = 4 * MIB
_MAX_DECISIONS = 100  # reported per command, because a command could ask for hosts endlessly
_PIECE = 64 * 1024
_NOT_STARTED = 126


@dataclass(frozen=True, slots=True)
class OutputCallbacks:
    """Callbacks for a command's output and network decisions.

    `errors` receives the standard error separately, and refused network access; without it, both are part of the
    output.
    """

    output: OutputCallback = discard
    network: HostDecisionCallback = discard
    errors: OutputCallback | None = None


class HostDecisions:
    """Reports each decision about a command's network once. Refusals are added to its output, because few programs show
    a proxy's answer.
    """

    def __init__(self, output: OutputCallback, on_decision: HostDecisionCallback) -> None:
        self._output = output
        self._tell = on_decision
        self._told: set[HostDecision] = set()

    def note(self, decision: HostDecision) -> None:
        """Report a decision unless it was reported before."""
        if decision in self._told or len(self._told) >= _MAX_DECISIONS:
            return
        self._told.add(decision)
        self._tell(decision)
        if not decision.allowed:
            what = f"credential {decision.credential} for" if decision.credential else "network to"
            self._output(f"[no {what} {decision.host}:{decision.port}: {decision.reason}]\n".encode())


@dataclass(slots=True)
class Streams:
    """Hob's ends of a command's input and output, the same descriptor for a terminal. None for a missing one."""

    reading: int | None
    writing: int | None
    terminal: bool


class RunningCommand(asyncio.SubprocessProtocol):
    """A running command. Created by `start`; ends on its own or by `stop`."""

    def __init__(
        self,
        launch: Launch,
        streams: Streams,
        clock: Clock,
        output: CommandOutputBuffer,
        limits: Limits,
        errors: OutputCallback = discard,
    ) -> None:
        self.output = output
        self._launch = launch
        self._streams = streams
        self._clock = clock
        self._errors = errors
        self._most_output = limits.output
        self._most_written = limits.written
        self._began = clock.monotonic()
        self._seconds = 0.0
        self._status: int | None = None
        self._reason = EndReason.EXITED
        self._unwritten = bytearray()
        self._closing = False
        self._exited = asyncio.Event()
        self._closed = asyncio.Event()
        self._after = ExitStack()
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.SubprocessTransport | None = None

    @property
    def pid(self) -> int:
        """The id of the process that was started for it."""
        return self._transport.get_pid() if self._transport is not None else 0

    @property
    def running(self) -> bool:
        """Whether the command has not ended yet."""
        return not self._closed.is_set()

    async def wait(self, seconds: float | None = None) -> JobFinished | None:
        """Return how the command ended, or None if it is still running after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._closed.wait()
        except TimeoutError:
            return None
        return self.finished

    @property
    def finished(self) -> JobFinished:
        """How the command ended, or its current state."""
        status, reason = self._status, self._reason
        if status is None and not self.running and reason is EndReason.EXITED:
            reason = EndReason.NOT_STARTED
        kept, left_out, gap = self.output.kept, self.output.left_out, self.output.gap
        return JobFinished(reason, _NOT_STARTED if status is None else status, kept, left_out, self._seconds, gap)

    async def stop(self, reason: EndReason = EndReason.STOPPED, grace: float = GRACE) -> JobFinished:
        """Stop the command with SIGTERM, then SIGKILL after `grace` seconds. On return, nothing it started is left."""
        if not self._exited.is_set():
            self._reason = reason
            if grace > 0:
                self._launch.processes.terminate(self.pid)
                await self.wait(grace)
        if not self._exited.is_set():
            self._launch.processes.kill(self.pid)
            await self.wait(_DEAD)
        if not self._exited.is_set() and self._transport is not None:
            self._transport.kill()
        await self._closed.wait()
        return self.finished

    def write(self, data: bytes, *, end: bool = False) -> None:
        """Write to the command's input; `end` closes the input. Raises ToolFailed if it cannot be written to."""
        if self._streams.writing is None or self._closing or not self.running:
            raise ToolFailed("The command reads nothing more.")
        if len(self._unwritten) + len(data) > _MAX_UNREAD:
            raise ToolFailed("The command has not read what it was sent before.")
        self._closing = end
        self._unwritten += data + (b"\x04" if end and self._streams.terminal else b"")
        self._flush()

    # Callbacks of the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        if self._streams.reading is not None:
            self._loop.add_reader(self._streams.reading, self._read)
        self._loop.call_later(_LOOK, self._look)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._errors(data)

    def process_exited(self) -> None:
        self._seconds = self._clock.monotonic() - self._began
        code = None if self._transport is None else self._transport.get_returncode()
        self._status = None if code is None else self._launch.processes.status(code)
        self._exited.set()
        if self._streams.reading is None:
            self.close()
        else:
            self._loop.call_later(_AFTER_EXIT, self.close)

    def close(self) -> None:
        """Release the command's resources after it has exited or failed to start."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._end_writing()
        self._end_reading()
        self._after.close()
        if self._transport is not None:
            self._transport.close()

    def keep(self, after: ExitStack) -> None:
        """Hold these resources until the command has ended."""
        self._after = after

    def _read(self) -> None:
        reading = self._streams.reading
        if reading is None:
            return
        try:
            piece = os.read(reading, _PIECE)
        except BlockingIOError:
            return
        except OSError:  # EIO: the terminal is closed on the other side
            piece = b""
        if not piece:
            self._end_reading()
            if self._exited.is_set():
                self.close()
            return
        self.output.feed(piece)
        if self.output.total > self._most_output:
            self._end(EndReason.TOO_MUCH_OUTPUT)

    def _look(self) -> None:
        """Check periodically how much was written to disk, because the kernel limits only single files."""
        if self._exited.is_set():
            return
        if sum(map(_bytes_written, _descendants(self.pid))) > self._most_written:
            self._end(EndReason.TOO_MUCH_WRITTEN)
        else:
            self._loop.call_later(_LOOK, self._look)

    def _end(self, reason: EndReason) -> None:
        if self._reason is EndReason.EXITED and not self._exited.is_set():
            self._reason = reason
            self._launch.processes.kill(self.pid)

    def _flush(self) -> None:
        writing = self._streams.writing
        if writing is None:
            return
        self._loop.remove_writer(writing)
        try:
            while self._unwritten:
                del self._unwritten[: os.write(writing, self._unwritten[:_PIECE])]
        except BlockingIOError:
            self._loop.add_writer(writing, self._flush)
            return
        except OSError:  # the command no longer reads
            self._unwritten.clear()
            self._closing = True
        if self._closing and not self._streams.terminal:
            self._end_writing()

    def _end_writing(self) -> None:
        writing, self._streams.writing = self._streams.writing, None
        if writing is not None:
            self._loop.remove_writer(writing)
            if not self._streams.terminal:
                os.close(writing)

    def _end_reading(self) -> None:
        reading, self._streams.reading = self._streams.reading, None
        if reading is not None:
            self._loop.remove_reader(reading)
            if self._streams.terminal:
                self._end_writing()
            os.close(reading)


async def start(
    backend: Backend,
    job: SandboxJob,
    clock: Clock,
    *,
    limits: Limits,
    interactive: bool = False,
    callbacks: OutputCallbacks | None = None,
    records: ProcessRecords | None = None,
) -> RunningCommand:
    """Start a command and list it in `records` until it ends. It has an input only if it is `interactive`.

    The caller must end it with `stop`, or wait for its end. Raises NotConfigured and ToolFailed.
    """
    callbacks = callbacks or OutputCallbacks()
    with ExitStack() as before, ExitStack() as after:
        output = CommandOutputBuffer(callbacks.output)
        launch = backend.prepare(
            job, HostDecisions(callbacks.errors or output.feed, callbacks.network).note, before, after
        )
        streams, (stdin, stdout) = _open_streams(job.window, interactive, before)
        running = RunningCommand(launch, streams, clock, output, limits, callbacks.errors or discard)
        held = after.pop_all()
        running.keep(held)
        try:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: running,
                *launch.argv,
                stdin=stdin,
                stdout=stdout,
                stderr=stdout if callbacks.errors is None else asyncio.subprocess.PIPE,
                env=dict(launch.environ),
                cwd=launch.folder,
                pass_fds=launch.fds,
                start_new_session=True,
            )
        except OSError as error:
            running.close()
            raise ToolFailed(f"The command cannot be started: {error.strerror}.") from error
        except BaseException:
            running.close()
            raise
    if records is not None:
        records.add(running.pid)
        held.callback(records.remove, running.pid)
    try:
        await launch.processes.started()
    except BaseException:
        await running.stop(grace=0)
        raise
    return running


async def run(
    backend: Backend,
    job: SandboxJob,
    clock: Clock,
    *,
    limits: Limits,
    seconds: float = 60.0,
    stdin: bytes = b"",
    callbacks: OutputCallbacks | None = None,
    records: ProcessRecords | None = None,
) -> JobFinished:
    """Run a command to its end, or for at most `seconds`. Nothing of it is left afterwards, even if this is cancelled.

    Raises NotConfigured and ToolFailed.
    """
    running = await start(
        backend, job, clock, limits=limits, interactive=bool(stdin), callbacks=callbacks, records=records
    )
    try:
        if stdin:
            running.write(stdin, end=True)
        finished = await running.wait(seconds)
        return finished or await running.stop(EndReason.TIMED_OUT)
    finally:
        if running.running:
            await running.stop(grace=0)


def _descendants(pid: int) -> Iterator[int]:
    """Yield this process and all its descendants, as far as the kernel tells."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in task.read_text("ascii").split():
                yield from _descendants(int(child))


def _bytes_written(pid: int) -> int:
    """Return the bytes that a process and its ended children wrote to disk, or 0 if unknown."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text("ascii").splitlines()
        told = {name: int(value) for name, _, value in (line.partition(": ") for line in lines)}
    except OSError:
        return 0
    return told["write_bytes"] - told["cancelled_write_bytes"]


def _open_streams(window: Window | None, interactive: bool, before: ExitStack) -> tuple[Streams, tuple[int, int]]:
    """Open Hob's ends and the command's; the latter are closed once the command has them."""
    if window is not None:
        ours, theirs = pty.openpty()
        before.callback(os.close, theirs)
        _set_size(theirs, window)
        os.set_blocking(ours, False)
        return Streams(ours, ours, terminal=True), (theirs, theirs)
    reading, stdout = os.pipe()
    before.callback(os.close, stdout)
    os.set_blocking(reading, False)
    if not interactive:
        return Streams(reading, None, terminal=False), (asyncio.subprocess.DEVNULL, stdout)
    stdin, writing = os.pipe()
    before.callback(os.close, stdin)
    os.set_blocking(writing, False)
    return Streams(reading, writing, terminal=False), (stdin, stdout)


def _set_size(terminal: int, window: Window) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", window.rows, window.columns, 0, 0))
