"""Starts Python programs by forking a process that has loaded all of Hob: most of what a start costs is loading.

The tests ask over a Unix socket; each connection is one program. Its process is as real as any other, to be killed
like any other. What depends on how Python itself starts (locales, options) is not started this way.
"""

import asyncio
import atexit
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn

MODULE = "-m"
_STREAMS = {"stdin": "surrogateescape", "stdout": "surrogateescape", "stderr": "backslashreplace"}


class _Stream(asyncio.Protocol):
    """Hears when a transport has closed what it was given."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()


class _Output(asyncio.StreamReaderProtocol):
    """Its reader, and when the transport has closed what it was given."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()
        self.closed = asyncio.Event()
        super().__init__(self.reader)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.closed.set()


class ForkedProcess(asyncio.Protocol):
    """What the tests use of `asyncio.subprocess.Process`. After `communicate` nothing of it is open."""

    def __init__(self) -> None:
        self.pid = 0
        self.returncode: int | None = None
        self.stdin: asyncio.WriteTransport | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self.began = asyncio.Event()
        self.streams: list[tuple[asyncio.BaseTransport, asyncio.Event]] = []
        self._connection: asyncio.BaseTransport | None = None
        self._ended = asyncio.Event()
        self._told = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._connection = transport

    def data_received(self, data: bytes) -> None:
        self._told += data
        *lines, self._told = self._told.split(b"\n")
        for line in lines:
            if not self.pid:
                self.pid = int(line)
                self.began.set()
            else:
                self.returncode = int(line)
                self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.returncode is None:  # the server is gone, and with it all that is known
            self.returncode = -signal.SIGKILL
        self.began.set()
        self._ended.set()

    def close(self) -> None:
        """Hear no more of it."""
        if self._connection is not None:
            self._connection.close()

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    async def wait(self) -> int:
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    async def communicate(self, given: bytes | None = None) -> tuple[bytes, bytes]:
        """All that it still writes, and its end."""
        if self.stdin is not None:
            self.stdin.write(given or b"")
            self.stdin.close()
        out = await self.stdout.read() if self.stdout is not None else b""
        err = await self.stderr.read() if self.stderr is not None else b""
        await self.wait()
        for transport, closed in self.streams:
            transport.close()
            await closed.wait()
        return out, err


