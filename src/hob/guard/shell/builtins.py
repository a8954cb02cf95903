"""Builtins that change the meaning of later words: directory, variables, positional parameters, `eval`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from hob.guard.shell.arguments import ANY, HOME, is_known, join_path
from hob.guard.shell.expansion import CommandInput, ShellState
from hob.guard.shell.outputs import known_output

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class BuiltinEffect(Protocol):
    """The interpreter state that builtins change."""

    state: ShellState

    @property
    def directory(self) -> str:
        """Return the working directory."""

    def read(self, text: str, stdin: CommandInput | None = None, wants_output: bool = False) -> str:
        """Interpret a text; return its output."""


Args = tuple[str, ...]


def perform(effect: BuiltinEffect, argv: Args, stdin: CommandInput | None) -> str | None:
    """Apply the builtin's effects and return its output, or None if it is not a builtin with effects."""
    found = _BUILTINS.get(argv[0])
    return None if found is None else found(effect, argv, stdin)


def _cd(effect: BuiltinEffect, argv: Args, _: CommandInput | None) -> str:
    places = [arg for arg in argv[1:] if not re.fullmatch("-[LPe@]+|--", arg)]
    place = places[0] if places else HOME
    target = ANY if place == "-" or place.startswith(("+", "-")) else join_path(effect.directory, place)
    effect.state.directories = (target if len(target) < 2048 else ANY,)
    return ""


def _pwd(effect: BuiltinEffect, _: Args, __: CommandInput | None) -> str:
    return effect.directory


def _popd(effect: BuiltinEffect, _: Args, __: CommandInput | None) -> str:
    effect.state.directories = (ANY,)
    return ""


def _set(effect: BuiltinEffect, argv: Args, _: CommandInput | None) -> str:
    args = argv[1:]
    while args and args[0][:1] in ("-", "+") and args[0] != "--":
        args = args[2:] if args[0][1:] == "o" else args[1:]
    if args:
        effect.state.positional = args[1:] if args[0] == "--" else args
    return ANY if len(argv) == 1 else ""


def _shift(effect: BuiltinEffect, argv: Args, _: CommandInput | None) -> str:
    if effect.state.positional is not None:
        count = argv[1] if len(argv) > 1 else "1"
        effect.state.positional = effect.state.positional[int(count[:4]) :] if count.isdigit() else None
    return ""


def _unset(effect: BuiltinEffect, argv: Args, _: CommandInput | None) -> str:
    for name in argv[1:]:
        if _NAME.fullmatch(name):
            effect.state.variables[name] = (None,)
        effect.state.functions.pop(name, None) if argv[1:2] == ("-f",) else None
    return ""


def _read(effect: BuiltinEffect, argv: Args, stdin: CommandInput | None) -> str:
    names = [arg for arg in argv[1:] if _NAME.fullmatch(arg)]
    plain = argv[0] == "read" and "IFS" not in effect.state.variables
    line = stdin.text.split("\n")[0] if plain and stdin is not None and is_known(stdin.text) else ANY
    arrays = any(re.fullmatch("-[A-Za-z]*a", arg) for arg in argv)
    if line != ANY and names and not arrays:
        words = line.split(maxsplit=len(names) - 1) if len(names) > 1 else [line.strip()]
        for at, name in enumerate(names):
            effect.state.assign(name, words[at] if at < len(words) else "")
    else:
        for name in names or ["REPLY", "MAPFILE"]:
            effect.state.assign(name, (tuple(line.split()) if line != ANY else (ANY,)) if arrays else ANY)
    return ""


def _printf(effect: BuiltinEffect, argv: Args, _: CommandInput | None) -> str | None:
    if argv[1:2] != ("-v",) or len(argv) < 4:
        return None
    if _NAME.fullmatch(argv[2]):
        effect.state.assign(argv[2], known_output(("printf", *argv[3:]), None))
    return ""


def _declare(effect: BuiltinEffect, argv: Args, _: CommandInput | None) -> str:
    for arg in argv[1:]:
        name, equals, value = arg.partition("=")
        if equals and _NAME.fullmatch(name):
            effect.state.assign(name, value)
    return ANY if "-p" in argv else ""


def _let(effect: BuiltinEffect, argv: Args, _: CommandInput | None) -> str:
    for arg in argv[1:]:
        for name in _NAME.findall(arg[:1000]):
            effect.state.assign(name, ANY)
    return ""


def _eval(effect: BuiltinEffect, argv: Args, stdin: CommandInput | None) -> str:
    args = argv[2:] if argv[1:2] == ("--",) else argv[1:]
    return effect.read(" ".join(args), stdin, True)


def _later(effect: BuiltinEffect, argv: Args, _: CommandInput | None) -> str:
    """Interpret the deferred text of `trap` and `alias`."""
    args = [arg for arg in argv[1:] if not arg.startswith("-")]
    texts = args[:1] if argv[0] == "trap" else [arg.partition("=")[2] for arg in args]
    for text in texts:
        before = effect.state.copy()
        effect.read(text)
        effect.state.restore(before)
    return ""


_BUILTINS: dict[str, Callable[[BuiltinEffect, Args, CommandInput | None], str | None]] = {
    "cd": _cd,
    "pushd": _cd,
    "popd": _popd,
    "pwd": _pwd,
    "set": _set,
    "shift": _shift,
    "unset": _unset,
    "printf": _printf,
    "let": _let,
    "eval": _eval,
    **dict.fromkeys(("read", "mapfile", "readarray", "getopts"), _read),
    **dict.fromkeys(("export", "declare", "local", "readonly", "typeset"), _declare),
    **dict.fromkeys(("trap", "alias"), _later),
}
