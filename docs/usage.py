"""Usage of commands, generated from their functions: signature and descriptions of parameters.

Descriptions come from the docstring's list of parameters or from the parameter's own `cyclopts.Parameter`.
"""

import inspect
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, Literal, get_args, get_origin, get_type_hints

from cyclopts import Parameter
from markdown import cell

from hob.cli.table import COMMANDS, load_command

_LIST = "Parameters\n----------\n"


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every command's function by its full name."""
    for name, _text in COMMANDS:
        target = load_command(name)
        if inspect.isfunction(target):
            yield name, target
        else:
            yield from ((f"{name} {inner}", target[inner].default_command) for inner in inner_names(target))


def inner_names(app: Any) -> list[str]:
    """Return the subcommands of a group."""
    return sorted(name for name in app if not name.startswith("-"))


def options_of(function: Callable[..., Any]) -> Iterator[str]:
    """Yield a command's options, and the choices of its arguments."""
    kinds = get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        kind = kinds.get(parameter.name)
        choices = "|".join(filter(None, _choices(kind)))
        given = [name for each in get_args(kind) if isinstance(each, Parameter) for name in each.name or ()]
        names = [name for name in (*given, _name(parameter, kind)) if name.startswith("-")]
        for name in dict.fromkeys(names):
            yield f"{name} {choices}".strip()
        if choices and not names:
            yield choices


def usage_of(name: str, function: Callable[..., Any]) -> list[str]:
    """Return a command's usage line, description, and table of arguments and options."""
    parameters = list(inspect.signature(function).parameters.values())
    kinds = get_type_hints(function, include_extras=True)
    text, _, listed = (inspect.getdoc(function) or "").partition(_LIST)
    words = (_word(each, kinds.get(each.name)) for each in parameters)
    lines = ["```text", " ".join((f"hob {name}", *words)), "```", "", text.strip()]
    meanings = {each.name: _told(kinds.get(each.name)) for each in parameters} | _meanings(listed)
    if any(meanings.values()):
        lines += ["", "| argument | default | meaning |", "|---|---|---|"]
        for parameter in parameters:
            default = parameter.default
            shown = f"`{default}`" if default not in (None, False, "", parameter.empty) else ""
            meaning = cell(meanings.get(parameter.name, ""))
            lines.append(f"| `{_name(parameter, kinds.get(parameter.name))}` | {shown} | {meaning} |")
    return lines


def _name(parameter: inspect.Parameter, kind: object) -> str:
    given = (each.name for each in get_args(kind) if isinstance(each, Parameter) and each.name)
    if name := next(given, None):
        return next(iter(name))
    if parameter.kind is parameter.KEYWORD_ONLY:
        return "--" + parameter.name.rstrip("_").replace("_", "-")
    return parameter.name.upper()


def _word(parameter: inspect.Parameter, kind: object) -> str:
    name, choices = _name(parameter, kind), "|".join(filter(None, _choices(kind)))
    if parameter.default is None and bool in get_args(kind):
        name = f"--[no-]{name.removeprefix('--')}"
    elif name.startswith("--") and parameter.default is not False:
        name += " " + (choices or parameter.name.rstrip("_").upper())
    elif choices:
        name = choices
    return name if parameter.default is parameter.empty else f"[{name}]"


def _choices(kind: object) -> Iterator[str]:
    """Yield the choices of a parameter, if it has any."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        yield from (each.name.lower().replace("_", "-") for each in kind)
    elif get_origin(kind) is Literal:
        yield from get_args(kind)
    else:
        for part in get_args(kind):
            yield from _choices(part)


def _told(kind: object) -> str:
    """Return the description in the parameter's annotation."""
    notes = (each for each in get_args(kind) if isinstance(each, Parameter))
    return next((each.help for each in notes if each.help), "")


def _meanings(listed: str) -> dict[str, str]:
    """Return the descriptions in the docstring's list of parameters."""
    found: dict[str, str] = {}
    name = ""
    for line in listed.splitlines():
        if line and not line.startswith(" "):
            name = line.strip().rstrip(":")
            found[name] = ""
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