class ForkServer:
    """The client's side. The server ends with this process."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hob")
        self._path = str(Path(self._folder.name, "s"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self._path)
            listener.listen(64)
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(listener.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
            )
        atexit.register(self.close)

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()

    async def start(
        self,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        *,
        stdin: Any = subprocess.DEVNULL,
        stdout: Any,
        stderr: Any,
        terminal: bool = False,
    ) -> ForkedProcess:
        """Python with these arguments: `-m MODULE …` or a script. The streams are as `subprocess` takes them; they may
        be a `terminal` of its own.
        """
        process = ForkedProcess()
        asked = json.dumps({
            "arguments": list(arguments), "environ": dict(environ), "folder": str(Path.cwd()), "terminal": terminal
        })  # fmt: skip
        with ExitStack() as failing, ExitStack() as theirs:
            given, ours = [], {}
            for number, stream in enumerate((stdin, stdout, stderr)):
                if stream == subprocess.PIPE:
                    ends = [os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True)]
                    ours[number] = failing.enter_context(ends[number == 0])
                    given.append(theirs.enter_context(ends[number != 0]).fileno())
                elif stream in (None, subprocess.DEVNULL):
                    given.append(os.open(os.devnull, os.O_RDWR))
                    theirs.callback(os.close, given[-1])
                else:
                    given.append(stream if isinstance(stream, int) else stream.fileno())
            connection = failing.enter_context(socket.socket(socket.AF_UNIX))
            connection.connect(self._path)
            socket.send_fds(connection, [asked.encode() + b"\n"], given)
            theirs.close()
            await asyncio.get_running_loop().create_unix_connection(lambda: process, sock=connection)
            failing.callback(process.close)
            for number, end in ours.items():
                failing.callback((await self._connect(process, number, end)).close)
            await process.began.wait()
            failing.pop_all()
        return process

    async def _connect(self, process: ForkedProcess, number: int, end: IO[bytes]) -> asyncio.BaseTransport:
        loop = asyncio.get_running_loop()
        if number == 0:
            process.stdin, written = await loop.connect_write_pipe(_Stream, end)
            process.streams.append((process.stdin, written.closed))
            return process.stdin
        transport, output = await loop.connect_read_pipe(_Output, end)
        process.streams.append((transport, output.closed))
        if number == 1:
            process.stdout = output.reader
        else:
            process.stderr = output.reader
        return transport


@cache
def fork_server() -> ForkServer:
    """The one of this process, started when it is first needed."""
    return ForkServer()


def load_all() -> None:
    """Import every module of Hob."""
    import hob

    for found in pkgutil.walk_packages(hob.__path__, "hob."):
        if not found.name.endswith("__main__"):
            with suppress(ImportError):  # an extra that is not installed
                importlib.import_module(found.name)


def serve(listener: socket.socket) -> dict[str, Any] | None:
    """Fork for each connection until standard input ends. Returns in each child, with what is asked of it."""
    wakes, woken = os.pipe()
    os.set_blocking(wakes, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    children: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        for each in (listener, wakes, 0):
            selector.register(each, selectors.EVENT_READ)
        while True:
            ready = [key.fileobj for key, _ in selector.select()]
            if 0 in ready:
                return None
            if wakes in ready:
                with suppress(BlockingIOError):
                    os.read(wakes, 4096)
                _bury(children)
            if listener in ready:
                connection, _ = listener.accept()
                asked, fds = _read(connection)
                if (pid := os.fork()) == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for number, fd in enumerate(fds):
                        os.dup2(fd, number)
                    for each in (connection, listener, *children.values()):
                        each.close()
                    for fd in (wakes, woken, *fds):
                        os.close(fd)
                    return asked
                for fd in fds:
                    os.close(fd)
                with suppress(OSError):  # whoever asked has given up
                    connection.sendall(f"{pid}\n".encode())
                children[pid] = connection


def _read(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    data, fds, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    while not data.endswith(b"\n"):
        data += connection.recv(1 << 20)
    return json.loads(data), fds


def _bury(children: dict[int, socket.socket]) -> None:
    """Tell of each child that has ended."""
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            with suppress(OSError), children.pop(found[0]) as connection:
                connection.sendall(f"{os.waitstatus_to_exitcode(found[1])}\n".encode())


def main() -> None:
    sys.path.append(str(Path(__file__).parents[2]))  # this is run by its path
    from tests.scans import record_for_others

    load_all()
    record_for_others()
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        asked = serve(listener)
    if asked is None:
        return
    os.environ.clear()
    os.environ.update(asked["environ"])
    os.chdir(asked["folder"])
    time.tzset()
    if asked["terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number, (name, errors) in enumerate(_STREAMS.items()):  # those that there are know what stood there before
        stream = open(number, "w" if number else "r", encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        if number:
            stream.reconfigure(line_buffering=stream.isatty() or name == "stderr")
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    _exit_at_once(_status_of(asked["arguments"]))


def _status_of(arguments: list[str]) -> int:
    """Run the program; its exit status, after it has said why it ended."""
    first, *rest = arguments
    try:
        if first == MODULE:
            sys.argv = rest
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments
            runpy.run_path(first, run_name="__main__")
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except Exception:  # noqa: BLE001 - as Python itself does
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _exit_at_once(status: int) -> NoReturn:
    """End as Python does, but destroy nothing: to take all of Hob apart costs more than most programs do."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            status = status or 120
    os._exit(status & 0xFF)


if __name__ == "__main__":
    main()
