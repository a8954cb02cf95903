"""Commands beside another owner of the home."""

import threading
from pathlib import Path

import pytest

from hob.app.home import own
from hob.cli.table import run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize("command", [["status"], ["export", "--all"]], ids=lambda words: words[0])
def test_home_owned_for_a_moment_is_waited_for(
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
