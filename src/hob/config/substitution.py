"""Substitution of `${NAME}` in the file's texts from the environment."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from hob.config.positions import KeyPath

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}|\$\{")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Report = Callable[[KeyPath, str], None]


class GivenText(str):
    """A value given as text (a variable, a flag, a substituted text of the file), to be parsed by its setting's type.

    `shown` is the text as written; messages show that, since a substituted variable may be a secret.
    """

    __slots__ = ("shown",)
    shown: str

    def __new__(cls, value: str, shown: str | None = None) -> "GivenText":
        text = super().__new__(cls, value)
        text.shown = value if shown is None else shown
        return text


def is_name(text: str) -> bool:
    """Whether this is a valid name of a variable."""
    return _NAME.fullmatch(text) is not None


def substitute(value: Any, environ: Mapping[str, str], report: Report, path: KeyPath = ()) -> Any:
    """Return the parsed value with every `${NAME}` in its texts replaced; `$${` is a literal `${`.

    Unresolvable names are reported and left as they are. Substituted text is not expanded again.
    """
    if isinstance(value, str):
        return _substitute_text(value, environ, report, path) if "${" in value else value
    if isinstance(value, dict):
        return {key: substitute(each, environ, report, (*path, key)) for key, each in value.items()}
    if isinstance(value, list):
        return [substitute(each, environ, report, (*path, index)) for index, each in enumerate(value)]
    return value


def _substitute_text(text: str, environ: Mapping[str, str], report: Report, path: KeyPath) -> str:
    replaced = False

    def replace(match: re.Match[str]) -> str:
        nonlocal replaced
        name = match[1]
        if match[0] == "$${":
            return "${"
        if name is None:
            report(path, "`${` has no closing brace; write `$${` for a plain one")
        elif not is_name(name):
            report(path, "between `${` and `}` stands no variable's name; write `$${` for a plain `${`")
        elif name not in environ:
            report(path, f"the variable {name} is not set")
        else:
            replaced = True
            return environ[name]
        return match[0]

    result = _REFERENCE.sub(replace, text)
    return GivenText(result, text) if replaced else result
