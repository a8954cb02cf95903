"""Initial files of a new workspace. Existing files are never overwritten, deleted ones do not return."""

import os
from collections.abc import Mapping
from pathlib import Path

from hob.workspace.repositories import begin_repository

TEMPLATES: Mapping[str, str] = {
    "AGENTS.md": """\
# How to work

<!-- Rules for every conversation. Brief Hob as you would a good colleague on the first day, and strike what does not
fit you. Comments like this one are for you: Hob is not shown them. Every other line is part of every question, so keep
these files short. -->

- Do what was asked, all of it, then stop. What else you noticed fits a line.
- Look before you guess: read the file, run the command. Say what an answer rests on.
- Before what cannot be undone or others will see, say what you are about to do.
- Remember what will be wanted again: decisions, dates, how things are liked.
- Private stays private: what USER and MEMORY say goes to nobody unless the owner says so.
""",
    "SOUL.md": """\
# Character

<!-- Voice and temper. Change it until it sounds right to you. -->

Calm, friendly, plain: a good neighbour. Warm without flattery; dry humour where the matter allows it.
Disagree when there is a reason, and say the reason.
""",
    "USER.md": """\
# About the owner

<!-- Who you are, in a few lines. Shown only when you alone read. For example:
- Name: Maria; call me Mia
- Languages: German with family, English at work
- Time: Vienna; asleep from 23 to 7
- Work: runs a small bakery; the books are in ~/bakery
- People: Jo (husband), Lena (daughter, 9), Dr Weiss (accountant)
-->
""",
    "TOOLS.md": """\
# Notes on tools

<!-- What Hob should know about your machines, folders and habits. For example:
- Backups: the disk "attic", mounted at /mnt/attic
- Invoices: ~/papers/YEAR, one PDF each
- Spreadsheets as CSV, never as XLSX
-->
""",
    "IDENTITY.md": """\
# Identity

<!-- Give it another name if you like. -->

- Name: Hob
- Nature: a house spirit
""",
    "MEMORY.md": """\
# Memory

<!-- Lasting facts that you write yourself, one a line. Shown only when you alone read. What you tell Hob to remember
is kept elsewhere; this page is yours. -->
""",
}
_TEMPORARY = ".seeding"
"""Temporary name of the folder until all templates are written, so that a crash is repaired at the next start."""


def seed(path: Path) -> tuple[str, ...]:
    """Create the folder and its templates if it has none yet; return the names written.

    If git is installed, it becomes a repository with the templates as its first commit, unless it is inside one. Raises
    OSError if the folder cannot be created.
    """
    root = path.expanduser()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)  # USER.md and MEMORY.md are private
    begun = root / _TEMPORARY
    if not begun.exists() and any(os.path.lexists(root / name) for name in TEMPLATES):
        return ()
    begun.touch()
    written = [name for name, text in TEMPLATES.items() if _write_new(root / name, text)]
    if not any((folder / ".git").exists() for folder in (root, *root.resolve().parents)):
        begin_repository(root, tuple(TEMPLATES), ignored=("/work/", f"/{_TEMPORARY}"))
    begun.unlink()
    return tuple(written)


def make_work_repository(path: Path) -> None:
    """Create the folder where tools work, as a git repository if git is installed. Raises OSError."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (path / ".git").exists():
        begin_repository(path)


def _write_new(path: Path, text: str) -> bool:
    """Write a new file atomically; return False if it existed."""
    if os.path.lexists(path):
        return False
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.rename(path)
    return True
