"""Python types as JSON Schema, and JSON values as those types, with errors that models understand.

The schema is the plain part of draft 2020-12 (https://json-schema.org/draft/2020-12) that providers accept.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from hob.core.spelling import close_names
from hob.core.values import dataclass

Schema = dict[str, Any]
Read = Callable[[Any, str, list[str]], Any]
"""Converts a JSON value, given the value, its path, and the list that problems are added to."""


_MIN = ("minimum", "minLength", "minItems")
_MAX = ("maximum", "maxLength", "maxItems")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The minimum and maximum of a number, or of the length of a text or list."""

    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """A type's schema and its reader."""

    schema: Schema
    read: Read


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: a tool's parameter, or a dataclass field."""

    name: str
    shape: Shape
    required: bool


def shape_of(hint: Any) -> Shape:
    """Return the shape of a type. Raises TypeError for types that tools cannot use."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(parts[0], parts[1:])
    if origin in (Union, UnionType):
        return _union(parts)
    if origin is Literal:
        return _choice({part: part for part in parts})
    if origin in (list, Sequence) or (origin is tuple and parts[1:] == (Ellipsis,)):
        return _list(parts[0], tuple if origin is tuple else list)
    if origin in (dict, Mapping) and parts[0] is str:
        return _mapping(parts[1])
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice({member.value: member for member in hint})
    if isinstance(hint, type) and is_dataclass(hint):
        return _dataclass(hint)
    if hint is Any:
        return Shape({}, lambda value, _where, _problems: value)
    if hint in _PLAIN:
        return _plain(hint)
    raise TypeError(f"{hint!r} cannot be a parameter of a tool")


def with_words(shape: Shape, told: Schema) -> Shape:
    """Copy a shape with the description and bounds of a schema."""
    words = {word: told[word] for word in ("description", *_MIN, *_MAX) if word in told}
    minimum, maximum = (next((told[word] for word in names if word in told), None) for names in (_MIN, _MAX))
    read = shape.read if minimum is maximum is None else _bounded(shape.read, Bounds(minimum, maximum))
    return Shape({**shape.schema, **words}, read)


def object_schema(members: Sequence[Member]) -> Schema:
    """Build the schema of an object. Reading rejects extra members; to save space, the schema does not say so."""
    schema: Schema = {"type": "object", "properties": {member.name: member.shape.schema for member in members}}
    if required := [member.name for member in members if member.required]:
        schema["required"] = required
    return schema


def read_object(members: Sequence[Member], value: Any, where: str, problems: list[str]) -> dict[str, Any]:
    """Read the members of a JSON object by name. Missing ones are left out."""
    if not isinstance(value, dict):
        problems.append(f"{where or 'the arguments'} must be an object, not {_kind(value)}")
        return {}
    known = [member.name for member in members]
    for name in value:
        if name not in known:
            close = close_names(str(name), known, 1, 0.5)
            hint = f"; did you mean {_inside(where, close[0])}" if close else ""
            problems.append(f"{_inside(where, name)} is not a parameter{hint}")
    found: dict[str, Any] = {}
    for member in members:
        if member.name in value:
            found[member.name] = member.shape.read(value[member.name], _inside(where, member.name), problems)
        elif member.required:
            problems.append(f"{_inside(where, member.name)} is missing")
    return found


_PLAIN: Mapping[Any, tuple[str, str, tuple[type, ...]]] = {
    str: ("string", "a text", (str,)),
    int: ("integer", "a whole number", (int,)),
    float: ("number", "a number", (int, float)),
    bool: ("boolean", "true or false", (bool,)),
}


_KINDS = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object"}


def _plain(kind: Any) -> Shape:
    name, words, types = _PLAIN[kind]

    def read(value: Any, where: str, problems: list[str]) -> Any:
        if kind is int and type(value) is float and value.is_integer():
            return int(value)
        if type(value) in types:  # not isinstance: Python's bool is an int, JSON's is not
            return float(value) if kind is float else value
        problems.append(f"{where} must be {words}, not {_kind(value)}")
        return value

    return Shape({"type": name}, read)


def _choice(members: Mapping[Any, Any]) -> Shape:
    values = list(members)
    kinds = {type(value) for value in values}
    schema: Schema = {"enum": values}
    if len(kinds) == 1 and (kind := kinds.pop()) in _PLAIN:
        schema = {"type": _PLAIN[kind][0], "enum": values}

    def read(value: Any, where: str, problems: list[str]) -> Any:
        for known, member in members.items():
            if value == known and type(value) is type(known):
                return member
        problems.append(f"{where} must be one of {', '.join(json.dumps(known) for known in values)}")
        return value

    return Shape(schema, read)


def _list(item: Any, make: type) -> Shape:
    shape = shape_of(item)

    def read(value: Any, where: str, problems: list[str]) -> Any:
        if not isinstance(value, list):
            problems.append(f"{where} must be a list, not {_kind(value)}")
            return value
        return make(shape.read(part, f"{where}[{n}]", problems) for n, part in enumerate(value))

    return Shape({"type": "array", "items": shape.schema}, read)


def _mapping(item: Any) -> Shape:
    shape = shape_of(item)

    def read(value: Any, where: str, problems: list[str]) -> Any:
        if not isinstance(value, dict):
            problems.append(f"{where} must be an object, not {_kind(value)}")
            return value
        return {name: shape.read(part, _inside(where, name), problems) for name, part in value.items()}

    return Shape({"type": "object", "additionalProperties": shape.schema}, read)


def _dataclass(kind: Any) -> Shape:
    hints = get_type_hints(kind, include_extras=True)
    members = [
        Member(part.name, shape_of(hints[part.name]), part.default is MISSING and part.default_factory is MISSING)
        for part in fields(kind)
        if part.init
    ]

    def read(value: Any, where: str, problems: list[str]) -> Any:
        before = len(problems)
        found = read_object(members, value, where, problems)
        return value if len(problems) > before else kind(**found)

    return Shape(object_schema(members), read)


def _union(parts: Sequence[Any]) -> Shape:
    real = [shape_of(part) for part in parts if part is not NoneType]
    optional = len(real) < len(parts)
    schema = real[0].schema if len(real) == 1 else {"anyOf": [shape.schema for shape in real]}
    if optional and isinstance(schema.get("type"), str) and "enum" not in schema:
        schema = {**schema, "type": [schema["type"], "null"]}

    def read(value: Any, where: str, problems: list[str]) -> Any:
        if value is None and optional:
            return None
        tried: list[str] = []
        for shape in real:
            found: list[str] = []
            made = shape.read(value, where, found)
            if not found:
                return made
            tried += found
        problems.extend(tried if len(real) == 1 else [f"{where} fits none of its kinds: {'; '.join(tried)}"])
        return value

    return Shape(schema, read)


def _annotated(hint: Any, notes: Sequence[Any]) -> Shape:
    shape = shape_of(hint)
    schema, read = dict(shape.schema), shape.read
    for note in notes:
        if isinstance(note, str):
            schema["description"] = note
        elif isinstance(note, Bounds):
            schema |= _bound_words(schema, note)
            read = _bounded(read, note)
    return Shape(schema, read)


def _bound_words(schema: Schema, bounds: Bounds) -> Schema:
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    minimum, maximum = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}.get(
        str(kind), ("minimum", "maximum")
    )
    words = {minimum: bounds.at_least, maximum: bounds.at_most}
    return {word: value for word, value in words.items() if value is not None}


def _bounded(read: Read, bounds: Bounds) -> Read:
    def check(value: Any, where: str, problems: list[str]) -> Any:
        before = len(problems)
        made = read(value, where, problems)
        if made is None or len(problems) > before:
            return made
        size = made if isinstance(made, int | float) else len(made)
        what = "" if size is made else "have a length of "
        if bounds.at_least is not None and size < bounds.at_least:
            problems.append(f"{where} must {what or 'be '}at least {bounds.at_least:g}, not {size:g}")
        if bounds.at_most is not None and size > bounds.at_most:
            problems.append(f"{where} must {what or 'be '}at most {bounds.at_most:g}, not {size:g}")
        return made

    return check


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    shown = json.dumps(value, ensure_ascii=False)
    return f"{_KINDS[type(value)]} ({shown[:40]}{'…' if len(shown) > 40 else ''})"
