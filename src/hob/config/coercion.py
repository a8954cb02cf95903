"""Reading values of settings: from a file or variable to a field's type, strictly, with limits checked."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, replace
from datetime import date, datetime, time
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from hob.config.environment import expand_path
from hob.config.fields import fields_of, holds_secret, is_section, name_now, without_none
from hob.config.positions import KeyPath, dotted
from hob.config.problems import find_nearest
from hob.config.secrets import SecretSources, make_secret, scheme_of
from hob.config.substitution import GivenText
from hob.core.settings import Secret, SettingRules, suggests_secret
from hob.core.translation.language import join_texts, translatable, verbatim

UNKNOWN = translatable("unknown key")
INVALID: Any = object()
"""Stands for a value that was reported and omitted."""

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_NAMES: Mapping[type, str] = {
    bool: translatable("true or false"),
    int: translatable("a whole number"),
    float: translatable("a number"),
    str: translatable("text"),
    list: translatable("a list"),
    dict: translatable("a table"),
}
_SHOWN_CHARACTERS = 60
_MAX = 2**63 - 1  # the largest integer of TOML

Report = Callable[[KeyPath, str, str], None]
"""Called for each problem, with its path, the reason and the nearest known word."""


def describe(value: object) -> str:
    """Describe the kind of a value in words."""
    if isinstance(value, (datetime, date, time)):
        return translatable("a date or time")
    return next((name for kind, name in _NAMES.items() if isinstance(value, kind)), type(value).__name__)


def plain_number(number: float) -> str:
    """Return the number as a person would write it."""
    return str(int(number)) if number == int(number) else str(number)


def native(kind: Any, text: str) -> Any:
    """Parse the text as a TOML value of this type's shape; return the text itself if it has another shape."""
    kind, _ = without_none(kind)
    stripped = text.strip()
    if kind is bool:
        return _WORDS.get(stripped.casefold(), text)
    if kind in (int, float):
        try:
            number = kind(stripped)
        except ValueError:
            return text
        return number if math.isfinite(number) else text
    if get_origin(kind) is list and not stripped.startswith("["):
        return [native(get_args(kind)[0], GivenText(each.strip())) for each in text.split(",") if each.strip()]
    if get_origin(kind) in (list, dict) or is_section(kind):
        return _read_toml(text)
    return text


def _read_toml(text: str) -> Any:
    from tomllib import TOMLDecodeError, loads  # only for lists and tables given as text

    try:
        document = loads("value = " + text.strip())
    except (TOMLDecodeError, RecursionError, ValueError):
        return text
    return document["value"] if len(document) == 1 else text


def named_twice(key: str) -> str:
    """Return the problem of a setting given under both its current and its former name."""
    return translatable("this is the former name of {key}, which is set too; remove one of the two", key=key)


