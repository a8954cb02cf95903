"""Answers are the JSON that the standard library would have written, whatever they contain."""

import json
import math
from enum import StrEnum
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hob.gateway.http.reply import encoded


class Colour(StrEnum):
    RED = "red"


class Place(NamedTuple):
    x: int
    y: int


TEXTS = st.text(st.characters(codec="utf-8"))
PLAIN = st.none() | st.booleans() | st.integers() | TEXTS | st.floats(allow_nan=False, allow_infinity=False)
ANSWERS = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(TEXTS, inner))


def by_the_standard_library(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@given(ANSWERS)
@example(2**64)
@example(-(2**63) - 1)
@example({0: "none", None: 2, True: 3, Colour.RED: Colour.RED})
@example([Place(1, 2), -0.0, 1e16, 5e-324, 0.1 + 0.2])
@example('\x00\x1f\x7f\u2028\b\f"\\/')
def test_answers_are_those_of_the_standard_library(value: Any) -> None:
    found, expected = encoded(value), by_the_standard_library(value)
    assert found == expected or json.loads(found) == json.loads(expected)
    if not any(map(_is_small, _numbers(value))):
        assert found == expected


def test_numbers_that_json_lacks_become_null() -> None:
    assert encoded([math.nan, math.inf, -math.inf]) == b"[null,null,null]"


@pytest.mark.parametrize("value", ["\ud800", {"a": {1, 2}}, b"bytes"])
def test_what_json_cannot_say_is_an_error(value: object) -> None:
    with pytest.raises((TypeError, UnicodeEncodeError)):
        encoded(value)


def _numbers(value: Any) -> list[float]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [value] if isinstance(value, float) else [number for each in inner for number in _numbers(each)]


def _is_small(number: float) -> bool:
    """Whether the standard library writes it as e.g. `1e-05`, orjson as `0.00001`."""
    return 0 < abs(number) < 1e-4
