"""Whatever is sent to whichever route: it becomes what the route declares, or is refused by a sentence."""

import dataclasses
from enum import StrEnum
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.app.endpoints import ENDPOINTS
from hob.core.errors import InvalidRequest
from hob.gateway.http.fields import Field, Nothing, QueryText, choices_of, fields_of, read

REQUESTS = sorted({each.takes for each in ENDPOINTS} - {bytes, Nothing}, key=lambda cls: str(cls.__name__))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
each_request = pytest.mark.parametrize("cls", REQUESTS, ids=lambda cls: cls.__name__)


def holds(field: Field, value: Any) -> bool:
    """Whether the value is one that was declared."""
    if value is None:
        return field.default is None
    kind, bounds = field.kind, field.bounds
    if kind is Any or isinstance(kind, UnionType):  # the route looks closer
        return True
    if get_origin(kind) in (list, tuple):
        of = get_args(kind)[0]
        return isinstance(value, get_origin(kind)) and all(isinstance(each, of) for each in value)
    if choices := choices_of(kind):
        return str(value) in choices
    if value == field.default:
        return True
    low, high = bounds.at_least, bounds.at_most
    within = not isinstance(value, (int, float)) or ((low is None or value >= low) and (high is None or value <= high))
    return type(value) is (get_origin(kind) or kind) and within and (not bounds.one_of or value in bounds.one_of)


@each_request
@given(data=st.data())
def test_request_has_the_declared_fields_or_is_refused(cls: Any, data: st.DataObject) -> None:
    names = [field.name for field in fields_of(cls)]
    given = data.draw(st.dictionaries(st.sampled_from(names) | st.text(max_size=8), JSON, max_size=4))
    try:
        made = read(cls, given)
    except InvalidRequest:
        return
    assert all(holds(field, getattr(made, field.name)) for field in fields_of(cls))


@each_request
@given(data=st.data())
def test_query_follows_the_same_rules(cls: Any, data: st.DataObject) -> None:
    names = [field.name for field in fields_of(cls)]
    given = data.draw(st.dictionaries(st.sampled_from(names), st.text().map(QueryText), max_size=4))
    try:
        made = read(cls, given)
    except InvalidRequest:
        return
    for field in fields_of(cls):
        value = getattr(made, field.name)
        assert holds(field, value)
        assert not isinstance(value, QueryText)


class Colour(StrEnum):
    RED = "red"


@dataclasses.dataclass(frozen=True, slots=True)
class Inner:
    count: int


@dataclasses.dataclass(frozen=True, slots=True)
class Outer:
    inner: Inner
    colours: tuple[Colour, ...] = ()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({}, "inner is missing"),
        ({"inner": 1}, "inner must be an object"),
        ({"inner": {}}, "inner.count is missing"),
        ({"inner": {"count": "1"}}, "inner.count must be a whole number"),
        ({"inner": {"count": True}}, "inner.count must be a whole number"),
        ({"inner": {"count": 2**63}}, "inner.count must be a whole number"),
        ({"inner": {"count": 1, "more": 1}}, "unknown field 'more' in inner"),
        ({"inner": {"count": 1}, "colours": "red"}, "colours must be a list"),
        ({"inner": {"count": 1}, "colours": ["red", "blue"]}, r"colours\[1\] must be one of red"),
    ],
)
def test_invalid_value_is_named_by_its_path(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidRequest, match=complaint):
        read(Outer, given)


def test_valid_request_is_parsed() -> None:
    made = read(Outer, {"inner": {"count": 1}, "colours": ["red"]})
    assert made == Outer(Inner(1), (Colour.RED,))
    assert read(Outer, {"inner": {"count": 1, "more": 1}, "more": 1}, closed=False) == Outer(Inner(1))
