"""The code on the pages runs."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from types import ModuleType

import pytest

from hob.app.imports.contents import SourceFolder
from hob.core.events.timeline import EventKind
from hob.testing.model_server import ModelServer

from .pages import page

pytestmark = pytest.mark.slow

TOKEN = "a-token-for-the-examples"


def program(name: str) -> str:
    """All Python of a page, as one program."""
    return "\n\n".join(page(name).blocks("python"))


def load(name: str) -> ModuleType:
    module = ModuleType("example")
    exec(compile(program(name), name, "exec"), vars(module))  # noqa: S102 - our own page
    return module


@pytest.mark.parametrize(
    "name",
    [
        "docs/how-to/use-the-fake-model-server.md",
        "docs/how-to/write-a-channel.md",
        "docs/how-to/write-a-toolset.md",
        "docs/how-to/write-a-plugin.md",
    ],
)
async def test_checks_of_the_page_hold(name: str) -> None:
    checks = [thing for key, thing in vars(load(name)).items() if key.startswith("test_")]
    assert checks
    for check in checks:
        await check()


def test_assistant_of_ones_own_is_taken_over_from(tmp_path: Path) -> None:
    parrot = load("docs/how-to/move-to-hob.md").PARROT
    folder = tmp_path.resolve() / ".parrot"
    folder.mkdir()
    (folder / "rules.md").write_text("- repeat\n")
    (folder / "talk.jsonl").write_text('{"words": "hello", "when": 1760000000}\nno line\n')
    assert parrot.knows(folder)
    with ExitStack() as stack:
        contents = parrot.read(SourceFolder(folder, True, {}, stack))
        (talk,) = contents.conversations
        said, passed = talk.read()
    assert (said.text, said.at, passed.why) == ("hello", 1_760_000_000, "lines that cannot be read")


@pytest.fixture
def root() -> Iterator[Path]:
    # not tmp_path: a Unix socket's path has to be short
    with tempfile.TemporaryDirectory(prefix="hob") as directory:
        yield Path(directory)


def sandbox_environment(root: Path, server: ModelServer) -> dict[str, str]:
    return {
        "HOB_HOME": str(root / "home"),
        "HOB_GATEWAY_PORT": "0",
        "HOB_GATEWAY_AUTH_TOKEN": TOKEN,
        "HOME": str(root),
        "OPENAI_BASE_URL": server.url,
        "PATH": os.environ["PATH"],
    }


@asynccontextmanager
async def running(environ: Mapping[str, str], *command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.communicate(), 20)


async def appear(folder: Path, pattern: str) -> list[Path]:
    async with asyncio.timeout(20):
        while not (found := list(folder.glob(pattern))):  # noqa: ASYNC110 - nobody sets an event over there
            await asyncio.sleep(0.01)
    return found


async def test_channel_of_the_page_answers(root: Path) -> None:
    source = root / "program.py"
    source.write_text(program("docs/how-to/write-a-channel.md"), "utf-8")
    async with ModelServer() as server:
        environ = sandbox_environment(root, server) | {"HOB_ADMISSION_ALLOW": '["folder:*"]'}
        async with running(environ, sys.executable, str(source)):
            folder = root / "hob-folder"
            await appear(folder, "out")
            part = folder / "in" / ".hello"
            part.write_text("hello", "utf-8")
            part.rename(folder / "in" / "hello.txt")
            replies = await appear(folder, "out/*.txt")
    (reply,) = replies
    assert "hello" in reply.read_text("utf-8").splitlines()  # in the marks of what a stranger wrote


async def test_toolset_of_the_page_is_used(root: Path) -> None:
    source = root / "program.py"
    source.write_text(program("docs/how-to/write-a-toolset.md"), "utf-8")
    note = root / "shelf" / "shopping.txt"
    note.parent.mkdir()
    note.write_text("milk\n", "utf-8")
    async with ModelServer() as server:
        environ = sandbox_environment(root, server)
        async with running(environ, sys.executable, str(source)):
            await appear(root, "home/hob.sock")
            said = 'CALL add_to_note {"name": "shopping", "line": "tea"}'
            asking = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "hob", "ask", said, env=environ, stdout=subprocess.PIPE
            )
            out, _ = await asyncio.wait_for(asking.communicate(), 20)
    assert b"added" in out
    assert note.read_text("utf-8") == "milk\ntea\n"


@pytest.mark.parametrize(
    ("page", "answers"),
    [
        ("talk-to-the-api", ["You said: hello", "done You said: take your time", "done"]),
        ("follow-hob-live", ["You said: hello"]),
        ("use-hob-as-an-openai-server", [*["You said: hello"] * 3, "True"]),
    ],
)
async def test_client_of_a_page_gets_its_answers(root: Path, page: str, answers: list[str]) -> None:
    source = root / "client.py"
    source.write_text(program(f"docs/how-to/{page}.md"), "utf-8")
    async with ModelServer() as server:
        environ = sandbox_environment(root, server)
        async with running(environ, sys.executable, "-m", "hob", "serve") as daemon:
            assert daemon.stdout is not None
            ready = (await asyncio.wait_for(daemon.stdout.readline(), 20)).decode()
            url = ready.partition("ready: ")[2].partition(",")[0]
            client = await asyncio.create_subprocess_exec(
                sys.executable, str(source), env=environ | {"HOB_URL": url, "HOB_TOKEN": TOKEN}, stdout=subprocess.PIPE
            )
            out, _ = await asyncio.wait_for(client.communicate(), 30)
    assert [line for line in out.decode().splitlines() if line not in set(EventKind)] == answers


async def test_receiver_of_the_page_takes_what_hob_tells_and_nothing_else(root: Path) -> None:
    source = root / "receiver.py"
    source.write_text(program("docs/how-to/send-webhooks.md"), "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
    url = f"http://127.0.0.1:{port}/"
    receiver = {"WEBHOOK_SECRET": secret, "PORT": str(port), "PATH": os.environ["PATH"]}
    settings = f'{{ here = {{ url = "{url}", secret = "env:WEBHOOK_SECRET", allow_private = true }} }}'
    async with ModelServer() as server, running(receiver, sys.executable, str(source)) as receiving:
        environ = sandbox_environment(root, server) | {"HOB_WEBHOOKS_OUT": settings, "WEBHOOK_SECRET": secret}
        async with running(environ, sys.executable, "-m", "hob", "serve"):
            await appear(root, "home/hob.sock")
            asking = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "hob", "ask", "hi", env=environ, stdout=subprocess.DEVNULL
            )
            await asyncio.wait_for(asking.wait(), 20)
            assert receiving.stdout is not None
            line = await asyncio.wait_for(receiving.stdout.readline(), 20)
        assert b"'type': 'turn.done'" in line
        for headers in ({"webhook-id": "a", "webhook-timestamp": "1", "webhook-signature": "v1,"}, {}):
            forged = urllib.request.Request(url, b"{}", headers)
            with pytest.raises(urllib.error.HTTPError, match="401"):
                await asyncio.to_thread(urllib.request.urlopen, forged)