class Coercion:
    """Coerces the values of one layer. Problems are reported, never raised, so that all of them are found."""

    def __init__(self, report: Report, sources: SecretSources) -> None:
        self._tell = report
        self._sources = sources
        self._told = 0
        self.plain_secrets: list[KeyPath] = []
        """Paths of secrets that the layer contains literally, neither as a reference nor by substitution."""
        self.former: list[tuple[KeyPath, KeyPath]] = []
        """Names of earlier releases that the layer uses, each with its current name."""

    def value(self, path: KeyPath, kind: Any, rules: SettingRules, raw: Any) -> Any:
        """Return the value as the type requires, or INVALID."""
        kind, _ = without_none(kind)
        if isinstance(raw, GivenText):
            raw = native(kind, raw)
        if kind is Any:
            return raw
        if is_section(kind):
            return self._section(path, kind, raw)
        if get_origin(kind) is list:
            return self._list(path, kind, rules, raw)
        if get_origin(kind) is dict:
            return self._dict(path, kind, rules, raw)
        return self._scalar(path, kind, rules, raw)

    def leaf_values(self, path: KeyPath, section: type, table: dict[str, Any]) -> dict[KeyPath, Any]:
        """Return the values of a section's table, nested sections flattened, including INVALID; unknown keys are
        reported.
        """
        declared = fields_of(section)
        found: dict[KeyPath, Any] = {}
        for key, raw in table.items():
            inner = (*path, key)
            name = name_now(declared, key)
            if not name:
                self._report(inner, UNKNOWN, _beside(path, key, declared))
                continue
            if name != key:
                if name in table:
                    self._report(inner, named_twice(dotted((*path, name))), "")
                    continue
                self.former.append((inner, (*path, name)))
                inner = (*path, name)
            if is_section(kind := declared[name].kind):
                if isinstance(raw, dict):
                    found.update(self.leaf_values(inner, kind, raw))
                else:
                    found[inner] = self._refuse(inner, kind, raw)
            else:
                found[inner] = self.value(inner, kind, declared[name].rules, raw)
        return found

    def build(self, path: KeyPath, section: type, values: dict[KeyPath, Any], start: Any = None) -> Any:
        """Build a section from values by path; missing values keep their defaults. Returns INVALID on failure."""
        arguments: dict[str, Any] = {}
        for name, field in fields_of(section).items():
            inner = (*path, name)
            default = field.default if start is None else getattr(start, name)
            if inner in values:
                arguments[name] = values[inner]
            elif is_section(field.kind):
                nested = None if default is MISSING else default
                arguments[name] = self.build(inner, field.kind, values, nested)
            elif default is MISSING:
                self._report(inner, translatable("is missing and has no default"), "")
                return INVALID
            elif isinstance(default, Path) and default.parts[:1] == ("~",):
                arguments[name] = expand_path(str(default), self._sources.environ, self._sources.base)
        if any(value is INVALID for value in arguments.values()):
            return INVALID
        try:
            return section(**arguments) if start is None else replace(start, **arguments)
        except ValueError as error:  # a rule of the section between several keys
            self._report(path, str(error), "")
            return INVALID

    def table(self, path: KeyPath, section: type, entries: Any) -> Any:
        """Build a section that is a table of entries, or return INVALID."""
        if entries is INVALID:
            return INVALID
        try:
            return section(entries)
        except ValueError as error:
            self._report(path, str(error), "")
            return INVALID

    def _section(self, path: KeyPath, section: type, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return self._refuse(path, section, raw)
        told = self._told
        leaf_values = self.leaf_values(path, section, raw)
        return self.build(path, section, leaf_values) if self._told == told else INVALID

    def _refuse(self, path: KeyPath, kind: Any, raw: Any) -> Any:
        expected = _NAMES[list] if get_origin(kind) is list else _NAMES[dict]
        self._report(path, translatable("expected {kind}{instead}", kind=expected, instead=_redact(kind, raw)), "")
        return INVALID

    def _report(self, path: KeyPath, reason: str, hint: str) -> None:
        self._told += 1
        self._tell(path, reason, hint)

    def _list(self, path: KeyPath, kind: Any, rules: SettingRules, raw: Any) -> Any:
        if not isinstance(raw, list):
            return self._refuse(path, kind, raw)
        of = get_args(kind)[0]
        values = [self.value((*path, index), of, rules, each) for index, each in enumerate(raw)]
        return INVALID if any(each is INVALID for each in values) else values

    def _dict(self, path: KeyPath, kind: Any, rules: SettingRules, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return self._refuse(path, kind, raw)
        of = get_args(kind)[1]
        values = {key: self.value((*path, key), of, rules, each) for key, each in raw.items()}
        return INVALID if any(each is INVALID for each in values.values()) else values

    def _scalar(self, path: KeyPath, kind: Any, rules: SettingRules, raw: Any) -> Any:
        try:
            if kind is Secret:
                return self._secret(path, raw)
            value = _convert(kind, raw, self._sources)
            _check_rules(value, rules)
        except _Unknown as unknown:
            self._report(
                path,
                translatable(
                    "must be {choices}{instead}", choices=_quote_choices(unknown.choices), instead=_redact(kind, raw)
                ),
                unknown.hint,
            )
        except ValueError as error:
            told = str(error)
            named = isinstance(raw, str) and repr(raw) in told
            self._report(path, told if named else join_texts("", (told, _redact(kind, raw))), "")
        else:
            return value
        return INVALID

    def _secret(self, path: KeyPath, raw: Any) -> Secret:
        if not isinstance(raw, str):
            raise ValueError(translatable("expected text"))
        harmless = "env" in map(str, path[:-1]) and not suggests_secret(str(path[-1]))
        if not (harmless or scheme_of(raw) or isinstance(raw, GivenText)):
            self.plain_secrets.append(path)
        return make_secret(raw, dotted(path), self._sources)


class _Unknown(ValueError):
    """The value is not one of the choices."""

    def __init__(self, value: object, choices: Iterable[object]) -> None:
        self.choices = [str(choice) for choice in choices]
        self.hint = find_nearest(str(value), self.choices)
        super().__init__()


def _convert(kind: Any, raw: Any, sources: SecretSources) -> Any:
    if get_origin(kind) is Literal:
        found = [each for each in get_args(kind) if str(each) == str(raw)]
        return found[0] if found else _refuse(raw, get_args(kind))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        choices = [each.value for each in kind]
        return kind(str(raw)) if str(raw) in choices else _refuse(raw, choices)
    wanted: Any = str if kind is Path else kind
    if wanted not in (str, int, float, bool):
        raise TypeError(f"a setting cannot be of type {kind}")
    if type(raw) is int and abs(raw) > _MAX:
        raise ValueError(translatable("the number is too large"))
    if wanted is float and type(raw) is int:
        raw = float(raw)
    if type(raw) is GivenText:
        raw = str(raw)
    if type(raw) is not wanted:
        raise ValueError(translatable("expected {kind}", kind=_NAMES[wanted]))
    if wanted is float and not math.isfinite(raw):
        raise ValueError(translatable("expected a finite number"))
    if wanted is str:
        _check_text(raw)
    return expand_path(raw, sources.environ, sources.base) if kind is Path else raw


def _refuse(raw: Any, choices: Iterable[object]) -> Any:
    raise _Unknown(raw, choices)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(translatable("is not UTF-8 text")) from None


def _check_rules(value: Any, rules: SettingRules) -> None:
    """Raise an error if the value breaks a rule of its setting; entries of a table or list are checked one by one."""
    if isinstance(value, (dict, list)):
        for entry in value.values() if isinstance(value, dict) else value:
            _check_rules(entry, rules)
        return
    if rules.one_of and str(value) not in rules.one_of:
        raise _Unknown(value, rules.one_of)
    if rules.problem is not None and (problem := rules.problem(value)):
        raise ValueError(problem)
    if isinstance(value, (int, float)):
        if rules.at_least is not None and value < rules.at_least:
            raise ValueError(translatable("must be at least {at_least}", at_least=plain_number(rules.at_least)))
        if rules.at_most is not None and value > rules.at_most:
            raise ValueError(translatable("must be at most {at_most}", at_most=plain_number(rules.at_most)))


def _quote_choices(choices: list[str]) -> str:
    *rest, last = [verbatim(choice) if choice else translatable("empty") for choice in choices]
    return translatable("{choices} or {last}", choices=join_texts(", ", rest), last=last) if rest else last


def _redact(kind: Any, raw: Any) -> str:
    """Return what messages show instead of the value; never a text in place of a secret."""
    if holds_secret(kind) or isinstance(raw, (dict, list)):
        return "" if isinstance(raw, str) else translatable(", not {value}", value=describe(raw))
    if raw == "" or (type(raw) is int and abs(raw) > _MAX):
        return ""
    if isinstance(raw, bool):
        return translatable(", not {value}", value=str(raw).lower())
    shown = repr(raw.shown if isinstance(raw, GivenText) else raw) if isinstance(raw, str) else str(raw)
    shown = shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}…"
    return translatable(", not {value}", value=shown)


def _beside(path: KeyPath, key: str, known: Iterable[str]) -> str:
    near = find_nearest(key, known)
    return dotted((*path, near)) if near else ""
