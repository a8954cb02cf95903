"""`hob prompt`: the sections of the next request."""

from pathlib import Path

import pytest

from hob.cli.table import run


def test_what_memory_recalled_is_said_to_be_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / ".hob"))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))
    assert run(["prompt"]) == 0
    (told,) = (row for row in capsys.readouterr().out.splitlines() if row.startswith("From memory"))
    assert "`hob memory why` shows it of your newest" in told
