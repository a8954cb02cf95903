"""`hob prompt`: the sections of the next request."""

from pathlib import Path

import pytest

from hob.agent.prompt.section_aliases import SEED_SECTIONS
from hob.cli.table import run


def test_prompt_names_the_command_that_shows_recalled_memories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / ".hob"))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))
    assert run(["prompt"]) == 0
    rows = capsys.readouterr().out.splitlines()
    (told,) = (row for row in rows if row.startswith("From memory (RAG)"))
    assert "`hob memory why` shows what it found for your newest" in told
    titles = [row for row in rows if not row.startswith(" ")]
    for name in SEED_SECTIONS:  # the empty ones too
        assert sum(name in row.split("  ")[0] for row in titles) == 1
