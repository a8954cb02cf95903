"""A home, a platform and a model server; daemons that are started, killed and started again in it."""

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hob.testing.channel import SpoolChannel
from hob.testing.model_server import ModelServer
from tests.confined import BACKEND

from .fork_server import MODULE, fork_server
from .pty_session import Process

TOKEN = "journeys-token-0123456789"
HARNESS = str(Path(__file__).with_name("harness.py"))
_WITH_FEW = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2)
os.execv(sys.executable, [sys.executable, "-m", "hob", "serve"])
"""
_OF_PYTHON = re.compile(r"PYTHON|LC_|LANG")
SHARED = pytest.mark.asyncio(loop_scope="module")
"""Of a journey whose daemon is its module's."""
LOST = (httpx2.TransportError, OSError)
"""What a client sees of a process that dies."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command line program said, and how it ended."""

    status: int
    out: str
    err: str


class Daemon:
    """One process. `url` is its API's."""

    def __init__(self, process: Process, url: str, errors: Path) -> None:
        self.process = process
        self.killed = False
        self.url = url
        self._errors = errors
        self.client = httpx2.AsyncClient(
            base_url=url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=60, trust_env=False
        )

    @property
    def errors(self) -> str:
        """What it said on standard error."""
        return self._errors.read_text()

    async def post(self, text: str, *, key: str = "", **fields: Any) -> httpx2.Response:
        """Send a message and wait for its outcome. Raises one of LOST when the daemon dies meanwhile."""
        headers = {"idempotency-key": key} if key else {}
        return await self.client.post("/chat", json={"message": text, **fields}, headers=headers)

    async def get(self, id: str, wait: float = 0) -> dict[str, Any]:
        """What became of a message, after waiting so long for its end."""
        body: dict[str, Any] = (await self.client.get(f"/chat/{id}", params={"wait": wait})).json()
        return body

    async def ask(self, route: str, **query: Any) -> dict[str, Any]:
        """Some view."""
        body: dict[str, Any] = (await self.client.get(route, params=query)).raise_for_status().json()
        return body

    async def events(self, text: str, key: str, **fields: Any) -> AsyncGenerator[tuple[str, dict[str, Any]], None]:
        """Send a message and see its events. Raises one of LOST when the daemon dies meanwhile."""
        headers = {"idempotency-key": key, "accept": "text/event-stream"}
        body = {"message": text, **fields}
        async with self.client.stream("POST", "/chat", json=body, headers=headers) as response:
            name = ""
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

    async def accepted(self, text: str, key: str, **fields: Any) -> str:
        """Send a message and approval as soon as it is acknowledged; its id."""
        async with aclosing(self.events(text, key, **fields)) as events:
            async for name, data in events:
                assert name == "accepted", data
                return str(data["id"])
        raise httpx2.ReadError("nothing came")

    def locks(self, home: Path) -> set[str]:
        """The files of the database on which this process holds a lock, as the kernel says.

        A reading of /proc/locks misses lines while others lock and unlock; a lock that was lost never comes back.
        """
        files = {(home / name).stat().st_ino: name for name in ("hob.db", "hob.db-shm")}
        held = [line.split() for _ in range(10) for line in Path("/proc/locks").read_text().splitlines()]
        places = [row[5] for row in held if row[1] == "POSIX" and row[4] == str(self.process.pid)]
        return {files[node] for place in places if (node := int(place.split(":")[2])) in files}

    def kill(self) -> None:
        """SIGKILL. Whatever the world starts next waits for its end."""
        self.killed = True
        self.signal(signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        """A signal, if it still lives."""
        if self.process.returncode is None:
            send(self.process, number)

    async def gone(self, seconds: float = 10) -> int:
        """Wait for its end; its exit status."""
        async with asyncio.timeout(seconds):
            return await self.process.wait()


def kinds_of(events: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """How many events of each kind; of those about turns the ends alone, not what became of it between two kills."""
    return Counter(event["kind"] for event in events if event["kind"] != "turn" or event["seconds"] is not None)


def send(process: Process, number: signal.Signals) -> None:
    """A signal to a child; unlike its own `kill` this never takes the exit status away from who waits for it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, number)


@dataclass(frozen=True, slots=True)
class World:
    """Where daemons live."""

    root: Path
    model: ModelServer
    daemons: list[Daemon] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def work(self) -> Path:
        """The work repository."""
        return self.root / "hob" / "work"

    @property
    def platform(self) -> Path:
        return self.root / "platform"

    def environ(self, **more: str) -> dict[str, str]:
        """What a process of this world is given: nothing of the tester's own settings."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HOB_", "OPENAI_"))}
        return kept | {
            "HOME": str(self.root),
            "HOB_HOME": str(self.home),
            "HOB_GATEWAY_PORT": "0",
            # by itself the dashboard takes the port after that, which nobody holds
            **({"HOB_DASHBOARD_PORT": "0"} if "HOB_GATEWAY_PORT" in more else {}),
            "HOB_GATEWAY_AUTH_TOKEN": TOKEN,
            "HOB_MODEL_NAME": "fake-1",
            "HOB_MEMORY_BACKGROUND_TOKENS": "0",  # what the model is asked is what a test asks
            "HOB_SANDBOX_BACKEND": BACKEND,
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_BASE_URL": self.model.url,
            **more,
        }

    @asynccontextmanager
    async def harness(self, crash: str = "", poison: str = "", **environ: str) -> AsyncIterator[Daemon]:
        """The daemon with platform and tools, that dies at this boundary, and whenever it thinks about poison."""
        async with self._started([HARNESS, str(self.platform), crash, poison], environ) as daemon:
            yield daemon

    @asynccontextmanager
    async def serve(self, **environ: str) -> AsyncIterator[Daemon]:
        """`hob serve`."""
        async with self._started(["-m", "hob", "serve"], environ) as daemon:
            yield daemon

    @asynccontextmanager
    async def program(self, *arguments: str) -> AsyncIterator[Daemon]:
        """A daemon that is started by this command line of Python's."""
        async with self._started([*arguments], {}) as daemon:
            yield daemon

    @asynccontextmanager
    async def serve_with_few(self, descriptors: int) -> AsyncIterator[Daemon]:
        """`hob serve` that may hold so many files and connections open."""
        async with self._started(["-c", _WITH_FEW, str(descriptors)], {}) as daemon:
            yield daemon

    async def stillborn(self, seconds: float, *, harness: bool) -> None:
        """A daemon, killed so long after it was started."""
        program = [HARNESS, str(self.platform)] if harness else ["-m", "hob", "serve"]
        process = await self._start(program, {}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await process.wait()
        if process.returncode is None:
            send(process, signal.SIGKILL)
        await process.communicate()

    async def _start(
        self,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        *,
        stdin: Any = subprocess.DEVNULL,
        stdout: Any,
        stderr: Any,
    ) -> Process:
        """Python with these arguments; from the fork server, where how Python starts is no matter."""
        variables = self.environ(**environ)
        if arguments[0] == "-c" or any(map(_OF_PYTHON.match, environ)):
            return await asyncio.create_subprocess_exec(
                sys.executable, *arguments, env=variables, stdin=stdin, stdout=stdout, stderr=stderr
            )
        return await fork_server().start(arguments, variables, stdin=stdin, stdout=stdout, stderr=stderr)

    @asynccontextmanager
    async def _started(self, arguments: list[str], environ: Mapping[str, str]) -> AsyncIterator[Daemon]:
        for killed in (each for each in self.daemons if each.killed):
            await killed.gone()
        errors = self.root / "stderr.log"
        with errors.open("ab") as log:
            process = await self._start(arguments, environ, stdout=subprocess.PIPE, stderr=log)
        try:
            daemon = Daemon(process, await self._ready(process, errors), errors)
            self.daemons.append(daemon)
            async with daemon.client:
                yield daemon
        finally:
            if process.returncode is None:
                send(process, signal.SIGKILL)
            await process.communicate()

    async def _ready(self, process: Process, errors: Path) -> str:
        assert process.stdout is not None
        async with asyncio.timeout(20):
            line = (await process.stdout.readline()).decode()
        found = re.search(r"ready: (https?://[^\s,]+)", line)
        assert found is not None, f"not ready: {line!r} {errors.read_text()}"
        return found[1]

    @asynccontextmanager
    async def running(self, *arguments: str, **environ: str) -> AsyncIterator[Process]:
        """A `hob` command that runs while the block is open, at most."""
        process = await self._start(
            [MODULE, "hob", *arguments], environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                send(process, signal.SIGKILL)
            await process.communicate()

    async def hob(self, *arguments: str, stdin: bytes | None = None, **environ: str) -> Said:
        """Run a `hob` command to its end."""
        process = await self._start(
            [MODULE, "hob", *arguments],
            environ,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(60):
                out, err = await process.communicate(stdin)
        finally:
            if process.returncode is None:
                send(process, signal.SIGKILL)
                await process.communicate()
        return Said(process.returncode or 0, out.decode(), err.decode())

    async def say(self, text: str, key: str, chat: str) -> str:
        """Somebody writes on the platform; the id, once it is acknowledged. Raises one of LOST."""
        reader, writer = await asyncio.open_unix_connection(self.platform / "door")
        try:
            writer.write(json.dumps({"text": text, "key": key, "chat": chat}).encode() + b"\n")
            line = await reader.readline()
        finally:
            writer.close()
        if not line:
            raise ConnectionResetError("the platform's connection broke")
        return str(json.loads(line)["id"])

    def shown(self, chat: str | None = None) -> list[str]:
        """What the people of the platform see, in one chat or in all."""
        return [row["text"] for row in SpoolChannel(self.platform).shown() if chat in (None, row["chat"])]

    def effects(self, log: str) -> list[str]:
        """What a tool did, mark by mark."""
        file = self.platform / f"{log}.log"
        return file.read_text().split() if file.exists() else []


@dataclass(frozen=True, slots=True)
class Shared:
    """A world and its running daemon."""

    world: World
    daemon: Daemon


@asynccontextmanager
async def open_world(*, delay: float = 0.0) -> AsyncIterator[World]:
    """A world whose model thinks for so many seconds before each answer."""
    # not pytest's directory: a Unix socket's path has to be short
    with tempfile.TemporaryDirectory(prefix="hob") as root:
        async with ModelServer(delay=delay) as model:
            yield World(Path(root), model)


@contextmanager
def held_port() -> Iterator[int]:
    """A port for daemons of this block: while it is held nobody else is given it, and they may listen on it."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


async def until(condition: Any, seconds: float = 10) -> None:
    """Wait for what another process brings about. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - nobody sets an event over there
            await asyncio.sleep(0.01)
