"""The commands in `tests/guard/data`, and a machine to judge them on."""

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hob.guard.shell.analysis import analyse
from hob.guard.shell.command_context import ShellFinding, ShellSeverity, severity
from hob.guard.shell.verdict import judge_command

_DATA = Path(__file__).parents[1] / "data"

HOME = "/home/anna"
WORKSPACE = "/home/anna/work/project"
PLACES = {
    "canary_file": "/home/anna/diary.txt",
    "canary_dir": "/home/anna/photos",
    "secret": "/home/anna/.ssh/id_ed25519",
    "socket": "/run/user/1000/bus",
    "host": "evil.example",
}


class Hostile(NamedTuple):
    """A harmful command, the minimum severity, and the rule that finds it."""

    text: str
    expect: ShellSeverity
    rule: str
    harm: str


@cache
def hostile() -> tuple[Hostile, ...]:
    """Return attackers' commands with places of this machine filled in."""
    entries = tomllib.loads((_DATA / "hostile_commands.toml").read_text("utf-8"))["commands"]
    return tuple(Hostile(filled(e["text"]), ShellSeverity[e["expect"].upper()], e["rule"], e["harm"]) for e in entries)


@cache
def hostile_texts() -> tuple[str, ...]:
    """Return the same commands with placeholders."""
    return tuple(e["text"] for e in tomllib.loads((_DATA / "hostile_commands.toml").read_text("utf-8"))["commands"])


@cache
def benign() -> tuple[str, ...]:
    """Return developers' daily commands."""
    entries = tomllib.loads((_DATA / "benign_commands.toml").read_text("utf-8"))["commands"]
    return tuple(entry["text"] for entry in entries)


def filled(text: str) -> str:
    """Fill in these places."""
    for name, place in PLACES.items():
        text = text.replace("{" + name + "}", place)
    return text


def judge(text: str, cwd: str = WORKSPACE) -> tuple[ShellFinding, ...]:
    """Return the findings for a command run in the workspace."""
    return judge_command(analyse(text), cwd=cwd, workspace=WORKSPACE, home=HOME)


def verdict(text: str, cwd: str = WORKSPACE) -> ShellSeverity:
    """Return the severity of the command."""
    return severity(judge(text, cwd))
