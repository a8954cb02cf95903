"""`hob upgrade`: its advice for each kind of installation, and the changes it lists."""

import asyncio
import json
import os
import re
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hob import __version__
from hob.cli.setup.upgrade import changes_since, find_installation
from hob.core.clock import SystemClock
from hob.store.settings import StoreSettings
from hob.store.store import open_store

ROOT = Path(__file__).parents[3]
CHANGELOG = """\
# Changelog

## Unreleased

### Added
- A thing
  of two lines.

### Fixed
- Another.

## [0.2.0] - 2026-12-01

- Older.

## 0.1.0

- First.
"""


@pytest.mark.parametrize(
    ("file", "origin", "kind", "command"),
    [
        ("hob-image", {}, "a container", "docker compose build --pull"),
        ("uv-receipt.toml", {}, "a tool of uv", "from where you had this one"),
        ("pipx_metadata.json", {}, "an application of pipx", "from where you had this one"),
        ("archive-v0/x/pyvenv.cfg", {}, "a temporary run of uvx", "from where you had this one"),
        ("pyvenv.cfg", {}, "a package", "from where you had this one"),
        (
            "pyvenv.cfg",
            {"url": "https://example.org/hob.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "a package from https://example.org/hob.git",
            "--force-reinstall 'hob @ git+https://example.org/hob.git'",
        ),
    ],
)
def test_each_kind_of_installation_has_its_upgrade_commands(
    tmp_path: Path, file: str, origin: Mapping[str, Any], kind: str, command: str
) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).touch()
    installed = find_installation((tmp_path / file).parent, "/opt/my python", "0.1.0", origin)
    assert installed.kind == kind
    assert installed.upgrade[0].endswith(command)


@pytest.mark.parametrize(
    ("editable", "venv", "command"),
    [(True, ".venv", "make -C"), (True, "other", "--editable"), (False, "other", "--upgrade")],
)
def test_checkout_is_pulled_and_installed_as_it_was(tmp_path: Path, editable: bool, venv: str, command: str) -> None:
    checkout = tmp_path / "my hob"
    (checkout / ".git").mkdir(parents=True)
    (checkout / "Makefile").touch()
    origin = {"url": checkout.as_uri(), "dir_info": {"editable": editable}}
    installed = find_installation(checkout / venv, "/bin/python", "0.1.0", origin)
    assert installed.upgrade[0] == f"git -C '{checkout}' pull"
    assert command in installed.upgrade[1]


def test_advice_never_installs_the_unrelated_package_of_this_name() -> None:
    """On the public index, `hob` is an unrelated program."""
    bare = re.compile(r"(install|upgrade|uvx|pipx)(?: -\S+)*\s+'?\"?hob(?![\w./ -]*@ )(\[|['\"`=@\s]|$)")
    places = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    told = [
        f"{place.relative_to(ROOT)}: {line.strip()}"
        for place in places
        for line in place.read_text().splitlines()
        if bare.search(line) and "hob service" not in line
    ]
    assert told == []


@pytest.mark.parametrize(
    ("version", "changes"),
    [
        ("0.2.0", ["A thing of two lines.", "Another."]),
        ("0.1.0", ["A thing of two lines.", "Another.", "Older."]),
        ("0.0.1", ["A thing of two lines.", "Another."]),
        ("", ["A thing of two lines.", "Another."]),
    ],
)
def test_changes_are_those_since_the_version_that_ran_before(version: str, changes: list[str]) -> None:
    assert changes_since(CHANGELOG, version) == changes


def test_changelog_without_sections_has_no_changes() -> None:
    assert changes_since("", "0.1.0") == changes_since("# Changelog\n", "0.1.0") == []


def test_package_includes_the_changelog() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"CHANGELOG.md": "hob/CHANGELOG.md"}
    assert changes_since((ROOT / "CHANGELOG.md").read_text(), "")


def told(home: Path) -> dict[str, Any]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "HOB_HOME": str(home)}
    command = [sys.executable, "-m", "hob", "upgrade", "--json"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
    value: dict[str, Any] = json.loads(done.stdout)
    return value


async def lived_in(home: Path) -> None:
    async with open_store(home, StoreSettings(), SystemClock()):
        pass


def test_backup_comes_first_and_the_doctor_last(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert not told(home)["steps"][0].startswith("hob backup")  # there is nothing to back up
    assert not home.exists()
    asyncio.run(lived_in(home))
    with sqlite3.connect(home / "hob.db") as connection:
        connection.execute("UPDATE runs SET version = '0.0.7'")
    connection.close()
    seen = told(home)
    assert (seen["version"], seen["before"]) == (__version__, "0.0.7")
    assert seen["steps"][0].startswith(f"hob backup {home}/backups/mine-")
    assert seen["steps"][-1] == "hob doctor"
    assert {file.name for file in home.iterdir()} == {"hob.db"}
