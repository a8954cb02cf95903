"""Making a folder a git repository, in one step: a crash leaves it as it was, or with its first commit."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_GIT_SECONDS = 20.0
_BEGUN = ".hob-begins"
"""Where the repository grows before it takes its place."""

_AUTHOR = ("-c", "user.name=Hob", "-c", "user.email=hob@localhost")
_ALONE = ("-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")  # no one is there to type a passphrase


def begin_repository(folder: Path, names: Sequence[str] = (), *, ignored: Sequence[str] = ()) -> bool:
    """Make the folder a repository whose first commit holds these files of it, or nothing; whether it is one now.

    Without git, or where git fails, it stays a folder: one without history is a folder still. `ignored` are patterns
    for this repository alone. Raises OSError.
    """
    git = shutil.which("git")
    if git is None:
        return False
    begun = folder / _BEGUN
    shutil.rmtree(begun, ignore_errors=True)  # of an attempt that was killed
    try:
        _run(git, "init", "-q", str(begun))
        _exclude(begun / ".git" / "info" / "exclude", (f"/{_BEGUN}/", *ignored))
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
    """Run git with the owner's configuration, and with none of the variables that would lead it elsewhere."""
    environ = {"HOME": str(Path.home()), "PATH": os.defpath}
    subprocess.run(
        command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=_GIT_SECONDS, check=True
    )
