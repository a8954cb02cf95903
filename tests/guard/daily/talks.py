"""How a piece of daily work is written down: what the owner says, and what a good model does about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Do:
    """One tool call. `fails`: it ends with an error, which a model goes on from."""

    tool: str
    arguments: Mapping[str, Any]
    fails: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the owner's, and the calls that it leads to, one after the other."""

    words: str
    calls: tuple[Do, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """One conversation. `asks` is how many questions it comes to; `files` lie in the work folder beside the usual."""

    name: str
    talk: tuple[Said, ...]
    asks: int = 0
    files: Mapping[str, str] = field(default_factory=dict)


def do(tool: str, **arguments: Any) -> Do:
    """This call."""
    return Do(tool, arguments)


def fails(tool: str, **arguments: Any) -> Do:
    """This call, which ends with an error: a test that fails, a file that is not there."""
    return Do(tool, arguments, fails=True)


def sh(command: str, **more: Any) -> Do:
    """A command."""
    return do("exec", command=command, **more)


def said(words: str, *calls: Do) -> Said:
    """The owner's words, and what they lead to."""
    return Said(words, calls)


def task(name: str, words: str, *calls: Do, asks: int = 0, **files: str) -> Task:
    """A task of one message."""
    return Task(name, (Said(words, calls),), asks, files)


def talk(name: str, *said: Said, asks: int = 0) -> Task:
    """A task of several messages."""
    return Task(name, said, asks)
