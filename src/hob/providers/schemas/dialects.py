"""Tool schemas in the dialect of each provider.

- OpenAI, in both of its APIs (https://platform.openai.com/docs/guides/function-calling; if strict is the default, the
  wire sends `strict: false`), DeepSeek, Groq, Mistral and xAI: an object with properties, no composition at the top,
  every array with its items.
- Anthropic (https://docs.claude.com/en/docs/agents-and-tools/tool-use/overview): an object, no composition at the top,
  property names of at most 64 letters, digits, `_`, `.` and `-`.
- Gemini (https://ai.google.dev/api/caching#Schema): a subset of OpenAPI 3.0. No references, one type each, `nullable`,
  enums for strings only, few formats, nothing beside `anyOf`; a function without parameters has no schema at all.
- Grammar: llama.cpp and its derivatives turn the schema into a grammar for the sampler
  (https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md): no references, no patterns, small bounds.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

from hob.core.ids import digest
from hob.core.tools import ToolSpec
from hob.core.values import dataclass
from hob.providers.schemas.cleaning import (
    LIST_KEYWORDS,
    MAPPING_KEYWORDS,
    SCHEMA_KEYWORDS,
    Cleaner,
    Schema,
    intersect,
    unite,
)

# Tool names that every provider accepts, and the way back.

_MAX_NAME = 64
_MAX_STEM = _MAX_NAME - 9  # followed by an underscore and eight hexadecimal digits
# OpenAI, Anthropic and Mistral accept [A-Za-z0-9_-]{1,64}; Gemini requires a letter or underscore first.
_SAFE = re.compile(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{_MAX_NAME - 1}}}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ToolNames:
    """Tool names in both directions; most are the same on both sides."""

    outgoing: Mapping[str, str]
    incoming: Mapping[str, str]

    def to_wire(self, name: str) -> str:
        """Return the provider's name for a tool, including tools that appear only in the history."""
        return self.outgoing.get(name) or _made_safe(name)

    def to_tool(self, name: str) -> str:
        """Return the tool for a provider's name; unknown names are unchanged."""
        return self.incoming.get(name, name)


def make_safe_names(specs: Iterable[ToolSpec]) -> ToolNames:
    """Return a unique name for each tool: at most 64 letters, digits, `_` and `-`, starting with a letter or `_`.

    A safe name is kept; another one does not depend on the other tools unless two would be equal.
    """
    offered = [spec.name for spec in specs]
    incoming = {name: name for name in offered if _SAFE.fullmatch(name)}
    outgoing = dict(incoming)
    for name in offered:
        if name in outgoing:
            continue
        safe = _made_safe(name)
        while safe in incoming:
            safe = _hashed(safe)
        outgoing[name] = safe
        incoming[safe] = name
    return ToolNames(outgoing, incoming)


def _made_safe(name: str) -> str:
    return name if _SAFE.fullmatch(name) else _hashed(name)


def _hashed(name: str) -> str:
    kept = _UNSAFE.sub("_", name)[: _MAX_STEM - 1]
    if not kept[:1].isalpha() and kept[:1] != "_":
        kept = f"_{kept}"
    return f"{kept}_{digest(name.encode('utf-8', 'surrogatepass'))[:8]}"


