"""Conversion of arbitrary tool schemas to well-formed ones of draft 2020-12.

Tools come from anywhere: with schemas of older drafts or of OpenAPI, with Python type names, with broken or circular
references. One bad schema would break every request that offers its tool, so anything unreadable is left out: a wider
schema only means that the tool itself has to complain.

https://json-schema.org/draft/2020-12
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

Schema = dict[str, Any]

MAX_DEPTH = 24
_MAX_INLINED = 1_000  # limit for inlined schemas: two references in each of thirty definitions make a billion
_MAX_HOPS = 32
_DEFINITIONS = ("$defs", "definitions")

_TYPES: Mapping[str, str] = {
    **{name: name for name in ("string", "integer", "number", "boolean", "array", "object", "null")},
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
    "map": "object",
    "none": "null",
}
_TEXTS = frozenset({"title", "description", "format", "pattern", "contentEncoding", "contentMediaType"})
_COUNTS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
)
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_FLAGS = frozenset({"uniqueItems", "readOnly", "writeOnly", "deprecated"})
SCHEMA_KEYWORDS = ("items", "contains", "not", "if", "then", "else", "propertyNames", "additionalProperties")
"""Keywords whose value is a schema."""
LIST_KEYWORDS = ("anyOf", "oneOf", "allOf", "prefixItems")
"""Keywords whose value is a list of schemas."""
MAPPING_KEYWORDS = ("properties", "patternProperties", "dependentSchemas")
"""Keywords whose value maps names to schemas."""


class Cleaner:
    """Cleans one tool's schema. With `inline`, references are replaced by their targets and cycles are cut."""

    def __init__(self, root: Any, *, inline: bool) -> None:
        self._root: Any = root if isinstance(root, Mapping) else {}
        self._inline = inline
        self._left = _MAX_INLINED
        self._pointers: list[str] = []
        self._parents: set[int] = set()

    def clean_root(self) -> Schema:
        """Return the whole schema; definitions are kept only if references are."""
        schema = self._clean(self._root, 0)
        if not self._inline:
            definitions = {
                name: self._clean(part, 1)
                for key in reversed(_DEFINITIONS)
                for name, part in _mapping(self._root.get(key)).items()
                if isinstance(name, str)
            }
            if definitions:
                schema["$defs"] = definitions
        return schema

    def _clean(self, raw: Any, depth: int) -> Schema:
        if not isinstance(raw, Mapping) or depth > MAX_DEPTH or id(raw) in self._parents:
            return {}
        if self._pointers:
            if self._left <= 0:
                return {}
            self._left -= 1
        self._parents.add(id(raw))
        try:
            schema = _clean_keywords(raw)
            self._add_parts(schema, raw, depth + 1)
            return self._referred(schema, raw, depth) if "$ref" in raw else schema
        finally:
            self._parents.discard(id(raw))

    def _add_parts(self, schema: Schema, raw: Mapping[Any, Any], depth: int) -> None:
        for key in SCHEMA_KEYWORDS:
            part = raw.get(key)
            if isinstance(part, Mapping) or (isinstance(part, bool) and key == "additionalProperties"):
                schema[key] = part if isinstance(part, bool) else self._clean(part, depth)
        for key in LIST_KEYWORDS:
            parts = raw.get(key)
            if key == "prefixItems" and parts is None:
                parts = raw.get("items")  # array form of `items` up to draft 2019-09
            if isinstance(parts, list):
                cleaned = [self._clean(part, depth) for part in parts if part is not False]
                if cleaned:
                    schema[key] = cleaned
        for key in MAPPING_KEYWORDS:
            named = raw.get(key)
            if isinstance(named, Mapping):
                schema[key] = {
                    name: self._clean(part, depth)
                    for name, part in named.items()
                    if isinstance(name, str) and part is not False
                }

    def _referred(self, schema: Schema, raw: Mapping[Any, Any], depth: int) -> Schema:
        pointer = raw["$ref"]
        target = self._find(pointer) if isinstance(pointer, str) else None
        if not isinstance(target, Mapping) or not self._ends(pointer):
            return schema
        if not self._inline and (kept := self._kept_pointer(pointer)):
            return {"$ref": kept, **schema}
        with self._inside(pointer) as again:
            if again:
                shape = "object" if "properties" in target or target.get("type") == "object" else None
                return {"type": shape, **schema} if shape else schema
            # an object may occur again within itself: cycles end by their pointers
            parents, self._parents = self._parents, set()
            found = self._clean(target, depth)
            self._parents = parents
        return intersect(found, schema)

    @contextmanager
    def _inside(self, pointer: str) -> Iterator[bool]:
        """Whether this reference is already being followed."""
        if pointer in self._pointers:
            yield True
            return
        self._pointers.append(pointer)
        try:
            yield False
        finally:
            self._pointers.pop()

    def _kept_pointer(self, pointer: str) -> str | None:
        """Return the reference for the clean schema; None if its target is not a schema of its own there."""
        if pointer == "#":
            return pointer
        parts = pointer.split("/")
        if len(parts) == 3 and parts[1] in _DEFINITIONS:
            other = "definitions" if parts[1] == "$defs" else "$defs"
            name = _unescape(parts[2])
            if parts[1] == "$defs" or name not in _mapping(self._root.get(other)):
                return f"#/$defs/{parts[2]}"
        return None

    def _ends(self, pointer: str) -> bool:
        """Whether following references from this one leads to something that is not a reference."""
        for _ in range(_MAX_HOPS):
            target = self._find(pointer)
            if not isinstance(target, Mapping) or not isinstance(target.get("$ref"), str):
                return True
            pointer = target["$ref"]
        return False

    def _find(self, pointer: str) -> Any:
        if pointer == "#":
            return self._root
        if not pointer.startswith("#/"):
            return None
        place = self._root
        for step in map(_unescape, pointer[2:].split("/")):
            if isinstance(place, Mapping):
                place = place.get(step)
            elif isinstance(place, list) and step.isdecimal() and len(step) < 6 and int(step) < len(place):
                place = place[int(step)]
            else:
                return None
        return place


