"""What a command's variables and directory may be at one point of it.

A variable that is set in one branch only has several possible values; each is followed in a reading of its own
(`walking`), so that the worst is found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from hob.guard.shell.tree import Function
from hob.guard.shell.values import ANY, HERE, HOME, words

Value = str | tuple[str, ...] | None  # a text, an array, or not set

_T = TypeVar("_T")
_MOST = 4  # values of one variable that are followed

GIVEN: dict[str, str] = {
    "HOME": HOME,
    "PWD": HERE,
    "OLDPWD": ANY,
    "PATH": "/" + ANY,
    "SHELL": "/bin/" + ANY,
    "BASH": "/bin/bash",
    "0": "bash",
    "IFS": " \t\n",
    "TMPDIR": "/tmp",  # noqa: S108 - a value to reason about, not a file to write
    **dict.fromkeys(
        words("""USER LOGNAME HOSTNAME UID EUID PPID RANDOM SECONDS LINENO LANG TERM EPOCHSECONDS $ ! ? # - _ REPLY
        BASH_SOURCE PIPESTATUS BASH_REMATCH"""),
        ANY,
    ),
}


@dataclass(slots=True)
class ShellState:
    """Variables with their possible values, the directory with its own, and the positional parameters."""

    variables: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    directories: tuple[str, ...] = (HERE,)
    positional: tuple[str, ...] | None = ()  # None: not known
    functions: dict[str, Function] = field(default_factory=dict)  # of the whole text, in all states alike

    def copy(self) -> ShellState:
        """A state of its own, for a subshell or a branch."""
        return ShellState(dict(self.variables), self.directories, self.positional, self.functions)

    def assign(self, name: str, value: Value) -> None:
        """It has this value from here on."""
        self.variables[name] = (value,)

    def restore(self, other: ShellState) -> None:
        """Become what the other is."""
        self.variables, self.directories = dict(other.variables), other.directories
        self.positional = other.positional

    def join(self, other: ShellState) -> None:
        """From here on either this or the other may be the case."""
        if other.variables != self.variables:
            for name in other.variables.keys() | self.variables.keys():
                mine, theirs = self.variables.get(name, (None,)), other.variables.get(name, (None,))
                if mine != theirs:
                    self.variables[name] = _either(mine, theirs, ANY)
        if other.directories != self.directories:
            self.directories = _either(self.directories, other.directories, ANY)
        if other.positional != self.positional:
            self.positional = None


def _either(mine: tuple[_T, ...], theirs: Iterable[_T], unknown: _T) -> tuple[_T, ...]:
    found = tuple(dict.fromkeys((*mine, *theirs)))
    return found if len(found) <= _MOST else (*found[: _MOST - 1], unknown)
