"""Commands beside another owner of the home."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from hob.app.daemon.daemon_client import reach_long
from hob.app.daemon.unix_http import NotRunning, call
from hob.app.home import own, socket_of
from hob.cli.table import run
from hob.core.errors import NotFound


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize("command", [["status"], ["export", "--all"]], ids=lambda words: words[0])
def test_command_waits_for_a_home_owned_only_briefly(
    home: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with own(home, "ask"):
        status: list[int] = []
        beside = threading.Thread(target=lambda: status.append(run(command)))
        beside.start()
        beside.join(1)
        assert (beside.is_alive(), status) == (True, [])
    beside.join(20)
    assert (status, capsys.readouterr().err) == ([0], "")


def test_unresponsive_owner_of_the_home_is_named(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hob.app.daemon.daemon_client.OPENING_SECONDS", 0.2)
    with own(home, "ask"):
        assert run(["status"]) == 1
    assert "in use by hob ask, pid" in capsys.readouterr().err


@pytest.mark.parametrize("running", [False, True])
def test_long_work_is_followed_with_and_without_a_daemon(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], running: bool
) -> None:
    settings = {
        "GATEWAY_PORT": "0",
        "DASHBOARD_PORT": "0",
        "MODEL_BASE_URL": "http://127.0.0.1:9",
        "MODEL_NAME": "m",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"HOB_{name}", value)
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "workspace"))
    (folder := tmp_path / "papers").mkdir()
    for name in "ab":
        (folder / f"{name}.md").write_text(f"# {name}\nThe leeks of {name}.\n")
    with daemon(home) if running else nullcontext():
        told: list[Mapping[str, Any]] = []
        done = reach_long("/memory/files", {"path": str(folder)}, told.append)
        assert ([(each["seen"], each["of"]) for each in told], told[-1]) == ([(1, 2), (2, 2)], done)
        with pytest.raises(NotFound, match="there is no file"):
            reach_long("/memory/files", {"path": str(folder / "none")}, told.append)
        for name in ("a.bin", "b.bin", "x.json", "Makefile"):
            (folder / name).write_bytes(b"\1")
        capsys.readouterr()
        assert run(["memory", "add", str(folder)]) == 0
        unread = "Not read: 4 files of kinds that Hob does not read (.bin, no ending, .json)."
        assert unread in capsys.readouterr().err.splitlines()


@contextmanager
def daemon(home: Path) -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-m", "hob", "serve"], stdout=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 60
            while True:
                try:
                    call(socket_of(home), "GET", "/health")
                    break
                except NotRunning:
                    assert process.poll() is None
                    assert time.monotonic() < until
            yield
        finally:
            process.terminate()


@pytest.mark.parametrize("end", [b"", b'10\r\n{"items": 20', b"0\r\n\r\n"], ids=["lost", "in a line", "ended"])
def test_interrupted_work_is_reported(
    home: Path, tmp_path: Path, end: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    (tmp_path / "items.jsonl").write_text("")
    told = b'{"items": 1000, "new": 1000, "of": 3000}\n'
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(socket_of(home)))
        listening.listen()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
                connection.sendall(b"%x\r\n%s\r\n%s" % (len(told), told, end))

        beside = threading.Thread(target=serve)
        beside.start()
        assert run(["memory", "import", str(tmp_path / "items.jsonl")]) == 1
        beside.join(10)
    assert "it continues where it was" in capsys.readouterr().err