def intersect(one: Schema, other: Schema) -> Schema:
    """Return a schema for values that fit both, or slightly more: if the two cannot be combined, the second one is
    used.
    """
    merged = {**one, **other}
    properties = {**one.get("properties", {})}
    for name, part in other.get("properties", {}).items():
        properties[name] = intersect(properties[name], part) if name in properties else part
    if properties:
        merged["properties"] = properties
    required = list(dict.fromkeys([*one.get("required", ()), *other.get("required", ())]))
    if required:
        merged["required"] = required
    if "enum" in one and "enum" in other:
        merged["enum"] = [choice for choice in one["enum"] if choice in other["enum"]] or other["enum"]
    return merged


def unite(branches: list[Schema]) -> Schema:
    """Return an object schema for values that fit any of these: all their properties, required only if all require
    them.
    """
    properties: Schema = {}
    for branch in branches:
        for name, part in branch.get("properties", {}).items():
            known = properties.setdefault(name, part)
            if known != part:
                choices = known["anyOf"] if known.keys() == {"anyOf"} else [known]
                properties[name] = {"anyOf": [*choices, *([] if part in choices else [part])]}
    required = [
        name for name in branches[0].get("required", ()) if all(name in part.get("required", ()) for part in branches)
    ]
    return {"properties": properties, **({"required": required} if required else {})}


def to_json_value(value: Any, depth: int = 0) -> Any:
    """Return the value if it can be represented in JSON. Raises ValueError."""
    match value:
        case None | bool() | str():
            return value
        case int() | float() if _is_number(value):
            return value
        case list() | tuple() if depth < MAX_DEPTH:
            return [to_json_value(item, depth + 1) for item in value]
        case Mapping() if depth < MAX_DEPTH and all(isinstance(key, str) for key in value):
            return {key: to_json_value(item, depth + 1) for key, item in value.items()}
        case _:
            raise ValueError("not JSON")


def _clean_keywords(raw: Mapping[Any, Any]) -> Schema:
    """Return the valid keywords of a schema, without its subschemas."""
    schema: Schema = {}
    kinds = _types(raw)
    if kinds:
        schema["type"] = kinds[0] if len(kinds) == 1 else kinds
    for key, value in raw.items():
        if (
            (key in _TEXTS and isinstance(value, str) and value)
            or (key in _COUNTS and type(value) is int and 0 <= value < 2**53)
            or (key in _NUMBERS and _is_number(value))
            or (key == "multipleOf" and _is_number(value) and value > 0)
            or (key in _FLAGS and isinstance(value, bool))
        ):
            schema[key] = value
        elif key == "required" and isinstance(value, list):
            names = list(dict.fromkeys(name for name in value if isinstance(name, str)))
            if names:
                schema[key] = names
        elif key in ("const", "default") or (key in ("enum", "examples") and isinstance(value, list) and value):
            _add_plain(schema, key, value)
    return schema


def _add_plain(schema: Schema, key: str, value: Any) -> None:
    try:
        schema[key] = to_json_value(value)
    except ValueError:
        return
    if key == "enum":
        schema[key] = _distinct(schema[key])


def _distinct(values: list[Any]) -> list[Any]:
    known: list[Any] = []
    seen: set[str] = set()
    for value in values:
        text = repr(value)  # distinguishes 1 from true, which compare equal
        if text not in seen:
            seen.add(text)
            known.append(value)
    return known


def _types(raw: Mapping[Any, Any]) -> list[str]:
    named = raw.get("type")
    listed = named if isinstance(named, list) else [named]
    kinds = [_TYPES[kind.lower()] for kind in listed if isinstance(kind, str) and kind.lower() in _TYPES]
    if kinds and raw.get("nullable") is True:  # OpenAPI 3.0
        kinds.append("null")
    return list(dict.fromkeys(kinds))


def _is_number(value: Any) -> bool:
    return (type(value) is int and value.bit_length() < 64) or (type(value) is float and math.isfinite(value))


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _unescape(step: str) -> str:
    return unquote(step).replace("~1", "/").replace("~0", "~")
