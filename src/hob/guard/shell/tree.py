"""Syntax tree of a shell command: words, redirections, pipelines, blocks (POSIX.1-2024, XCU chapter 2, and bash)."""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from hob.core.values import dataclass


class Text(NamedTuple):
    """Literal text; unquoted wildcards and `~` are already markers (see `arguments`)."""

    value: str
    quoted: bool = False


class Parameter(NamedTuple):
    """`$name` or `${name op argument}`. `subscript` is the text in square brackets."""

    name: str
    operator: str = ""
    argument: tuple[Part, ...] = ()
    subscript: str = ""
    quoted: bool = False


class Output(NamedTuple):
    """A command substitution."""

    script: Script
    quoted: bool = False


class ProcessSubstitution(NamedTuple):
    """A process substitution; `direction` is `<` or `>`."""

    script: Script
    direction: str


class ArithmeticExpansion(NamedTuple):
    """An arithmetic expansion. If `shows` is false, it is an array index, kept only for the expansions in it."""

    parts: tuple[Part, ...]
    shows: bool = True


Part = Text | Parameter | Output | ProcessSubstitution | ArithmeticExpansion


class Word(NamedTuple):
    """A word. `text` is its source. A word without parts is empty."""

    parts: tuple[Part, ...]
    text: str

    @property
    def literal(self) -> str | None:
        """The word as text if it is a single unquoted text without wildcards, as reserved words and names must be; else
        None.
        """
        parts = self.parts
        if len(parts) == 1 and type(parts[0]) is Text and not parts[0].quoted:
            return parts[0].value
        return None


class Assignment(NamedTuple):
    """`name=value`, `name+=value`, `name=(items)`."""

    name: str
    value: Word | None
    items: tuple[Word, ...] | None = None
    appends: bool = False


@dataclass(slots=True)
class Redirect:
    """A redirection. `body` is the text of a here-document, set at the end of its line."""

    operator: str
    target: Word
    descriptor: str = ""
    body: tuple[Part, ...] | None = None


@dataclass(frozen=True, slots=True)
class Simple:
    """A simple command."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...]
    redirects: tuple[Redirect, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A compound command. `scripts` are its parts in order: test and body in turn for `if`, both for loops."""

    kind: str  # group subshell if while until for select case test arithmetic
    scripts: tuple[Script, ...]
    words: tuple[Word, ...] = ()
    name: str = ""
    redirects: tuple[Redirect, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A function definition."""

    name: str
    body: Node
    text: str


Node = Simple | Block | Function


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`."""

    stages: tuple[Node, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """A pipeline and its connection to the previous one: `;`, `&&` or `||`. `background` is set if `&` follows."""

    pipeline: Pipeline
    joined: str
    background: bool = False


Script = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed text. `rest` is the unparsed remainder; `problems` are the reasons."""

    script: Script
    problems: tuple[SyntaxProblem, ...] = ()
    rest: str = field(default="")


class SyntaxProblem(NamedTuple):
    """A part that could not be understood, and the text it concerns."""

    reason: str
    text: str
    rule: str = "not-understood"
