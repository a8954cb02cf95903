"""The first files of a workspace and its first commit, also where the making of them was cut off."""

import shutil
import subprocess
from pathlib import Path

import pytest

from hob.workspace import seeding
from hob.workspace.repositories import begin_repository
from hob.workspace.seeding import TEMPLATES, make_work_repository, seed
from tests.made_once import make_repository

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def each_repository_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeding, "begin_repository", make_repository)


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@needs_git
def test_workspace_begins_with_a_commit_of_its_templates(tmp_path: Path) -> None:
    seed(tmp_path / "hob")
    make_work_repository(tmp_path / "hob" / "work")
    assert set(git(tmp_path / "hob", "ls-files").split()) == set(TEMPLATES)
    assert git(tmp_path / "hob", "status", "--short") == ""
    assert git(tmp_path / "hob" / "work", "log", "--format=%an %s") == "Hob Begin"


@needs_git
def test_owner_without_a_name_or_with_a_passphrase_gets_a_commit_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    (tmp_path / ".gitconfig").write_text("[commit]\n\tgpgsign = true\n[core]\n\thooksPath = /nowhere\n")
    make_work_repository(tmp_path / "work")
    monkeypatch.delenv("GIT_DIR")
    assert git(tmp_path / "work", "rev-list", "--count", "HEAD") == "1"


@needs_git
def test_repository_of_the_owner_is_left_alone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    make_work_repository(tmp_path)
    assert git(tmp_path, "rev-list", "--all", "--count") == "0"


def test_git_that_fails_leaves_a_folder_without_leavings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "work").mkdir()
    assert begin_repository(tmp_path / "work") is False
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.parametrize("written", range(len(TEMPLATES)))
def test_seeding_that_was_cut_off_is_gone_on_with(tmp_path: Path, written: int) -> None:
    names = list(TEMPLATES)
    (tmp_path / ".seeding").touch()
    (tmp_path / ".hob-begins" / ".git").mkdir(parents=True)
    for name in names[:written]:
        (tmp_path / name).write_text(TEMPLATES[name])
    (tmp_path / f".{names[written]}.new").write_text("# How to w")
    assert seed(tmp_path) == tuple(names[written:])
    assert {file.name for file in tmp_path.iterdir()} - {".git"} == set(TEMPLATES)
    assert seed(tmp_path) == ()
