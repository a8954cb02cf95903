"""`hob rebuild`: its output and exit status."""

from pathlib import Path

import apsw
import pytest

from hob.app.home import own
from hob.cli.table import run
from hob.core.clock import SystemClock
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.channel import message
from tests.turns import make_turn


@pytest.fixture
async def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose one task has been lost."""
    monkeypatch.setenv("HOB_HOME", str(tmp_path))
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        await make_turn(store, message("hello"))
    connection = apsw.Connection(str(tmp_path / "hob.db"))
    connection.execute("DELETE FROM tasks")
    connection.close()
    return tmp_path


@pytest.mark.usefixtures("home")
def test_check_fails_until_the_tables_are_rebuilt(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rebuild", "--check"]) == 1
    assert "1 differ" in capsys.readouterr().out
    assert run(["rebuild"]) == 0
    said = capsys.readouterr().out
    assert "is missing" in said
    assert "before-rebuild-" in said
    assert run(["rebuild", "--check"]) == 0
    assert "differ" not in capsys.readouterr().out


def test_home_in_use_is_only_checked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with own(home, "serve"):
        assert run(["rebuild"]) == 1
        assert "is in use by hob serve" in capsys.readouterr().err
        assert run(["rebuild", "--check"]) == 1
        assert "tasks" in capsys.readouterr().out


def test_missing_database_leaves_nothing_to_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / "nowhere"))
    assert run(["rebuild", "--check"]) == 1
    assert "no database" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()
