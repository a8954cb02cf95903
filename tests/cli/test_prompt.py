"""`hob prompt`: the sections of the next request."""

from pathlib import Path

import pytest

from hob.cli.table import run


def test_prompt_names_the_command_that_shows_recalled_memories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / ".hob"))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))
    assert run(["prompt"]) == 0
    (told,) = (row for row in capsys.readouterr().out.splitlines() if row.startswith("From memory"))
    assert "`hob memory why` shows it of your newest" in told
