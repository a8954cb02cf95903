"""A shell command as it is written: words, redirections, pipelines, blocks (POSIX.1-2024, XCU chapter 2, and bash)."""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from hob.core.values import dataclass


class Text(NamedTuple):
    """Text in a word; wildcards and `~` that are not quoted are signs already (`values`)."""

    value: str
    quoted: bool = False


class Parameter(NamedTuple):
    """`$name` or `${name op argument}`. `subscript` is what stands between square brackets."""

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
    """Arithmetic. Where it does not show, it is an index and stands here for the expansions in it alone."""

    parts: tuple[Part, ...]
    shows: bool = True


Part = Text | Parameter | Output | ProcessSubstitution | ArithmeticExpansion


class Word(NamedTuple):
    """One word. `text` is how it is written; no parts is an empty word."""

    parts: tuple[Part, ...]
    text: str

    @property
    def literal(self) -> str | None:
        """The word where it is one unquoted text without wildcards, as reserved words and names must be."""
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
    """A redirection. `body` is a here-document's text, read when its line has ended."""

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
    """A compound command. `scripts` are its parts in order: for `if` a test and a body by turns, for loops both."""

    kind: str  # group subshell if while until for select case test arithmetic
    scripts: tuple[Script, ...]
    words: tuple[Word, ...] = ()
    name: str = ""
    redirects: tuple[Redirect, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A function's definition."""

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
    """A pipeline and how it is joined to the one before: `;`, `&&`, `||`, or `&` after one in the background."""

    pipeline: Pipeline
    joined: str
    background: bool = False


Script = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text as read. `rest` is what could not be read any more, `problems` says why."""

    script: Script
    problems: tuple[SyntaxProblem, ...] = ()
    rest: str = field(default="")


class SyntaxProblem(NamedTuple):
    """What could not be understood, and the piece of text it is about."""

    reason: str
    text: str
    rule: str = "not-understood"
