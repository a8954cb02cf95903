"""The first files of a new workspace. What is there is never overwritten, what was deleted does not come back."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

_GIT_SECONDS = 20.0

TEMPLATES: Mapping[str, str] = {
    "AGENTS.md": """\
# How to work

<!-- Rules for every conversation. Hob reads this file each time; write it as you would brief a new colleague. -->

- Do what was asked, completely, then stop. Mention what else you noticed in one line.
- Before anything that cannot be undone or that others will see, say what you are about to do.
- Report results with what they rest on: the file, the page, the command.
- Private things stay private: nothing from USER or MEMORY goes to others unless the owner says so.
""",
    "SOUL.md": """\
# Character

<!-- Voice and temper. Change it until it sounds right to you. -->

Calm, friendly, plain. Warm without flattery; dry humour is welcome when the matter allows it.
Disagree when there is a reason, and say the reason.
""",
    "USER.md": """\
# About the owner

<!-- Your name, how to address you, languages, time zone, work, people who matter. Shown only when you alone read. -->
""",
    "TOOLS.md": """\
# Notes on tools

<!-- What Hob should know about your machines, accounts and habits: host names, folders, preferred programs. -->
""",
    "IDENTITY.md": """\
# Identity

- Name: Hob
- Nature: a house spirit who does chores at night and asks for little
""",
    "MEMORY.md": """\
# Memory

<!-- Lasting facts, one per line. Shown only when you alone read. -->
""",
}


def seed(path: Path) -> tuple[str, ...]:
    """Make the folder and write the templates if it holds none of them yet; the names that were written.

    With git installed it becomes a repository, unless it lies in one. Raises OSError when the folder cannot be made.
    """
    root = path.expanduser()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)  # what stands in USER.md and MEMORY.md is private
    if any(os.path.lexists(root / name) for name in TEMPLATES):
        return ()
    for name, text in TEMPLATES.items():
        with (root / name).open("x", encoding="utf-8") as file:
            file.write(text)
    _init_git(root)
    return tuple(TEMPLATES)


def make_work_repository(path: Path) -> None:
    """The folder where tools work, a repository of its own where git is installed. Raises OSError."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (path / ".git").exists():
        _run_git_init(path)


def _init_git(root: Path) -> None:
    if not any((folder / ".git").exists() for folder in (root, *root.resolve().parents)):
        _run_git_init(root)


def _run_git_init(root: Path) -> None:
    git = shutil.which("git")
    if git is None:
        return
    try:
        subprocess.run([git, "init", "-q", str(root)], capture_output=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return  # a workspace without history is a workspace still
