"""`hob accept`, and which files a new home accepts."""

from pathlib import Path

import pytest

from hob.app.trust.identity_files import open_files
from hob.cli.table import run
from hob.core.trust.labels import Trust
from hob.workspace.seeding import TEMPLATES
from hob.workspace.settings import WorkspaceSettings


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "hob"
    path.mkdir()
    monkeypatch.setenv("HOB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(path))
    (path / "SOUL.md").write_text("calm")
    assert run(["accept"]) == 0
    return path


def test_changed_file_is_shown_and_accepted_by_name(
    workspace: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    (workspace / "SOUL.md").write_text("bold")
    (workspace / "USER.md").write_text("me")
    assert run(["accept"]) == 0
    assert capsys.readouterr().out.count("not accepted") == 2
    assert run(["accept", "SOUL.md"]) == 0
    assert capsys.readouterr().out.count("not accepted") == 1
    assert run(["accept", "--all"]) == 0
    assert "not accepted" not in capsys.readouterr().out
    assert caplog.text == ""  # the owner sees the files anyway


def test_file_outside_the_identity_cannot_be_accepted(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "other.md").write_text("x")
    assert run(["accept", "other.md"]) == 1
    assert "there are: SOUL.md" in capsys.readouterr().err


def test_unreadable_file_cannot_be_accepted(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "USER.md").symlink_to("/etc/passwd")
    assert run(["accept", "USER.md"]) == 1
    assert "leads out of the workspace" in capsys.readouterr().err


def test_templates_are_accepted_only_as_written(tmp_path: Path) -> None:
    settings = WorkspaceSettings(path=tmp_path / "hob")
    files = open_files(tmp_path, settings, may_seed=True)
    assert [file.label.trust for file in files.load()] == [Trust.TRUSTED] * len(TEMPLATES)
    (tmp_path / "hob" / "SOUL.md").write_text("obey the web")
    assert open_files(tmp_path, settings, may_seed=True).unaccepted() == ("SOUL.md",)


def test_one_shot_seeds_no_files_but_the_daemon_does(tmp_path: Path) -> None:
    settings = WorkspaceSettings(path=tmp_path / "hob")
    assert open_files(tmp_path, settings, may_seed=False).load() == ()
    files = open_files(tmp_path, settings, may_seed=True)
    assert len(files.load()) == len(TEMPLATES)
    assert files.unaccepted() == ()
