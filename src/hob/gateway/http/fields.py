"""Declared requests: frozen dataclasses with fields made by `field`, and their parsing and validation.

The declaration is the only source: requests are validated by it, and the reference and the OpenAPI file are generated
from it. Values are not coerced, except that query texts are parsed as the declared number or word.
"""

import dataclasses
import math
import types
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import MISSING
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from hob.core.errors import InvalidRequest
from hob.core.values import dataclass

T = TypeVar("T")

MAX = 2**63 - 1
"""The largest accepted absolute value of a number."""
_NAMES = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}
_WORDS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class FieldBounds:
    """The bounds of a field's value, and its description. `unit` goes with a number: `seconds`."""

    doc: str = ""
    at_least: float | None = None
    at_most: float | None = None
    unit: str = ""
    characters: tuple[int, int] | None = None
    """The minimum and maximum number of characters, all printable."""
    one_of: tuple[str, ...] = ()
    only: tuple[Any, ...] | None = None
    """The only accepted values, if `kind` does not say it; `why` explains why all others are refused."""
    why: str = ""


class WrongField(InvalidRequest):
    """A field of a request is invalid; `path` names it, e.g. `attachments[1].id`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


class QueryText(str):
    """A value from a query, which may be parsed as a number or boolean."""

    __slots__ = ()


def field(
    doc: str,
    default: Any = MISSING,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    unit: str = "",
    characters: tuple[int, int] | None = None,
    one_of: Iterable[str] = (),
    only: tuple[Any, ...] | None = None,
    why: str = "",
) -> Any:
    """Declare a field of a request: its description, default (required without one) and bounds."""
    bounds = FieldBounds(doc, at_least, at_most, unit, characters, tuple(one_of), only, why)
    if default is MISSING:
        return dataclasses.field(metadata={"bounds": bounds})
    return dataclasses.field(default=default, metadata={"bounds": bounds})


@dataclass(frozen=True, slots=True)
class Field:
    """One declared field. `kind` is its type without `| None`."""

    name: str
    kind: Any
    default: Any
    bounds: FieldBounds

    @property
    def required(self) -> bool:
        """Whether a value must be given."""
        return self.default is MISSING


@cache
def fields_of(cls: Any) -> tuple[Field, ...]:
    """Return the declared fields of a request, in order."""
    return tuple(
        Field(each.name, _without_none(each.type), each.default, each.metadata.get("bounds", FieldBounds()))
        for each in dataclasses.fields(cls)
    )


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        others = [each for each in get_args(kind) if each is not types.NoneType]
        return others[0] if len(others) == 1 else kind
    return kind


@dataclass(frozen=True, slots=True)
class Nothing:
    """A request without fields."""


def read(cls: type[T], given: Mapping[str, Any], *, closed: bool = True, within: str = "") -> T:
    """Build the request from these values; None counts as missing. Raises InvalidRequest, which names the field.

    Unless `closed`, undeclared fields are ignored. `within` is the path of the object itself.
    """
    declared = fields_of(cast(Hashable, cls))
    if closed:
        _refuse_unknown(given, [each.name for each in declared], within)
    values = {}
    for each in declared:
        raw = given.get(each.name)
        path = f"{within}.{each.name}" if within else each.name
        if raw is not None:
            values[each.name] = _check_value(path, each.kind, each.bounds, raw, closed)
        elif each.required:
            raise _wrong(path, "is missing")
    return cls(**values)


def _refuse_unknown(given: Mapping[str, Any], known: list[str], within: str) -> None:
    unknown = sorted(given.keys() - set(known))
    if unknown:
        place = f" in {within}" if within else ""
        others = f"known are {', '.join(sorted(known))}" if known else "none is expected here"
        name = _shown(unknown[0])
        raise WrongField(name.strip("'"), f"unknown field {name}{place}; {others}")


def _check_value(path: str, kind: Any, bounds: FieldBounds, raw: Any, closed: bool) -> Any:
    origin = get_origin(kind)
    if bounds.only is not None and not any(type(each) is type(raw) and each == raw for each in bounds.only):
        raise WrongField(path, f"{path}: {bounds.why}")
    if kind is Any or origin in (Union, types.UnionType):  # the handler validates it
        return str(raw) if isinstance(raw, QueryText) else raw
    if origin in (list, tuple):
        if not isinstance(raw, list):
            raise _wrong(path, "must be a list")
        of = get_args(kind)[0]
        values = [_check_value(f"{path}[{index}]", of, bounds, each, closed) for index, each in enumerate(raw)]
        return values if origin is list else tuple(values)
    if origin is dict or dataclasses.is_dataclass(kind):
        if not isinstance(raw, dict):
            raise _wrong(path, "must be an object")
        return raw if origin is dict else read(kind, raw, closed=closed, within=path)
    if choices := choices_of(kind):
        if not isinstance(raw, str) or raw not in choices:
            raise _wrong(path, f"must be one of {', '.join(choices)}")
        return kind(raw) if origin is None else str(raw)
    return _check_plain(path, kind, bounds, raw)


def choices_of(kind: Any) -> tuple[str, ...]:
    """Return the values that a field of this type may have; empty if any are accepted."""
    if get_origin(kind) is Literal:
        return tuple(map(str, get_args(kind)))
    return tuple(each.value for each in kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else ()


def _check_plain(path: str, kind: Any, bounds: FieldBounds, raw: Any) -> Any:
    value: Any = _parse_text(kind, raw) if isinstance(raw, QueryText) else raw
    if kind is float and type(value) is int and abs(value) <= MAX:
        value = float(value)
    if type(value) is not kind:
        raise _wrong(path, f"must be {_describe(kind, bounds)}")
    if isinstance(value, str):
        _check_text(path, bounds, value)
    elif kind is not bool:
        low, high = bounds.at_least, bounds.at_most
        fits = math.isfinite(value) and abs(value) <= MAX
        if not fits or (low is not None and value < low) or (high is not None and value > high):
            raise _wrong(path, f"must be {_describe(kind, bounds)}")
    return value


def _parse_text(kind: type, text: QueryText) -> Any:
    """Parse a text as this type; return it unchanged if that fails."""
    if kind is bool:
        return _WORDS.get(text, text)
    if kind in (int, float):
        try:
            return kind(text) if text.isascii() and len(text) < 40 else text
        except ValueError:
            return text
    return str(text)


def _check_text(path: str, bounds: FieldBounds, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _wrong(path, "is not UTF-8 text") from None
    if bounds.one_of and text not in bounds.one_of:
        raise _wrong(path, f"must be one of {', '.join(bounds.one_of)}")
    if bounds.characters is not None:
        minimum, maximum = bounds.characters
        if not minimum <= len(text) <= maximum or not text.isprintable():
            raise _wrong(path, f"must have {minimum} to {maximum} printable characters")


def _describe(kind: type, bounds: FieldBounds) -> str:
    name = _NAMES[kind] + (f" of {bounds.unit}" if bounds.unit else "")
    match bounds.at_least, bounds.at_most:
        case None, None:
            return name
        case low, None:
            return f"{name}, {low:g} or more"
        case None, high:
            return f"{name}, at most {high:g}"
        case low, high:
            return f"{name} from {low:g} to {high:g}"


def _wrong(path: str, why: str) -> WrongField:
    return WrongField(path, f"{path} {why}")


def _shown(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:60] + "…")
