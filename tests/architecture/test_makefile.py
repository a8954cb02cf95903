"""What `make run` and `make link` tell a newcomer."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .sources import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the Makefile, in which Hob is set up as a program that says hello."""
    for name in ("Makefile", "pyproject.toml", "uv.lock"):
        shutil.copy(ROOT / name, tmp_path)
    hob = tmp_path / ".venv" / "bin" / "hob"
    hob.parent.mkdir(parents=True)
    hob.write_text("#!/bin/sh\necho hello\n")
    hob.chmod(0o755)
    (tmp_path / ".venv" / "ready").touch()
    return tmp_path


def make(checkout: Path, *arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run make without a terminal, and with nothing but the system's programs on the path."""
    environ = {"PATH": os.defpath, "HOME": str(checkout)}
    command, pipe = ["make", "--silent", *arguments], subprocess.PIPE
    if given is None:
        return subprocess.run(command, cwd=checkout, env=environ, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe,
                              text=True, check=False)  # fmt: skip
    return subprocess.run(command, cwd=checkout, env=environ, input=given, capture_output=True, text=True, check=False)


def test_run_without_a_terminal_says_how_to_ask_and_how_to_link(checkout: Path) -> None:
    done = make(checkout, "run")
    assert (done.returncode, done.stdout) == (0, "")
    assert "To call it hob, as its hints do: make link" in done.stderr
    assert 'without one: .venv/bin/hob ask "..."' in done.stderr


def test_run_starts_hob_with_piped_input(checkout: Path) -> None:
    assert make(checkout, "run", given="hello\n").stdout == "hello\n"


def test_link_puts_hob_on_the_path_and_replaces_no_other_program(checkout: Path) -> None:
    folder = checkout / "programs"
    assert "which is not on your path yet" in make(checkout, "link", f"BIN={folder}").stdout
    assert (folder / "hob").readlink() == checkout / ".venv" / "bin" / "hob"
    (folder / "hob").unlink()
    (folder / "hob").write_text("another")
    refused = make(checkout, "link", f"BIN={folder}")
    assert refused.returncode != 0
    assert "is another program; name another folder" in refused.stdout
    assert (folder / "hob").read_text() == "another"


def test_old_python_is_refused_in_one_sentence(checkout: Path) -> None:
    (checkout / ".venv" / "ready").unlink()
    old = checkout / "python3.10"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    refused = make(checkout, "run", "UV=", f"PYTHON={old}")
    assert refused.returncode != 0
    assert refused.stdout.splitlines()[-1].startswith("Hob needs Python 3.11 or newer: install it")
