"""`hob dashboard` without a daemon."""

from pathlib import Path

import pytest

from hob.cli.table import run


@pytest.mark.parametrize("options", [[], ["--phone"], ["--phone", "--at", "tailnet"]])
def test_dashboard_without_a_daemon_says_how_to_start_one(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / ".hob"))
    assert run(["dashboard", *options]) == 2
    assert "the dashboard needs the daemon: start it with `hob serve`" in capsys.readouterr().err
