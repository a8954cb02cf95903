"""Arguments as models write them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.agent.turn.arguments import (
    UNREADABLE,
    brief_arguments,
    brief_result,
    load_arguments,
    nearest,
    normalize_arguments,
    problems_of,
    usage_of,
)
from hob.core.tools import ToolSpec

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "lines": {"type": "integer"},
        "mode": {"enum": ["r", "w"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "rate": {"type": ["number", "null"]},
        "deep": {"type": "object", "properties": {"x": {"type": "boolean"}}, "required": ["x"]},
    },
    "required": ["path"],
}


@pytest.mark.parametrize("raw", ['{"a": 1}', "{}", ' {"a":"ü"} ', '{"a":"\\ud800"}'])
def test_object_stays_as_it_is(raw: str) -> None:
    assert normalize_arguments(raw) == raw


@pytest.mark.parametrize(
    ("raw", "tidied"),
    [
        ("", "{}"),
        ("null", "{}"),
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ('{"a": 1', '{"a":1}'),
        ("{'a': 1,}", '{"a":1}'),
        ('```json\n{"a": 1}\n```', '{"a":1}'),
    ],
)
def test_near_object_is_repaired(raw: str, tidied: str) -> None:
    assert normalize_arguments(raw) == tidied


@pytest.mark.parametrize("raw", ["[1]", "7", "true", '"plain"'])
def test_unreadable_arguments_are_kept_as_text(raw: str) -> None:
    assert load_arguments(normalize_arguments(raw)) is None


def test_incomplete_object_of_a_truncated_answer_is_not_repaired() -> None:
    assert json.loads(normalize_arguments('{"text": "rm -r', repair=False)) == {UNREADABLE: '{"text": "rm -r'}


@given(st.text(max_size=200))
def test_normalized_arguments_are_always_a_json_object(raw: str) -> None:
    assert isinstance(json.loads(normalize_arguments(raw)), dict)


@given(st.dictionaries(st.text(), st.integers() | st.text(), max_size=4), st.integers(0, 60))
def test_truncated_object_is_repaired(value: dict[str, Any], cut: int) -> None:
    assert isinstance(json.loads(normalize_arguments(json.dumps(value)[:cut])), dict)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "path is missing"),
        ({"path": 1}, "path must be string, not int"),
        ({"path": "a", "lines": True}, "lines must be integer, not bool"),
        ({"path": "a", "lines": 1.5}, "lines must be integer, not float"),
        ({"path": "a", "mode": "x"}, 'mode must be one of "r", "w"'),
        ({"path": "a", "tags": ["a", 1]}, "tags[1] must be string, not int"),
        ({"path": "a", "rate": "x"}, "rate must be number or null, not str"),
        ({"path": "a", "deep": {}}, "deep.x is missing"),
    ],
)
def test_wrong_argument_is_named(arguments: dict[str, Any], problem: str) -> None:
    assert problems_of(arguments, SCHEMA) == [problem]


def test_valid_arguments_pass() -> None:
    right = {"path": "a", "lines": 2.0, "mode": "w", "tags": [], "rate": None, "deep": {"x": False}, "more": 1}
    assert problems_of(right, SCHEMA) == []


def test_unknown_parameter_is_named_where_the_schema_forbids_it() -> None:
    assert problems_of({"b": 1}, {"properties": {"a": {}}, "additionalProperties": False}) == ["b is not a parameter"]


def test_usage_of_a_tool_is_one_line() -> None:
    line = usage_of(
        ToolSpec("read", "", {**SCHEMA, "properties": {"path": {"type": "string"}, "mode": {"enum": ["r"]}}})
    )
    assert line == 'read takes {path: string, mode: "r" (optional)}'


def test_nearest_names_come_first() -> None:
    assert nearest("read_fil", ["write_file", "read_file", "clock"])[0] == "read_file"
    assert nearest("zzz", ["clock"]) == []


@pytest.mark.parametrize(
    ("arguments", "brief"),
    [
        ({"path": "a.md", "content": "# A"}, "a.md"),
        ({"content": "# A", "path": "a.md"}, "a.md"),  # required ones come first, wherever they are
        ({"action": "open", "path": "a\n  b"}, "a b"),
        ({"tags": ["x", "y"]}, "x, y"),
        ({"lines": 3}, ""),
        ({"path": "x" * 500}, "x" * 119 + "…"),
    ],
)
def test_call_is_described_by_its_first_text(arguments: dict[str, Any], brief: str) -> None:
    assert brief_arguments(arguments, SCHEMA) == brief


def test_choice_is_followed_by_the_next_text() -> None:
    schema = {"properties": {"action": {"enum": ["open"]}, "url": {"type": "string"}}, "required": ["action"]}
    assert brief_arguments({"action": "open", "url": "https://example.org"}, schema) == "open https://example.org"


@pytest.mark.parametrize(("last", "brief"), [(False, "(exit status 1)"), (True, "3 failed in 2 s")])
def test_result_is_described_by_its_first_or_last_line(last: bool, brief: str) -> None:
    assert brief_result("\n(exit status 1)\nF..F\n3 failed   in 2 s\n\n", last=last) == brief
    assert brief_result(" \n", last=last) == ""
