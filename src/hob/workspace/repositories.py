"""Creation of a git repository in a folder, in one step: a crash leaves it unchanged or with its first commit."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_GIT_SECONDS = 20.0
_TEMPORARY = ".hob-begins"
"""Temporary place of the repository until it is complete."""

_AUTHOR = ("-c", "user.name=Hob", "-c", "user.email=hob@localhost")
_ALONE = ("-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")  # no one can enter a passphrase


def begin_repository(folder: Path, names: Sequence[str] = (), *, ignored: Sequence[str] = ()) -> bool:
    """Make the folder a repository whose first commit contains these files; return whether it is one now.

    Without git, or if git fails, it stays a plain folder. `ignored` are patterns for this repository only. Raises
    OSError.
    """
    git = shutil.which("git")
    if git is None:
        return False
    begun = folder / _TEMPORARY
    shutil.rmtree(begun, ignore_errors=True)  # left by an attempt that was killed
    try:
        _run(git, "init", "-q", str(begun))
        _exclude(begun / ".git" / "info" / "exclude", (f"/{_TEMPORARY}/", *ignored))
        there = (git, f"--git-dir={begun / '.git'}", f"--work-tree={folder}", *_AUTHOR, *_ALONE)
        present = [name for name in names if os.path.lexists(folder / name)]
        if present:
            _run(*there, "add", "--", *present)
        _run(*there, "commit", "-q", "--allow-empty", "-m", "Begin")
        (begun / ".git").rename(folder / ".git")
    except subprocess.SubprocessError:
        return False
    finally:
        shutil.rmtree(begun, ignore_errors=True)
    return True


def _exclude(file: Path, patterns: Sequence[str]) -> None:
    file.parent.mkdir(exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        out.writelines(f"{pattern}\n" for pattern in patterns)


def _run(*command: str) -> None:
    """Run git with the owner's configuration, without variables that would redirect it."""
    environ = {"HOME": str(Path.home()), "PATH": os.defpath}
    subprocess.run(
        command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=_GIT_SECONDS, check=True
    )
