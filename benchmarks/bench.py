"""The environment of the benchmarks: empty homes, a model server, daemons, and a client."""

import http.client
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.processes import python, running

HOB = str(Path(python()).with_name("hob"))
TOKEN = "a-token-of-the-benchmarks"
VECTORS = Path(tempfile.gettempdir()) / "hob-bench-vectors.db"


@dataclass(frozen=True, slots=True)
class Daemon:
    """A running Hob, or a baseline that speaks the same HTTP. `ready` is the start time in seconds."""

    pid: int
    url: str
    ready: float

    def client(self) -> "Client":
        """Open a connection."""
        return Client(self.url)


@dataclass(frozen=True, slots=True)
class Bench:
    """One run of the benchmarks. `quick` measures less often, so its figures are too rough to quote. `hob` is the
    program.

    `questions`, `embedder` and `vectors`: see `recall_quality`.
    """

    root: Path
    model: str
    model_pid: int
    quick: bool = False
    hob: str = HOB
    questions: Path | None = None
    embedder: Path | None = None
    vectors: Path = VECTORS

    def times(self, many: int, few: int) -> int:
        """Return the number of repetitions: `few` for a quick run."""
        return few if self.quick else many

    def home(self) -> Path:
        """Create an empty home."""
        return Path(tempfile.mkdtemp(prefix="home-", dir=self.root))

    def workspace(self, home: Path) -> Path:
        """Return the workspace of a home. It is beside the home, which is private and out of reach for tools."""
        return home.with_name(f"{home.name}-workspace")

    def environ(self, home: Path) -> dict[str, str]:
        """Return the environment for a Hob in this home. Compiled modules are kept out of the working tree."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return kept | {
            "HOB_HOME": str(home),
            "HOB_WORKSPACE_PATH": str(self.workspace(home)),
            "HOB_GATEWAY_PORT": "0",
            "HOB_GATEWAY_AUTH_TOKEN": TOKEN,
            "OPENAI_API_KEY": "benchmark",
            "OPENAI_BASE_URL": self.model,
            "PYTHONPYCACHEPREFIX": str(self.root / "compiled"),
        }

    @contextmanager
    def daemon(self, home: Path, command: Sequence[str] = ()) -> Iterator[Daemon]:
        """Run `hob serve` on this home, or another server command."""
        with running(command or (self.hob, "serve"), self.environ(home), "ready: ") as (pid, line, seconds):
            yield Daemon(pid, line.partition("ready: ")[2].partition(",")[0], seconds)

    @contextmanager
    def program(self, name: str, *arguments: str) -> Iterator[Daemon]:
        """Run a server from `benchmarks.programs`, whose first output line is its URL."""
        command = (python(), "-m", f"benchmarks.programs.{name}", *arguments)
        with running(command, self.environ(self.root)) as (pid, line, seconds):
            yield Daemon(pid, line, seconds)

    def asked(self) -> list[bytes]:
        """Return the bodies of the requests that the model server received since the last call."""
        client = Client(self.model.removesuffix("/v1"))
        rows = client.get("/_fake/requests")
        client.call("DELETE", "/_fake/requests")
        return [row["body"].encode() for row in rows if row["method"] == "POST"]


class Client:
    """A persistent connection to a server."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)

    def call(self, method: str, path: str, body: Mapping[str, Any] | Sequence[Any] | None = None) -> Any:
        """Send a request and return the JSON of the answer. Raises RuntimeError unless the status is 200 or 202."""
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        self._connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self._connection.getresponse()
        text = response.read()
        if response.status not in {200, 202}:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:300]!r}")
        return json.loads(text)

    def get(self, path: str) -> Any:
        """Return the JSON at this path."""
        return self.call("GET", path)

    def say(self, text: str, session: str = "main") -> dict[str, Any]:
        """Send a message and return its result. Raises RuntimeError if it has no reply."""
        result: dict[str, Any] = self.call("POST", "/chat", {"message": text, "session": session})
        if not result["reply"]:
            raise RuntimeError(f"no reply: {result}")
        return result

    def close(self) -> None:
        self._connection.close()


@contextmanager
def open_bench(*, quick: bool) -> Iterator[Bench]:
    """Create a temporary environment with a model server; it is deleted when the block ends."""
    with tempfile.TemporaryDirectory(prefix="hob-bench-") as name:
        root = Path(name)
        environ = {"PATH": os.environ.get("PATH", ""), "PYTHONPYCACHEPREFIX": str(root / "compiled")}
        command = (python(), "-m", "hob.testing.model_server", "--keep", "100")
        with running(command, environ, "http") as (pid, url, _):
            yield Bench(root, url, pid, quick)


def seconds_of(client: Client, text: str) -> float:
    """Return the wall seconds from sending a message to receiving its answer."""
    began = time.perf_counter()
    client.say(text)
    return time.perf_counter() - began
