"""Notation for daily work: what the owner says, and what a good model does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Do:
    """A tool call. `fails`: it ends with an error from which the model continues."""

    tool: str
    arguments: Mapping[str, Any]
    fails: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the owner's, and the calls it leads to, in order."""

    words: str
    calls: tuple[Do, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """A conversation. `asks` is the expected number of questions; `files` are additional files in the work folder."""

    name: str
    talk: tuple[Said, ...]
    asks: int = 0
    files: Mapping[str, str] = field(default_factory=dict)


def do(tool: str, **arguments: Any) -> Do:
    """A call."""
    return Do(tool, arguments)


def fails(tool: str, **arguments: Any) -> Do:
    """A call that ends with an error: a failing test, a missing file."""
    return Do(tool, arguments, fails=True)


def sh(command: str, **more: Any) -> Do:
    """A command."""
    return do("exec", command=command, **more)


def said(words: str, *calls: Do) -> Said:
    """The owner's words and the calls they lead to."""
    return Said(words, calls)


def task(name: str, words: str, *calls: Do, asks: int = 0, **files: str) -> Task:
    """A task of one message."""
    return Task(name, (Said(words, calls),), asks, files)


def talk(name: str, *said: Said, asks: int = 0) -> Task:
    """A task of several messages."""
    return Task(name, said, asks)
