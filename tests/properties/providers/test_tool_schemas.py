"""Whatever a tool calls its schema, each provider gets one that it takes."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.tools import ToolSpec
from hob.providers.schemas.dialects import SchemaDialect, make_safe_names, normalise

KINDS = ["string", "integer", "number", "boolean", "array", "object", "null"]
names = st.sampled_from(["a", "b", "type", "properties", "$ref", "x-y", "bad name", "ß", "\ud800", ""])
pointers = st.sampled_from(
    ["#", "#/$defs/a", "#/$defs/b", "#/definitions/a", "#/properties/a", "#/$defs/a/items", "#/~0/~1", "else", "#/0"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)


def _schema(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(names, inner, max_size=4)
    listed = st.lists(inner, max_size=3)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from([*KINDS, "str", "any", "OBJECT"]) | st.lists(st.sampled_from(KINDS), max_size=3),
        "description": st.sampled_from(["what it is", ""]),
        "properties": named,
        "required": st.lists(names, max_size=3),
        "$ref": pointers,
        **dict.fromkeys(("$defs", "definitions", "patternProperties"), named),
        **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), listed),
        **dict.fromkeys(("items", "not", "additionalProperties"), inner),
        "enum": st.lists(values, max_size=4) | st.just(list(range(500))),
        "const": values,
        "default": values,
        "format": st.sampled_from(["date-time", "email", "int32"]),
        "pattern": st.just("^(?=a)b$"),
        "nullable": st.booleans(),
        **dict.fromkeys(("minItems", "maxLength", "minimum", "maximum"), st.integers() | st.floats()),
        "x-vendor": values,
    }
    right = st.fixed_dictionaries({}, optional=keywords)
    wrong = st.dictionaries(st.sampled_from(sorted(keywords)), values, max_size=4)
    return right | right | wrong


schemas = st.recursive(values | st.booleans() | pointers.map(lambda to: {"$ref": to}), _schema, max_leaves=8)
documents = _schema(schemas)


def tool(schema: Any, name: str = "t") -> ToolSpec:
    return ToolSpec(name, "", schema)


def each(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every schema in the schema."""
    yield schema
    for key in ("items", "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from each(schema[key])
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for part in schema.get(key, ()):
            yield from each(part)
    for key in ("properties", "$defs", "patternProperties", "dependentSchemas"):
        for part in schema.get(key, {}).values():
            yield from each(part)


def check_plain(schema: dict[str, Any]) -> None:
    """What every provider wants: JSON, a top that is an object, well-typed keywords."""
    json.dumps(schema, allow_nan=False)
    for part in each(schema):
        kinds = part.get("type", [])
        assert set([kinds] if isinstance(kinds, str) else kinds) <= set(KINDS)
        assert isinstance(part.get("properties", {}), dict)
        assert all(isinstance(name, str) for name in part.get("required", []))
        assert "enum" not in part or (isinstance(part["enum"], list) and part["enum"])
        assert isinstance(part.get("description", ""), str)
        if "$ref" in part:
            name = part["$ref"].removeprefix("#/$defs/")
            assert part["$ref"] == "#" or name in schema["$defs"]


def check_top(schema: dict[str, Any]) -> None:
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    assert not schema.keys() & {"anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"}


def check_openai(schema: dict[str, Any]) -> None:
    check_top(schema)
    for part in each(schema):
        assert "array" not in part.get("type", []) or "items" in part


def check_anthropic(schema: dict[str, Any]) -> None:
    check_top(schema)
    for part in each(schema):
        assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name) for name in part.get("properties", {}))


GEMINI = {"type", "description", "nullable", "enum", "format", "pattern", "items", "properties", "required"} | {
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minimum", "maximum")
}


def check_gemini(schema: dict[str, Any]) -> None:
    if not schema:
        return
    assert schema["type"] == "object"
    assert schema["properties"]
    for part in each(schema):
        if "anyOf" in part:
            assert part.keys() == {"anyOf"}
            assert len(part["anyOf"]) > 1
            continue
        kind = part["type"]
        assert part.keys() <= GEMINI
        assert "enum" not in part or (kind == "string" and all(isinstance(one, str) and one for one in part["enum"]))
        assert ("items" in part) is (kind == "array")
        assert part.get("properties") != {}
        assert set(part.get("required", ())) <= set(part.get("properties", ()))


def check_grammar(schema: dict[str, Any]) -> None:
    check_top(schema)
    for part in each(schema):
        assert not part.keys() & {"$ref", "pattern", "not", "oneOf", "allOf", "const", "patternProperties"}
        assert not part or "type" in part or "anyOf" in part
        assert len(part.get("enum", ())) <= 100
        assert all(0 <= part.get(key, 0) <= 100 for key in ("minItems", "maxItems", "minLength", "maxLength"))
        assert set(part.get("required", ())) <= set(part.get("properties", ()))


CHECKS = {
    SchemaDialect.OPENAI: check_openai,
    SchemaDialect.ANTHROPIC: check_anthropic,
    SchemaDialect.GEMINI: check_gemini,
    SchemaDialect.GRAMMAR: check_grammar,
}


@pytest.mark.parametrize("dialect", SchemaDialect)
@given(raw=documents)
def test_any_schema_becomes_one_the_provider_takes(dialect: SchemaDialect, raw: Any) -> None:
    schema = dict(normalise(tool(raw), dialect))
    check_plain(schema)
    CHECKS[dialect](schema)


@pytest.mark.parametrize("dialect", SchemaDialect)
@given(raw=documents)
def test_normalised_schema_stays_as_it_is(dialect: SchemaDialect, raw: Any) -> None:
    once = dict(normalise(tool(raw), dialect))
    again = normalise(tool(once), dialect)
    assert json.dumps(again, sort_keys=True) == json.dumps(once, sort_keys=True)


@given(st.lists(st.text(max_size=80) | st.sampled_from(["a", "a.b", "a b", "1", "-"]), max_size=6))
def test_every_tool_has_a_safe_name_of_its_own_and_is_found_by_it(offered: list[str]) -> None:
    known = make_safe_names([tool({}, name) for name in offered])
    wired = [known.to_wire(name) for name in offered]
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name) for name in wired)
    assert [known.to_tool(name) for name in wired] == offered
