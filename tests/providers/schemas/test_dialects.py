"""Tools' schemas as providers take them, by example."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from hob.core.tools import ToolSpec
from hob.providers.schemas.dialects import SchemaDialect, make_safe_names, normalise

OPENAI, ANTHROPIC = SchemaDialect.OPENAI, SchemaDialect.ANTHROPIC
GEMINI, GRAMMAR = SchemaDialect.GEMINI, SchemaDialect.GRAMMAR
TREE = {"type": "object", "properties": {"of": {"$ref": "#/$defs/node"}}, "$defs": {}}
NODE = {"type": "object", "description": "A node.", "properties": {"below": {"$ref": "#/$defs/node"}}}
TREE["$defs"] = {"node": NODE}


def of(schema: Any, dialect: SchemaDialect) -> Mapping[str, Any]:
    return normalise(ToolSpec("t", "", schema), dialect)


def one(part: Any, dialect: SchemaDialect) -> Any:
    """What becomes of one property."""
    return of({"type": "object", "properties": {"p": part}}, dialect)["properties"]["p"]


@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC])
def test_ordinary_schema_stays_as_it_is(dialect: SchemaDialect) -> None:
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where.", "pattern": "^/", "default": "/"},
            "mode": {"enum": ["r", "w"]},
            "lines": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    assert of(schema, dialect) == schema


@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC, GRAMMAR])
@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": None}, {"type": "string"}, None, "text"])
def test_tool_without_parameters_takes_an_empty_object(schema: Any, dialect: SchemaDialect) -> None:
    assert of(schema, dialect) == {"type": "object", "properties": {}}


def test_gemini_gets_no_schema_for_a_tool_without_parameters() -> None:
    assert of({"type": "object", "properties": {}}, GEMINI) == {}


@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC])
def test_choices_at_the_top_become_properties(dialect: SchemaDialect) -> None:
    file = {"type": "object", "properties": {"kind": {"const": "file"}, "path": {}}, "required": ["kind", "path"]}
    page = {"type": "object", "properties": {"kind": {"const": "page"}, "url": {}}, "required": ["kind", "url"]}
    schema = of({"oneOf": [file, page], "description": "What to open."}, dialect)
    assert schema["properties"].keys() == {"kind", "path", "url"}
    assert schema["properties"]["kind"] == {"anyOf": [{"const": "file"}, {"const": "page"}]}
    assert schema["required"] == ["kind"]
    assert schema["description"] == "What to open."


def test_rule_at_the_top_that_one_of_two_must_be_there_is_left_to_the_tool() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert of(schema, ANTHROPIC) == {"type": "object", "properties": {"a": {}, "b": {}}}


def test_reference_at_the_top_is_followed() -> None:
    schema = of({"$ref": "#/$defs/node", "$defs": {"node": NODE}}, OPENAI)
    assert schema["properties"]["below"]["type"] == "object"
    assert schema["description"] == "A node."


def test_openai_keeps_references_and_recursion() -> None:
    assert of(TREE, OPENAI) == TREE


def test_old_definitions_are_found_under_their_new_name() -> None:
    schema = of({"properties": {"p": {"$ref": "#/definitions/d"}}, "definitions": {"d": {"type": "string"}}}, OPENAI)
    assert schema["properties"]["p"] == {"$ref": "#/$defs/d"}
    assert schema["$defs"] == {"d": {"type": "string"}}


@pytest.mark.parametrize("dialect", [GEMINI, GRAMMAR])
def test_recursion_is_cut_where_references_are_not_known(dialect: SchemaDialect) -> None:
    node = of(TREE, dialect)["properties"]["of"]
    assert node["description"] == "A node."
    assert node["properties"]["below"] == {"type": "object"}


@pytest.mark.parametrize("pointer", ["#/$defs/gone", "other.json#/a", "#/$defs/self", 7])
@pytest.mark.parametrize("dialect", SchemaDialect)
def test_reference_to_nowhere_is_left_out(dialect: SchemaDialect, pointer: Any) -> None:
    part = {"$ref": pointer, "type": "string", "description": "d"}
    schema = {"properties": {"p": part}, "$defs": {"self": {"$ref": "#/$defs/self"}}}
    assert of(schema, dialect)["properties"]["p"] == {"type": "string", "description": "d"}


@pytest.mark.parametrize("dialect", SchemaDialect)
def test_references_that_multiply_do_not_fill_the_memory(dialect: SchemaDialect) -> None:
    levels = {
        f"d{n}": {"properties": {side: {"$ref": f"#/$defs/d{n + 1}"} for side in ("left", "right")}} for n in range(60)
    }
    schema = {"allOf": [{"$ref": "#/$defs/d0"}], "$defs": levels}
    assert len(json.dumps(of(schema, dialect))) < 200_000


@pytest.mark.parametrize("dialect", SchemaDialect)
def test_bottomless_schema_ends(dialect: SchemaDialect) -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"type": "array", "items": deep, "anyOf": [{}, {"type": "string"}]}
    assert len(json.dumps(one(deep, dialect))) < 20_000
    loop: dict[str, Any] = {"properties": {}}
    loop["properties"]["again"] = loop
    json.dumps(of(loop, dialect))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "integer", "nullable": True}),
        ({"const": "x"}, {"type": "string", "enum": ["x"]}),
        ({"enum": [1, 2], "description": "N."}, {"type": "integer", "description": "N. One of: 1, 2."}),
        ({"type": "string", "format": "email", "default": "a"}, {"type": "string"}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "object"}),
        ({"allOf": [{"type": "string"}, {"description": "d"}]}, {"type": "string", "description": "d"}),
        ({}, {"type": "string"}),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}], "description": "Id."},
            {"anyOf": [{"type": "string", "description": "Id."}, {"type": "integer", "description": "Id."}]},
        ),
        (
            {"type": ["string", "integer", "null"]},
            {"anyOf": [{"type": "string", "nullable": True}, {"type": "integer", "nullable": True}]},
        ),
    ],
)
def test_gemini_is_told_in_its_part_of_openapi(part: Any, expected: Any) -> None:
    assert one(part, GEMINI) == expected


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "string", "pattern": "^(?!x)", "maxLength": 9}, {"type": "string", "maxLength": 9}),
        ({"type": "string", "maxLength": 100_000}, {"type": "string"}),
        ({"type": "array", "items": {}, "minItems": 5, "maxItems": 2}, {"type": "array", "items": {}}),
        ({"enum": list(range(1_000))}, {"type": "integer"}),
        ({"const": 1}, {"enum": [1], "type": "integer"}),
        ({"type": "integer", "minimum": 0, "maximum": 10**18}, {"type": "integer"}),
        (
            {"description": "d"},
            {"description": "d", "type": ["string", "number", "boolean", "object", "array", "null"]},
        ),
    ],
)
def test_grammar_is_kept_small(part: Any, expected: Any) -> None:
    assert one(part, GRAMMAR) == expected


def test_property_anthropic_would_refuse_costs_only_itself() -> None:
    schema = of({"properties": {"$filter": {}, "top": {}}, "required": ["$filter", "top"]}, ANTHROPIC)
    assert schema == {"type": "object", "properties": {"top": {}}, "required": ["top"]}


def test_same_schema_is_normalised_once() -> None:
    spec = ToolSpec("t", "", {"type": "object"})
    assert normalise(spec, GEMINI) is normalise(spec, GEMINI)


def test_names_providers_refuse_are_replaced_and_found_again() -> None:
    names = make_safe_names([ToolSpec(name, "", {}) for name in ("read", "mcp.files/read", "1st", "x" * 80)])
    assert names.to_wire("read") == "read"
    assert names.to_wire("mcp.files/read").startswith("mcp_files_read_")
    assert [names.to_tool(names.to_wire(name)) for name in ("mcp.files/read", "1st", "x" * 80)] == [
        "mcp.files/read",
        "1st",
        "x" * 80,
    ]


def test_tool_of_the_past_keeps_its_safe_name() -> None:
    spec = ToolSpec("a.b", "", {})
    assert make_safe_names([]).to_wire("a.b") == make_safe_names([spec]).to_wire("a.b")
    assert make_safe_names([]).to_tool("nobody") == "nobody"
