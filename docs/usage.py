"""How a command is used, from its function: the signature, and the docstring with its list of parameters."""

import inspect
from collections.abc import Callable
from typing import Any

from markdown import cell

_LIST = "Parameters\n----------\n"


def usage_of(name: str, function: Callable[..., Any]) -> list[str]:
    """The command's line, what it does, and a table of its arguments and options."""
    parameters = list(inspect.signature(function).parameters.values())
    text, _, listed = (inspect.getdoc(function) or "").partition(_LIST)
    lines = ["```text", " ".join((f"hob {name}", *map(_word, parameters))), "```", "", text.strip()]
    meanings = _meanings(listed)
    if meanings:
        lines += ["", "| argument | default | meaning |", "|---|---|---|"]
        for parameter in parameters:
            default = parameter.default
            shown = f"`{default}`" if default not in (None, False, parameter.empty) else ""
            meaning = cell(meanings.get(parameter.name, ""))
            lines.append(f"| `{_name(parameter)}` | {shown} | {meaning} |")
    return lines


def _name(parameter: inspect.Parameter) -> str:
    if parameter.kind is parameter.KEYWORD_ONLY:
        return "--" + parameter.name.rstrip("_").replace("_", "-")
    return parameter.name.upper()


def _word(parameter: inspect.Parameter) -> str:
    name = _name(parameter)
    if name.startswith("--") and parameter.default is not False:
        name += " " + parameter.name.rstrip("_").upper()
    return name if parameter.default is parameter.empty else f"[{name}]"


def _meanings(listed: str) -> dict[str, str]:
    """What the docstring says about each parameter."""
    found: dict[str, str] = {}
    name = ""
    for line in listed.splitlines():
        if line and not line.startswith(" "):
            name = line.strip().rstrip(":")
            found[name] = ""
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
