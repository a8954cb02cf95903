"""The sample provider in `examples/` works as its README says: an entry point is all it takes."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[3] / "examples" / "hob-echo"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """What installing the sample does: its code on the path, its entry points in its metadata."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    metadata = tmp_path / "site" / f"hob_echo-{project['version']}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: hob-echo\nVersion: {project['version']}\n")
    (points,) = project["entry-points"].items()
    lines = [f"[{points[0]}]", *(f"{name} = {where}" for name, where in points[1].items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HOB_HOME": str(tmp_path / "home"),
        "PYTHONPATH": os.pathsep.join((str(metadata.parent), str(EXAMPLE / "src"))),
    }


def hob(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hob", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)


def test_own_provider_answers(environ: dict[str, str]) -> None:
    done = hob({**environ, "HOB_MODEL_NAME": "echo/loud"}, "ask", "good morning")
    assert done.returncode == 0, done.stderr
    assert "GOOD MORNING" in done.stdout


def test_example_providers_failures_are_reported_like_any_other(environ: dict[str, str]) -> None:
    done = hob({**environ, "HOB_MODEL_NAME": "echo/silent"}, "ask", "good morning")
    assert done.returncode == 1
    assert "plain and loud" in done.stderr


def test_example_provider_is_chosen_and_tested_like_any_other(environ: dict[str, str]) -> None:
    done = hob(environ, "models", "set", "echo/plain")
    assert done.returncode == 0, done.stderr
    assert "Current model: echo/plain (from your settings)" in done.stdout


def test_example_provider_is_listed_like_any_other(environ: dict[str, str]) -> None:
    done = hob({**environ, "HOB_MODEL_NAME": "echo"}, "models", "list")
    assert "Current model: echo (from your settings)" in done.stdout
    assert "plug-in" in done.stdout


def test_example_provider_answers_only_with_what_was_said(environ: dict[str, str]) -> None:
    assert hob({**environ, "HOB_MODEL_NAME": "echo"}, "ask", "good morning").stdout == "good morning\n"
