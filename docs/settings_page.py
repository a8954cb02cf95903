"""The reference of all settings, generated from their declarations."""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from hob.config.coercion import plain_number
from hob.config.fields import Setting, fields_of, is_section, section_doc, variable_name, walk, without_none
from hob.config.positions import dotted
from hob.core.settings import Secret

_NAMES: Mapping[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Path: "path",
    Secret: "secret",
    Any: "anything",
}


def reference(sections: Mapping[str, type]) -> str:
    """Return Markdown: for each section a table of key, type, default, variable, bounds and meaning."""
    return "\n".join(_lines(sections))


def _lines(sections: Mapping[str, type]) -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield "Values come from the built-in defaults, `config.toml`, the environment, values stored at run time (only keys"
    yield "marked so) and command line flags; what comes later in this list wins. An empty variable counts as not set."
    yield "A secret may be a reference: `env:NAME`, `file:PATH`, `keyring:SERVICE/USER` or `command:PROGRAM …`."
    for name, section in sections.items():
        yield ""
        yield f"## `[{name}]`"
        yield ""
        yield section_doc(section)
        yield f"Declared in `src/{section.__module__.replace('.', '/')}.py`."
        yield ""
        yield "| key | type | default | variable | bounds | meaning |"
        yield "|---|---|---|---|---|---|"
        for path, setting in walk({name: section}):
            yield _row(dotted(path), setting, variable_name(path))
            yield from _entries(dotted(path), setting)


def _entries(key: str, setting: Setting) -> Iterator[str]:
    """Yield the keys of tables within a setting."""
    kind, _ = without_none(setting.kind)
    within = get_args(kind)[-1] if get_origin(kind) in (dict, list) else kind
    if is_section(within):
        prefix = f"{key}.NAME" if get_origin(kind) is dict else f"{key}[]"
        for name, inner in fields_of(within).items():
            yield _row(f"{prefix}.{name}", inner, "")


def _row(key: str, setting: Setting, variable: str) -> str:
    former = f" Formerly `{setting.rules.formerly}`." if setting.rules.formerly else ""
    stored = " May be changed at run time." if setting.rules.stored else ""
    cells = (
        f"`{key}`",
        type_name(setting.kind),
        _default(setting.default),
        f"`{variable}`" if variable else "",
        _bounds(setting),
        (setting.rules.doc or "") + former + stored,
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def type_name(kind: Any) -> str:
    """Return the type in plain words."""
    kind, optional = without_none(kind)
    arguments = get_args(kind)
    if get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, StrEnum)):
        name = "one word"
    elif get_origin(kind) is list:
        name = f"list of {type_name(arguments[0])}"
    elif get_origin(kind) is dict:
        name = f"table of {type_name(arguments[1])}"
    else:
        name = "table" if is_section(kind) else _NAMES.get(kind, str(kind))
    return f"{name}, or nothing" if optional else name


def _default(value: Any) -> str:
    if value is MISSING:
        return "required"
    if value is None:
        return "nothing"
    if isinstance(value, Secret):
        return "a secret"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, (str, Path, int, float)):
        return f"`{value}`" if str(value) else "empty"
    if isinstance(value, (list, dict)) and not value:
        return "empty"
    return f"`{value}`"


def _bounds(setting: Setting) -> str:
    kind, _ = without_none(setting.kind)
    rules = setting.rules
    choices: tuple[Any, ...] = rules.one_of
    if get_origin(kind) is Literal:
        choices = get_args(kind)
    elif isinstance(kind, type) and issubclass(kind, StrEnum):
        choices = tuple(each.value for each in kind)
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    ends = (("≥", rules.at_least), ("≤", rules.at_most))
    return ", ".join(f"{sign} {plain_number(bound)}" for sign, bound in ends if bound is not None)
