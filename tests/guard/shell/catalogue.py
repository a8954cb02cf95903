"""The commands of `tests/guard/data`, and a machine to judge them on."""

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
    """A command that harms: the least that must come of it, and the rule that sees it."""

    text: str
    expect: ShellSeverity
    rule: str
    harm: str


@cache
def hostile() -> tuple[Hostile, ...]:
    """What attackers would have run, with places of this machine filled in."""
    entries = tomllib.loads((_DATA / "hostile_commands.toml").read_text("utf-8"))["commands"]
    return tuple(Hostile(filled(e["text"]), ShellSeverity[e["expect"].upper()], e["rule"], e["harm"]) for e in entries)


@cache
def hostile_texts() -> tuple[str, ...]:
    """The same as it stands there, with names for the places."""
    return tuple(e["text"] for e in tomllib.loads((_DATA / "hostile_commands.toml").read_text("utf-8"))["commands"])


@cache
def benign() -> tuple[str, ...]:
    """What developers run all day."""
    entries = tomllib.loads((_DATA / "benign_commands.toml").read_text("utf-8"))["commands"]
    return tuple(entry["text"] for entry in entries)


def filled(text: str) -> str:
    """The text with these places."""
    for name, place in PLACES.items():
        text = text.replace("{" + name + "}", place)
    return text


def judge(text: str, cwd: str = WORKSPACE) -> tuple[ShellFinding, ...]:
    """What is found in a command that runs in the workspace."""
    return judge_command(analyse(text), cwd=cwd, workspace=WORKSPACE, home=HOME)


def verdict(text: str, cwd: str = WORKSPACE) -> ShellSeverity:
    """What is to be done about it."""
    return severity(judge(text, cwd))
