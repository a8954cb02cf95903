"""Declarations of the section classes: every field with its type, rules and default."""

import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from inspect import cleandoc
from typing import Any, NamedTuple, TypeGuard, Union, get_args, get_origin, get_type_hints

from hob.config.environment import PREFIX
from hob.core.settings import Secret, SettingRules

NO_RULES = SettingRules("")


class Setting(NamedTuple):
    """One declared field. `kind` is its type; a nested section's kind is a dataclass."""

    name: str
    kind: Any
    rules: SettingRules
    default: Any
    """The default, or MISSING."""


@cache
def fields_of(section: type) -> Mapping[str, Setting]:
    """Return the declared fields of a section class, in order."""
    declared = fields(section)
    kinds = get_type_hints(section) if any(isinstance(field.type, str) for field in declared) else {}
    found = {}
    for field in declared:
        default = field.default
        if default is MISSING and field.default_factory is not MISSING:
            default = field.default_factory()
        rules = field.metadata.get("rules", NO_RULES)
        found[field.name] = Setting(field.name, kinds.get(field.name, field.type), rules, default)
    return found


def is_section(kind: Any) -> TypeGuard[type]:
    """Whether this type is a (nested) section."""
    return isinstance(kind, type) and is_dataclass(kind)


def is_table(section: type) -> bool:
    """Whether a section is a table with entries named by the owner: a class made of `dict[str, Entry]`."""
    return issubclass(section, dict)


def table_setting(name: str, section: type) -> Setting:
    """Return such a section as the single setting it is."""
    (whole,) = section.__orig_bases__  # type: ignore[attr-defined]  # of a class made of a generic one
    return Setting(name, dict[str, get_args(whole)[1]], SettingRules(section_doc(section)), {})  # type: ignore[misc]  # known at run time only


def section_doc(section: type) -> str:
    """Return the first paragraph of the section's docstring, in one line."""
    return cleandoc(section.__doc__ or "").partition("\n\n")[0].replace("\n", " ")


def texts_of(sections: Mapping[str, type]) -> Iterator[str]:
    """Return all texts that describe these sections, their settings and table entries."""
    for name, section in sections.items():
        yield section_doc(section)
        for _, setting in walk({name: section}):
            yield setting.rules.doc
            kind, _ = without_none(setting.kind)
            within = get_args(kind)[-1] if get_origin(kind) in (dict, list) else kind
            if is_section(within):
                yield from (inner.rules.doc for inner in fields_of(within).values())


def takes_anything(section: type) -> bool:
    """Whether a section is a table that accepts any key."""
    return is_table(section) and get_args(table_setting("", section).kind)[1] is Any


def without_none(kind: Any) -> tuple[Any, bool]:
    """Return the type without `| None`, and whether None was allowed. Other unions are errors in the declaration."""
    if get_origin(kind) not in (Union, types.UnionType):
        return kind, False
    others = [each for each in get_args(kind) if each is not types.NoneType]
    if len(others) != 1:
        raise TypeError(f"a setting cannot be of type {kind}")
    return others[0], True


def walk(sections: Mapping[str, type]) -> Iterator[tuple[tuple[str, ...], Setting]]:
    """Yield every setting with its path, nested sections flattened."""
    for name, section in sections.items():
        if is_table(section):
            yield (name,), table_setting(name, section)
        else:
            yield from _walk_section((name,), section)


def _walk_section(prefix: tuple[str, ...], section: type) -> Iterator[tuple[tuple[str, ...], Setting]]:
    for name, setting in fields_of(section).items():
        if is_section(setting.kind):
            yield from _walk_section((*prefix, name), setting.kind)
        else:
            yield (*prefix, name), setting


def variable_name(path: tuple[str, ...]) -> str:
    """Return the environment variable of this key."""
    return PREFIX + "_".join(path).upper()


def variables(sections: Mapping[str, type]) -> dict[str, tuple[str, ...]]:
    """Return variable names and the keys they set. Raises ValueError if two keys share one name."""
    found: dict[str, tuple[str, ...]] = {}
    for path, _ in walk(sections):
        taken = found.setdefault(variable_name(path), path)
        if taken != path:
            raise ValueError(f"{variable_name(path)} would set both {'.'.join(taken)} and {'.'.join(path)}")
    return found


def find_setting(sections: Mapping[str, type], path: tuple[str, ...]) -> Setting | None:
    """Return the declaration of this key: a setting, a nested section, or an entry of a `dict` setting."""
    if not path or path[0] not in sections:
        return None
    section = sections[path[0]]
    found = table_setting(path[0], section) if is_table(section) else Setting(path[0], section, NO_RULES, MISSING)
    for part in path[1:]:
        kind, _ = without_none(found.kind)
        if is_section(kind):
            inner = fields_of(kind).get(part)
            if inner is None:
                return None
            found = inner
        elif get_origin(kind) is dict:
            found = Setting(part, get_args(kind)[1], found.rules, MISSING)
        else:
            return None
    return found


def name_now(declared: Mapping[str, Setting], name: str) -> str:
    """Return the current name of a setting given its current or a former name; empty if unknown."""
    if name in declared:
        return name
    return next((now for now, each in declared.items() if name == each.rules.formerly), "")


def path_now(sections: Mapping[str, type], path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the current path of a setting given a former one; otherwise the path itself."""
    above = find_setting(sections, path[:-1])
    if above is None or not is_section(above.kind):
        return path
    return (*path[:-1], name_now(fields_of(above.kind), path[-1]) or path[-1])


@cache
def holds_secret(kind: Any) -> bool:
    """Whether values of this type are or contain secrets."""
    if is_section(kind):
        return any(holds_secret(field.kind) for field in fields_of(kind).values())
    return kind is Secret or any(holds_secret(each) for each in get_args(kind))
