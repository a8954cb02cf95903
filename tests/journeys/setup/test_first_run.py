"""From a clone to the first answer with an empty folder, an empty home and a bare environment."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hob.testing.model_server import ModelServer
from tests.app.managers import put_managers
from tests.journeys.pty_session import CTRL_D, ENTER, open_terminal

ROOT = Path(__file__).parents[3]
MAX_SECONDS = 60.0
"""Seconds from the first key press to the first answer, including installation."""

NETWORK = ("PIP_", "UV_", "SSL_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
"""This machine's way to a package index."""

pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists() or not all(map(shutil.which, ("git", "make"))), reason="needs a clone, git and make"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="hob") as root:  # a Unix socket's path must be short
        (Path(root) / "home").mkdir()
        yield Path(root)


def clone(folder: Path) -> Path:
    """Clone the committed files, as a newcomer does."""
    target = folder / "hob"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{ROOT}", str(target)], check=True, timeout=60)
    return target


def one_command() -> list[str]:
    """Return the command in the README."""
    first = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)[0]
    return str(first.splitlines()[0].partition("#")[0]).split()


def bare(folder: Path, **more: str) -> dict[str, str]:
    python = Path(sys.base_prefix) / "bin"
    put_managers(folder / "bin")  # the tester's services are not touched
    return {
        "PATH": f"{folder / 'bin'}:{python}:/usr/bin:/bin",
        "FAKE": str(folder),
        "HOME": str(folder / "home"),
        "LANG": "C.UTF-8",
        **more,
    }


def install_nothing(repository: Path, environ: dict[str, str]) -> None:
    """Make the clone use the packages installed for the tests."""
    program = repository / ".venv" / "bin" / "hob"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m hob "$@"\n')
    program.chmod(0o755)
    (repository / ".venv" / "ready").touch()
    environ["PYTHONPATH"] = str(repository / "src")


def say(repository: Path, environ: dict[str, str]) -> str:
    done = subprocess.run(
        one_command(),
        cwd=repository,
        env=environ,
        input="hello\n",
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def test_clone_answers_if_a_model_is_configured(folder: Path) -> None:
    async with ModelServer() as server:
        environ = bare(folder, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="key")
        repository = clone(folder)
        install_nothing(repository, environ)
        answer = await asyncio.to_thread(say, repository, environ)
    assert re.fullmatch(r"You said: <untrusted-\w+ from=stdin>\nhello\n", answer[answer.index("You said") :])


async def test_clone_leads_a_newcomer_to_the_first_answer(folder: Path) -> None:
    async with ModelServer() as server:
        environ = bare(folder)
        repository = clone(folder)
        install_nothing(repository, environ)
        command = ["make", "-C", str(repository), *one_command()[1:]]
        async with open_terminal(command, environ, rows=50) as terminal:
            await terminal.see("Which model should Hob use", "Not now")
            terminal.type("2", ENTER)
            await terminal.see("Its address")
            terminal.type(server.url, ENTER)
            await terminal.see("Its key")
            terminal.type(ENTER)
            asked = ("call you", "own messages", "fetch packages", "Which search service", "Dollars that Hob")
            for words in (*asked, "in the background"):
                await terminal.see(words)
                terminal.type(ENTER)
            await terminal.see("Hob is ready")
            terminal.type("hello", ENTER)
            await terminal.see("You said: hello")
            terminal.type(CTRL_D)
            assert await terminal.ended() == 0


@pytest.mark.full
@pytest.mark.timeout(900)
async def test_first_answer_comes_within_a_minute_of_cloning(folder: Path) -> None:
    network = {name: value for name, value in os.environ.items() if name.startswith(NETWORK)}
    async with ModelServer() as server:
        began = time.monotonic()
        repository = clone(folder)
        environ = bare(folder, **network, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="key")
        answer = await asyncio.to_thread(say, repository, environ)
        seconds = time.monotonic() - began
    # with more processes than processors, each takes longer
    busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    print(f"the first answer came {seconds:.1f} s after `git clone`, on a machine that was {busy:.1f} times full")
    assert answer.endswith("You said: hello\n")
    assert seconds / busy < MAX_SECONDS


def test_make_run_says_how_hob_was_started_and_links_it(folder: Path) -> None:
    environ = bare(folder)
    repository = clone(folder)
    install_nothing(repository, environ)
    told = make(repository, environ, "run")
    assert told.returncode == 0
    assert "make link" in told.stderr
    assert told.stderr.endswith('A chat needs a terminal; without one: .venv/bin/hob ask "..."\n')
    linked = make(repository, environ, "link")
    assert f"{folder}/home/.local/bin" in linked.stdout
    environ["PATH"] = f"{folder}/home/.local/bin:{environ['PATH']}"
    version = subprocess.run(["hob", "--version"], env=environ, capture_output=True, text=True, check=True)
    assert version.stdout.strip()
    assert "make link" not in make(repository, environ, "run").stderr
    (folder / "home/.local/bin/hob").unlink()
    (folder / "home/.local/bin/hob").write_text("another\n")
    assert "is another program" in make(repository, environ, "link").stdout


def test_make_run_refuses_an_old_python_in_one_sentence(folder: Path) -> None:
    old = folder / "python3.10"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    told = make(clone(folder), bare(folder), "run", f"PYTHON={old}")
    assert "Hob needs Python 3.11 or newer" in told.stdout
    assert "Traceback" not in told.stdout + told.stderr


def make(repository: Path, environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *words],
        cwd=repository,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
