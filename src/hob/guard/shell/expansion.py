"""Word expansion: parameters, field splitting, quote removal (POSIX.1-2024, XCU 2.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from typing import NamedTuple, TypeVar

from hob.core.values import dataclass
from hob.guard.shell.arguments import ANY, HERE, HOME, ONE, STAR, cap_length, is_known, mark_wildcards, words
from hob.guard.shell.lexer import LENGTH
from hob.guard.shell.tree import (
    ArithmeticExpansion,
    Assignment,
    Function,
    Output,
    Parameter,
    Part,
    ProcessSubstitution,
    Redirect,
    Script,
    Text,
    Word,
)

# Possible values of variables and directories at one point of the text. A variable set in only one branch has several
# possible values; `ShellInterpreter` follows each in a reading of its own, so that the worst case is found.

Value = str | tuple[str, ...] | None  # a text, an array, or unset

_T = TypeVar("_T")
_MAX = 4  # values tracked per variable

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
    """Variables and working directory with their possible values, and positional parameters."""

    variables: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    directories: tuple[str, ...] = (HERE,)
    positional: tuple[str, ...] | None = ()  # None: unknown
    functions: dict[str, Function] = field(default_factory=dict)  # functions of the whole text, shared by all states

    def copy(self) -> ShellState:
        """Return an independent state for a subshell or a branch."""
        return ShellState(dict(self.variables), self.directories, self.positional, self.functions)

    def assign(self, name: str, value: Value) -> None:
        """Set the variable to exactly this value."""
        self.variables[name] = (value,)

    def restore(self, other: ShellState) -> None:
        """Adopt another state."""
        self.variables, self.directories = dict(other.variables), other.directories
        self.positional = other.positional

    def join(self, other: ShellState) -> None:
        """Merge another possible state into this one."""
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
    return found if len(found) <= _MAX else (*found[: _MAX - 1], unknown)


# Parameter expansion with operators (POSIX.1-2024, XCU 2.6.2; bash reference manual, 3.5.3). The result is ANY if any
# part of it is unknown.

_LONGEST_MATCHED = 256
_MAX_STARS = 3
_NUMBERS = re.compile(r"\s*(-?\d{1,6})\s*(?::\s*(-?\d{1,6})\s*)?")


def trim(value: str, operator: str, glob: str) -> str:
    """Evaluate `${value#glob}` with `#`, `##`, `%` or `%%`."""
    if not is_known(value):
        return _cut(value, operator, glob)
    if len(value) > _LONGEST_MATCHED or glob.count(STAR) > _MAX_STARS or ANY in glob or HOME in glob:
        return ANY
    wanted = _matcher(glob)
    lengths = range(len(value) + 1) if len(operator) == 1 else range(len(value), -1, -1)
    for length in lengths:
        if operator[0] == "#" and wanted.fullmatch(value, 0, length):
            return value[length:]
        if operator[0] == "%" and wanted.fullmatch(value, len(value) - length):
            return value[: len(value) - length]
    return value


def _cut(value: str, operator: str, glob: str) -> str:
    """Handle the usual ways to split a partly unknown path."""
    if operator == "##" and glob == f"{STAR}/" and ANY not in value:
        return value.rpartition("/")[2]
    if operator[0] == "%" and value == HOME and glob[:1] == "/":
        return f"{HOME}/.."
    if operator[0] == "%" and is_known(glob) and value.endswith(glob):
        return value[: len(value) - len(glob)]
    if operator == "%" and len(glob) == 2 and glob[1] == STAR and is_known(glob[0]):
        rest, found, cut = value.rpartition(glob[0])
        if found and is_known(cut):
            return rest
    return value[0] if operator[0] == "%" and value[:1] == "/" and glob.endswith(STAR) else ANY


def replace_match(value: str, operator: str, argument: str) -> str:
    """Evaluate `${value/glob/text}` and its variants."""
    glob, _, text = argument.partition("/")
    if not is_known(value) or not is_known(text) or ANY in glob or HOME in glob:
        return ANY
    if len(value) > _LONGEST_MATCHED or glob.count(STAR) > _MAX_STARS or not glob:
        return ANY if glob else value
    wanted = _matcher(glob).pattern
    if operator == "/#":
        wanted = rf"\A(?:{wanted})"
    elif operator == "/%":
        wanted = rf"(?:{wanted})\Z"
    return re.sub(wanted, lambda _: text, value, count=0 if operator == "//" else 1)


def substring(value: str, argument: str) -> str:
    """Evaluate `${value:offset:length}`."""
    found = _NUMBERS.fullmatch(argument)
    if found is None:
        return ANY
    start, length = int(found[1]), None if found[2] is None else int(found[2])
    if is_known(value):
        if start < 0:
            start += len(value)
        if start < 0:
            return ""
        if length is None:
            return value[start:]
        return value[start : start + length] if length >= 0 else value[start:length]
    # paths are known to begin with a slash
    if start == 0 and length == 1 and value[0] in (HOME, HERE, "/"):
        return "/"
    known = re.match("[^\x00-\x04]*", value)
    if known is not None and start >= 0 and length is not None and 0 <= start + length <= known.end():
        return value[start : start + length]
    return ANY


def change_case(value: str, operator: str) -> str:
    """Evaluate `${value^^}` and its variants."""
    if not value or not is_known(value[0]):
        return value if is_known(value) else ANY
    change = str.upper if operator[0] == "^" else str.lower
    return change(value) if len(operator) == 2 else change(value[0]) + value[1:]


def _matcher(glob: str) -> re.Pattern[str]:
    signs = {STAR: ".*", ONE: "."}
    return re.compile("".join(signs.get(char) or re.escape(char) for char in glob), re.DOTALL)


_SET_IN_SUM = re.compile(r"([A-Za-z_]\w*)\s*(?:\+\+|--|<<=|>>=|[-+*/%&|^]?=(?!=))|(?:\+\+|--)([A-Za-z_]\w*)")
_NUMBER = re.compile(r"\s*-?\d{1,18}\s*")
_SPACES = re.compile(r"[ \t\n]+")


class CommandInput(NamedTuple):
    """Standard input of a command, and the programs that write it."""

    text: str
    names: tuple[str, ...] = ()


class Expander:
    """Expands words and updates the state. Subclasses run substitutions."""

    def __init__(self, choice: int, unset: str) -> None:
        self.choice = choice  # index of the possible value used for each variable
        self.unset = unset  # value of variables that the text does not set
        self.state = ShellState()
        self.widest = 1  # largest number of possible values found
        self.met_unset = False
        self.reads: dict[str, None] = {}  # environment variables expanded
        self.channels: dict[str, CommandInput] = {}  # contents readable through process substitutions

    def capture(self, script: Script) -> CommandInput:
        """Run a command substitution; return its output."""
        raise NotImplementedError

    def text(self, word: Word) -> str:
        """Expand the word to a single value, as in assignments and redirections."""
        parts = word.parts
        if len(parts) == 1 and type(parts[0]) is Text:
            return parts[0].value
        return cap_length("".join(map(self._joined, parts)))

    def fields(self, word: Word) -> list[str]:
        """Expand the word to arguments: none, one or several."""
        parts = word.parts
        if len(parts) == 1 and type(parts[0]) is Text:
            return [parts[0].value]
        found: list[str] = []
        current: str | None = None
        for part in parts:
            if type(part) is Text:
                current = (current or "") + part.value
                continue
            pieces, begins, ends = self._pieces(part)
            if begins and current is not None:
                found.append(current)
                current = None
            for at, piece in enumerate(pieces):
                if at:
                    found.append(current or "")
                    current = None
                current = (current or "") + piece
            if ends and current is not None and pieces:
                found.append(current)
                current = None
        if current is not None:
            found.append(current)
        return [cap_length(each) for each in found]

    def _pieces(self, part: Part) -> tuple[list[str], bool, bool]:
        """Return the fields of a part, and whether it begins and ends with a separator."""
        value = self._expanded(part)
        quoted = not isinstance(part, Parameter | Output) or part.quoted
        if isinstance(value, tuple):
            if not quoted:
                value = tuple(piece for each in value for piece in self._divided(each)[0])
            return list(value), False, False
        return ([value], False, False) if quoted else self._divided(value)

    def _divided(self, value: str) -> tuple[list[str], bool, bool]:
        """Split a text into fields. Also return whether it begins and ends with a separator."""
        separators = self._separators()
        if separators == "":
            return ([mark_wildcards(value)] if value else []), False, False
        # each separator splits, and empty fields are kept
        if separators is not None and not set(separators) & set(" \t\n"):
            ends = value.endswith(tuple(separators))
            pieces = re.split(f"[{re.escape(separators)}]", mark_wildcards(value[:-1] if ends else value))
            return (pieces if value else []), False, ends
        split = _SPACES if separators is None else re.compile(f"[{re.escape(separators)}]+")
        pieces = split.split(mark_wildcards(value))
        begins, ends = len(pieces) > 1 and not pieces[0], len(pieces) > 1 and not pieces[-1]
        return [piece for piece in pieces if piece], begins, ends

    def _separators(self) -> str | None:
        if "IFS" not in self.state.variables:
            return None
        value = self._chosen("IFS")
        return value if isinstance(value, str) and is_known(value) and len(value) < 64 else None

    def _joined(self, part: Part) -> str:
        value = part.value if type(part) is Text else self._expanded(part)
        return value if isinstance(value, str) else " ".join(value)

    def _expanded(self, part: Part) -> str | tuple[str, ...]:
        match part:
            case Text(value, _):
                return value
            case Parameter():
                return self._parameter(part)
            case Output(script, _):
                return self.capture(script).text.rstrip("\n")
            case ProcessSubstitution(script, direction):
                path = f"/dev/fd/{63 + len(self.channels)}"
                self.channels[path] = CommandInput("")
                written = self.capture(script)
                self.channels[path] = written if direction == "<" else CommandInput(ANY)
                return path
            case ArithmeticExpansion(parts, shows):
                text = "".join(map(self._joined, parts))
                for found in _SET_IN_SUM.finditer(text):
                    self.state.assign(found[1] or found[2], ANY)
                return (text.strip() if _NUMBER.fullmatch(text) else ANY) if shows else ""

    # parameters

    def _parameter(self, part: Parameter) -> str | tuple[str, ...]:
        operator = part.operator
        if operator[:1] == "!":
            name = self.value(part.name)
            known = isinstance(name, str) and is_known(name) and operator == "!" and not part.subscript
            value: Value = self.value(str(name)) if known else ANY
            operator = "" if known else operator[1:]
        elif operator == LENGTH:
            value = self.value(part.name)
            return str(len(value)) if isinstance(value, str) and is_known(value) else ANY
        else:
            value = self.value(part.name)
        if value is None and part.subscript == "@" and not operator:
            value = ()
        if isinstance(value, tuple):
            value = self._element(value, part)
        if isinstance(value, tuple):
            return value if not operator else ANY
        argument = "".join(map(self._joined, part.argument))
        return self._operated(part.name, operator, value, argument)

    def _operated(self, name: str, operator: str, value: Value, argument: str) -> str:
        self.met_unset = self.met_unset or value is None
        if operator.lstrip(":") in ("-", "=", "+"):
            return self._replaced(name, operator, value if isinstance(value, str) else None, argument)
        text = value if isinstance(value, str) else self.unset
        match operator:
            case "" | ":?" | "?":
                return text
            case ":":
                return substring(text, argument) if text else text
            case "#" | "##" | "%" | "%%":
                return trim(text, operator, argument) if text else text
            case "/" | "//" | "/#" | "/%":
                return replace_match(text, operator, argument) if text else text
            case "^" | "^^" | "," | ",,":
                return change_case(text, operator)
        return ANY

    def _replaced(self, name: str, operator: str, value: str | None, argument: str) -> str:
        """Evaluate `${name:-argument}` and its variants. See `unset` for variables that are not set here, which may
        come from the environment.
        """
        if operator.endswith("+"):
            return argument if value or (value is None and self.unset) else ""
        if value is not None and (value or operator[0] != ":"):
            return value
        result = argument if not self.unset or value is not None else ANY
        if operator.endswith("="):
            self.state.assign(name, result)
        return result

    def _element(self, value: tuple[str, ...], part: Parameter) -> Value:
        """Return one element of an array, or all of them."""
        if part.name in ("@", "*") or part.subscript in ("@", "*"):
            if part.quoted and "*" in (part.name, part.subscript):
                separators = self._separators()
                return (" " if separators is None else separators[:1]).join(value)
            return value
        if part.subscript and not part.subscript.lstrip("-").isdigit():
            return ANY
        at = int(part.subscript[:6] or 0)
        return value[at] if -len(value) <= at < len(value) else None

    def value(self, name: str) -> Value:
        """Return the parameter's value in this reading, or None if it is unset."""
        if name in self.state.variables:
            return self._chosen(name)
        if name in ("@", "*"):
            return (ANY,) if self.state.positional is None else self.state.positional
        if name.isdigit() and name != "0":
            positional = self.state.positional
            if positional is None:
                return ANY
            return positional[int(name) - 1] if int(name[:4]) <= len(positional) else None
        if name[0].isalpha() or name[0] == "_":
            self.reads[name] = None
        if name == "PWD":
            return self.directory
        return GIVEN.get(name)

    def _chosen(self, name: str) -> Value:
        values = self.state.variables[name]
        self.widest = max(self.widest, len(values))
        return values[min(self.choice, len(values) - 1)]

    @property
    def directory(self) -> str:
        """The working directory in this reading."""
        places = self.state.directories
        self.widest = max(self.widest, len(places))
        return places[min(self.choice, len(places) - 1)] or HERE

    def assigned(self, item: Assignment) -> Value:
        """Return the value that an assignment sets."""
        old = self.value(item.name) if item.appends else None
        if item.items is not None:
            fields = tuple(field for word in item.items for field in self.fields(word))
            return (*(old if isinstance(old, tuple) else () if old is None else (old,)), *fields)
        new = self.text(item.value) if item.value is not None else ""
        if isinstance(old, tuple):
            return (*old, new)
        return cap_length((old or "") + new)

    def body(self, redirect: Redirect) -> str:
        """Return the text of a here-document or here-string."""
        if redirect.body is None:
            return self.text(redirect.target) + "\n"
        return cap_length("".join(map(self._joined, redirect.body)))
