"""Control groups in a tree of plain folders: their ownership and removal."""

import subprocess
from pathlib import Path

import pytest

from hob.tools.sandbox.job import Limits
from hob.tools.sandbox.launcher.cgroups import ControlGroups, find_groups


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    for name in ("memory", "pids"):
        (tmp_path / name / "mine").mkdir(parents=True)
    (tmp_path / "own").write_text("2:memory:/mine\n1:pids:/mine\n")
    return tmp_path


def find(mount: Path) -> ControlGroups:
    groups = find_groups(mount, mount / "own")
    assert groups is not None
    return groups


def folders(mount: Path) -> list[Path]:
    return sorted(mount.glob("*/mine/*"))


def test_each_command_has_its_own_groups_until_it_ends(mount: Path) -> None:
    groups = find(mount)
    with groups.create(Limits()) as files, groups.create(Limits()) as others:
        assert len({*files, *others}) == len(folders(mount)) == 4
        assert {Path(file).parent.parent for file in files} == {mount / "memory/mine", mount / "pids/mine"}
    assert folders(mount) == []


def test_startup_keeps_empty_groups_of_another_running_hob(mount: Path) -> None:
    with find(mount).create(Limits()) as files:
        find(mount)
        assert all(Path(file).parent.is_dir() for file in files)


def test_startup_removes_groups_of_an_ended_hob(mount: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    for place in ("memory", "pids"):
        (mount / place / "mine" / f"hob-command-{ended.pid}-00ff").mkdir()
        (mount / place / "mine" / "another's").mkdir()
    find(mount)
    assert [folder.name for folder in folders(mount)] == ["another's", "another's"]