_COMPOSED = ("anyOf", "oneOf", "allOf")
_NOT_ON_TOP = frozenset({*_COMPOSED, "not", "if", "then", "else", "enum", "const", "dependentSchemas"})
_HOLDERS = frozenset({*SCHEMA_KEYWORDS, *LIST_KEYWORDS, *MAPPING_KEYWORDS})
_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_ANY = ("string", "number", "boolean", "object", "array", "null")
_IMPLIED: Mapping[str, frozenset[str]] = {
    "object": frozenset({"properties", "additionalProperties", "minProperties", "maxProperties"}),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems"}),
    "string": frozenset({"pattern", "minLength", "maxLength"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
}
_GEMINI_FORMATS: Mapping[str, frozenset[str]] = {
    "string": frozenset({"date-time", "enum"}),
    "number": frozenset({"float", "double"}),
    "integer": frozenset({"int32", "int64"}),
}
_GEMINI_BOUNDS: Mapping[str, tuple[str, ...]] = {
    "string": ("pattern", "minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
_GRAMMAR_KEYWORDS = frozenset(
    {"type", "description", "properties", "required", "additionalProperties", "items", "prefixItems", "enum", "anyOf"}
)
_GRAMMAR_FORMATS = frozenset({"date", "time", "date-time", "uuid"})
_MAX_CHOICES, _MAX_CHOICE_CHARS = 100, 4_000
_MAX_REPEATS = 100  # of one element; a grammar writes out each of them
_MAX_BOUND = 10**9


class SchemaDialect(StrEnum):
    """Schema dialects of providers."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    GRAMMAR = "grammar"


def normalise(spec: ToolSpec, dialect: SchemaDialect) -> Mapping[str, Any]:
    """Return the tool's schema in this dialect. Never raises; the same schema gives the same bytes.

    If the dialect cannot express something, the result allows more, and the tool has the last word. Empty for a tool
    without parameters if the dialect wants no schema then (Gemini). The caller must not change the result.
    """
    return _normalised(_IdentityKey(spec.schema), dialect)


class _IdentityKey:
    """A schema as a key by identity. The schema is kept alive, so that its identity is not reused."""

    __slots__ = ("schema",)

    def __init__(self, schema: Any) -> None:
        self.schema = schema

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _IdentityKey) and self.schema is other.schema

    def __hash__(self) -> int:
        return id(self.schema)


@lru_cache(maxsize=1_024)
def _normalised(same: _IdentityKey, dialect: SchemaDialect) -> Schema:
    raw = same.schema
    composed = isinstance(raw, Mapping) and any(key in raw for key in ("$ref", *_COMPOSED))
    inline = composed or dialect in (SchemaDialect.GEMINI, SchemaDialect.GRAMMAR)
    schema = _object(_flatten(Cleaner(raw, inline=inline).clean_root()))
    match dialect:
        case SchemaDialect.OPENAI:
            return _map_schemas(schema, _with_items)
        case SchemaDialect.ANTHROPIC:
            return _map_schemas(schema, _with_plain_names)
        case SchemaDialect.GEMINI:
            made = _for_gemini(schema)
            return made if "properties" in made else {}
        case SchemaDialect.GRAMMAR:
            return _object(_for_grammar(schema))


def _object(schema: Schema) -> Schema:
    rest = {key: value for key, value in schema.items() if key not in ("type", "properties")}
    return {"type": "object", "properties": schema.get("properties", {}), **rest}


def _flatten(schema: Schema) -> Schema:
    """Return an object schema with the properties of its composed parts merged in."""
    flat = {key: value for key, value in schema.items() if key not in _NOT_ON_TOP}
    for part in schema.get("allOf", ()):
        flat = intersect(_flatten(part), flat)
    for key in ("anyOf", "oneOf"):
        branches = [_flatten(part) for part in schema.get(key, ()) if part.get("type", "object") == "object"]
        if branches:
            flat = intersect(unite(branches), flat)
    return flat


def _map_schemas(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """Return the schema with every subschema changed, innermost first."""
    changed = dict(schema)
    for key in SCHEMA_KEYWORDS:
        if isinstance(schema.get(key), dict):
            changed[key] = _map_schemas(schema[key], change)
    for key in LIST_KEYWORDS:
        if key in schema:
            changed[key] = [_map_schemas(part, change) for part in schema[key]]
    for key in (*MAPPING_KEYWORDS, "$defs"):
        if key in schema:
            changed[key] = {name: _map_schemas(part, change) for name, part in schema[key].items()}
    return change(changed)


def _with_items(schema: Schema) -> Schema:
    return {**schema, "items": {}} if "array" in _get_types(schema) and "items" not in schema else schema


def _with_plain_names(schema: Schema) -> Schema:
    if "properties" not in schema:
        return schema
    properties = _plain_names(schema["properties"])
    if len(properties) == len(schema["properties"]):
        return schema
    return _require({**schema, "properties": properties}, schema.get("required", ()))


def _plain_names(properties: Schema) -> Schema:
    return {name: part for name, part in properties.items() if _PROPERTY.fullmatch(name)}


def _require(schema: Schema, names: Any) -> Schema:
    """Return the schema with those of the names required that are its properties."""
    rest = {key: value for key, value in schema.items() if key != "required"}
    required = [name for name in names if name in schema.get("properties", {})]
    return {**rest, "required": required} if required else rest


def _get_types(schema: Schema) -> list[str]:
    """Return the types a schema names, or those implied by its other keywords."""
    named = schema.get("type")
    if named:
        return list(named) if isinstance(named, list) else [named]
    if "enum" in schema:
        return list(dict.fromkeys(map(_kind_of, schema["enum"])))
    return next(([kind] for kind, keywords in _IMPLIED.items() if not keywords.isdisjoint(schema)), [])


def _kind_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _merge_composition(schema: Schema) -> Schema:
    """Return the schema without `allOf`, `oneOf` and `const`, expressed with keywords the smaller dialects know."""
    joined = {key: value for key, value in schema.items() if key not in ("allOf", "oneOf", "const")}
    if "const" in schema:
        joined["enum"] = [schema["const"]]
    for part in schema.get("allOf", ()):
        joined = intersect(_merge_composition(part), joined)
    if "oneOf" in schema:
        joined.setdefault("anyOf", schema["oneOf"])
    return joined


def _for_gemini(raw: Schema) -> Schema:
    schema = _merge_composition(raw)
    if "anyOf" in schema:
        return _gemini_choice(schema, schema.pop("anyOf"))
    kinds = _get_types(schema) or ["string"]
    nullable = "null" in kinds or None in schema.get("enum", ())
    kinds = [kind for kind in kinds if kind != "null"] or ["string"]
    if len(kinds) > 1:
        branches = [{**schema, "type": [kind, "null"] if nullable else kind} for kind in kinds]
        return {"anyOf": [_for_gemini(branch) for branch in branches]}
    return _gemini_single(schema, kinds[0], nullable)


def _gemini_choice(rest: Schema, branches: list[Schema]) -> Schema:
    """Return the schema of a choice, with all other keywords moved into its branches: `anyOf` must stand alone."""
    real = [branch for branch in branches if _get_types(branch) != ["null"]]
    if not real:
        return _gemini_single(rest, "string", True)
    if "properties" in rest and len(real) > 1:  # branches that only describe one object further
        return _for_gemini(_flatten({**rest, "anyOf": real}))
    said = rest.get("description", "")
    # subschemas are not copied: copies would multiply from level to level
    shared = {key: value for key, value in rest.items() if key != "description" and key not in _HOLDERS}
    given: list[Schema] = []
    for branch in real:
        part = _for_gemini(intersect(rest if len(real) == 1 else shared, branch))
        given += part.get("anyOf", [part])
    for place, part in enumerate(given):
        own = part.get("description", "")
        if said and said not in own:
            part = {**part, "description": f"{said} {own}".rstrip()}
        given[place] = {**part, "nullable": True} if len(real) < len(branches) else part
    return given[0] if len(given) == 1 else {"anyOf": given}


def _gemini_single(schema: Schema, kind: str, nullable: bool) -> Schema:
    made: Schema = {"type": kind}
    said = schema.get("description", "")
    if kind == "string":
        choices = [choice for choice in schema.get("enum", ()) if isinstance(choice, str) and choice]
        if choices:
            made["enum"] = choices
    elif "enum" in schema:
        listed = f"One of: {', '.join(map(_written, schema['enum'][:_MAX_CHOICES]))}."
        said = said if listed in said else f"{said} {listed}".lstrip()
    if said:
        made["description"] = said
    if nullable:
        made["nullable"] = True
    if schema.get("format") in _GEMINI_FORMATS.get(kind, ()):
        made["format"] = schema["format"]
    made.update({key: schema[key] for key in _GEMINI_BOUNDS.get(kind, ()) if key in schema})
    if kind == "array":
        made["items"] = _for_gemini(_item_schema(schema))
    properties = _plain_names(schema.get("properties", {})) if kind == "object" else {}
    if properties:
        made["properties"] = {name: _for_gemini(part) for name, part in properties.items()}
        made = _require(made, schema.get("required", ()))
    return made


def _item_schema(schema: Schema) -> Schema:
    """Return the schema of an array's elements; those of a tuple are combined."""
    if "prefixItems" not in schema:
        return dict(schema.get("items", {}))
    parts: list[Schema] = []
    for part in schema["prefixItems"]:
        if part not in parts:
            parts.append(part)
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _for_grammar(raw: Schema) -> Schema:
    schema = _merge_composition(raw)
    made = {key: value for key, value in schema.items() if key in _GRAMMAR_KEYWORDS}
    kinds = _get_types(schema)
    choices = made.get("enum")
    if choices is not None and (len(choices) > _MAX_CHOICES or len(_written(choices)) > _MAX_CHOICE_CHARS):
        del made["enum"]
    if "anyOf" in made:
        made["anyOf"] = [_for_grammar(part) for part in made["anyOf"]]
    elif made or kinds:  # a schema with keywords but no type is an error there
        named = kinds or list(_ANY)
        made["type"] = named[0] if len(named) == 1 else named
    if "string" in kinds and schema.get("format") in _GRAMMAR_FORMATS:
        made["format"] = schema["format"]
    made.update(_limit_bounds(schema, kinds))
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = _for_grammar(made[key])
    if "prefixItems" in made:
        made["prefixItems"] = [_for_grammar(part) for part in made["prefixItems"]]
    if "properties" in made:
        made["properties"] = {name: _for_grammar(part) for name, part in made["properties"].items()}
    return _require(made, schema.get("required", ()))


def _limit_bounds(schema: Schema, kinds: list[str]) -> Schema:
    """Limit the bounds to what a grammar can count, and make them satisfiable."""
    bounds: Schema = {}
    for minimum, maximum in (("minLength", "maxLength"), ("minItems", "maxItems")):
        low, high = schema.get(minimum, 0), schema.get(maximum)
        if low <= _MAX_REPEATS and (high is None or low <= high):
            bounds.update({minimum: low} if minimum in schema else {})
            bounds.update({maximum: high} if high is not None and high <= _MAX_REPEATS else {})
    if kinds == ["integer"]:
        low, high = schema.get("minimum", -_MAX_BOUND), schema.get("maximum", _MAX_BOUND)
        if -_MAX_BOUND <= low <= high <= _MAX_BOUND and type(low) is int and type(high) is int:
            bounds.update({key: schema[key] for key in ("minimum", "maximum") if key in schema})
    return bounds
