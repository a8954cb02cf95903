"""The help page: `--help` output and usage errors."""

import io
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from cyclopts import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)
from cyclopts.help import HelpEntry, HelpPanel
from rich.console import Console, ConsoleOptions

from hob.cli.translating import _

_WIDEST = 100
_MARGIN = "  "
PLACEHOLDERS = {"STR": "TEXT", "INT": "NUMBER", "FLOAT": "NUMBER", "ARGS": "NAME"}
"""Placeholders in place of cyclopts' type names."""
_UNNAMED = "[ARGS"
"""Names that cyclopts gives to optional arguments."""
_LABELS = 24
"""Width of the column of names; longer names get a line of their own."""


class HelpPage:
    """A help formatter for cyclopts: names on the left, wrapped meanings on the right.

    Every text is translated by `say`. The usage is printed after the arguments are known, as it names them.
    """

    def __init__(self, say: Callable[[str], str] = _) -> None:
        self._say = say
        self._usage = self._description = ""

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Print a list of commands or of options."""
        if panel.entries:
            if self._usage:
                names = "] [".join(filter(None, map(_optional_name, panel.entries)))
                self._print_usage(console, self._usage.replace("ARGS", names or "ARGS"))
            if panel.format != "parameter":
                self._list(console, "Commands", panel.entries)
                return
            self._list(console, "Arguments", [entry for entry in panel.entries if entry.positional_label])
            self._list(console, "Options", [entry for entry in panel.entries if not entry.positional_label])

    def _list(self, console: Console, title: str, entries: Sequence[HelpEntry]) -> None:
        if entries:
            lines = [line for entry in entries for line in self._entry(entry, _width(console))]
            _print(console, "\n".join([f"{self._say(title)}:", *lines]))

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        """Print the usage, or keep it until the names of optional arguments are known."""
        said = _plain(usage).removeprefix("Usage: ")
        self._usage = said if _UNNAMED in said else ""
        self._description = ""
        if said and not self._usage:
            self._print_usage(console, said)

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        """Print the description after the usage, its paragraphs wrapped."""
        paragraphs = _plain(description).split("\n\n") if description else []
        self._description = "\n\n".join(textwrap.fill(self._say(_joined(text)), _width(console)) for text in paragraphs)
        if self._description and not self._usage:
            _print(console, self._description)

    def _print_usage(self, console: Console, usage: str) -> None:
        _print(console, f"{self._say('Usage')}: {self._named(usage)}")
        if self._description:
            _print(console, self._description)
        self._usage = ""

    def _entry(self, entry: HelpEntry, width: int) -> list[str]:
        shown = entry.copy(
            metavar=None if entry.choices else entry.metavar,
            negative_names=() if entry.default == "False" else entry.negative_names,
        )
        label = self._named(entry.positional_label or ", ".join(shown.display_labels_with_metavar))
        notes = [self._say(_joined(_plain(entry.description)))]
        if choices := [choice for choice in entry.choices or () if choice]:
            notes.append(f"[{', '.join(choices)}]")
        if entry.default not in (None, "", '""', "False", "None"):
            notes.append(self._say("[default: {value}]").format(value=entry.default))
        if entry.required:
            notes.append(self._say("[required]"))
        column = " " * (len(_MARGIN) + _LABELS)
        text = textwrap.wrap(" ".join(filter(None, notes)), width, initial_indent=column, subsequent_indent=column)
        head = f"{_MARGIN}{label}"
        if text and len(label) < _LABELS:
            return [head.ljust(len(column)) + text[0].lstrip(), *text[1:]]
        return [head, *text]

    def _named(self, label: str) -> str:
        """Return the label with translated placeholders."""
        return re.sub(r"(?<![\w-])[A-Z]{3,}\b", lambda found: self._say(PLACEHOLDERS.get(found[0], found[0])), label)


def _optional_name(entry: HelpEntry) -> str:
    """Return the name of an optional argument; empty for anything else."""
    return "" if entry.required else entry.positional_label or ""


def describe_usage_error(error: CycloptsError) -> str:
    """Return the error in a command line, and where to find its help."""
    match error:
        case UnusedCliTokensError() if error.unused_tokens:
            subcommands = [name for name in error.app or () if not name.startswith("-")]
            if subcommands and error.command_chain:
                word = error.unused_tokens[0]
                said = _("unknown command {word}", word=word) + _meant(word, subcommands)
            else:
                said = _("unexpected argument {words}", words=repr(" ".join(error.unused_tokens)))
            if error.command_chain and error.command_chain[-1] == "ask":
                said += _("; put the question in quotes")
        case MissingArgumentError(argument=argument) if argument is not None and argument.token_count()[0] == 1:
            kind = argument.field_info
            name = argument.name if kind.is_keyword_only else _(argument.name.lstrip("-").upper())
            said = (_("{name} is missing") if kind.is_positional else _("{name} needs a value")).format(name=name)
        case UnknownOptionError(token=token):
            word = (token.keyword or token.value).partition("=")[0]
            said = _("unknown option {word}", word=word)
            said += _meant(word, (name for each in error.argument_collection for name in each.names))
        case UnknownCommandError():
            word, known = (error.unused_tokens or [""])[0], error.app or ()
            said = _("unknown command {word}", word=word) + _meant(word, known)
        case CoercionError(token=token, target_type=kind) if token is not None and error.msg is None:
            argument = error.argument
            name = token.keyword or (argument.name.lstrip("-").upper() if argument is not None else "")
            said = _bad_value(kind).format(value=repr(token.value), name=name, choices=", ".join(_choices(kind)))
        case RepeatArgumentError(token=token):
            said = _("{name} is given more than once", name=token.keyword or token.value)
        case _:
            said = str(error).partition(" Available commands")[0].strip()
    chain = " ".join(("hob", *(error.command_chain or ())))
    said = f"{said.rstrip('.')}{'' if said.endswith('?') else ';'}"
    return f"hob: {_('{said} see `{command} --help`').format(said=said, command=chain)}"


def _meant(word: str, known: Iterable[str]) -> str:
    close = get_close_matches(word, list(known), 1)
    return _("; did you mean {word}?", word=close[0]) if close else ""


def _choices(kind: Any) -> tuple[str, ...]:
    if get_origin(kind) is Literal:
        return tuple(filter(None, map(str, get_args(kind))))
    return tuple(str(each.value) for each in kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()


def _bad_value(kind: Any) -> str:
    if _choices(kind):
        return _("invalid value {value} for {name}; choose {choices}")
    if kind in (int, float):
        return _("{name} needs a number, not {value}")
    return _("invalid value {value} for {name}")


def _plain(text: Any) -> str:
    """Return the plain text of what cyclopts made of a docstring."""
    if text is None or isinstance(text, str):
        return text or ""
    console = Console(file=io.StringIO(), width=10_000, no_color=True)
    with console.capture() as captured:
        console.print(text, end="", highlight=False, markup=False)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip()


def _joined(text: str) -> str:
    return " ".join(text.split())


def _width(console: Console) -> int:
    return min(console.width, _WIDEST) - 1


def _print(console: Console, text: str) -> None:
    console.print(f"{text}\n", highlight=False, markup=False, soft_wrap=True)
