"""Hob's dataclasses behave as the standard library's do."""

import ast
import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, field, replace
from typing import ClassVar

import pytest

from hob.core.values import dataclass
from tests.architecture.sources import sources


@dataclass(frozen=True, slots=True)
class Place:
    """Two fields, a default, one made anew, one not shown and one not compared."""

    kind: ClassVar[str] = "place"
    town: str
    street: str = "Main Street"
    tags: list[str] = field(default_factory=list)
    key: str = field(default="k", repr=False)
    seen: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if not self.town:
            raise ValueError("no town")


@dataclasses.dataclass(frozen=True, slots=True)
class Flat(Place):
    """Made by the standard library on top."""

    floor: int = 0


@dataclass(slots=True)
class Counter:
    """Changes."""

    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """By keyword alone."""

    first: int = 1
    second: int


@dataclass(frozen=True, slots=True)
class Empty:
    """Holds nothing."""


def test_object_holds_its_arguments_and_defaults() -> None:
    place = Place("Ulm", tags=["old"])
    assert (place.town, place.street, place.tags, place.key, place.seen) == ("Ulm", "Main Street", ["old"], "k", 0)
    assert Place("Ulm").tags is not Place("Ulm").tags
    assert repr(place) == "Place(town='Ulm', street='Main Street', tags=['old'], seen=0)"
    assert asdict(Counter(3)) == {"count": 3}
    with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required positional argument: 'town'"):
        Place()  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="no town"):
        replace(place, town="")


def test_frozen_objects_cannot_be_changed() -> None:
    place = Place("Ulm")
    with pytest.raises(FrozenInstanceError):
        place.town = "Bern"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del place.town
    with pytest.raises(FrozenInstanceError):
        setattr(place, "unknown", 1)  # noqa: B010
    counter = Counter()
    counter.count += 1
    assert counter == Counter(1)


def test_equal_objects_compare_equal_and_hash_equal() -> None:
    assert Place("Ulm", seen=1) == Place("Ulm", seen=2) != Place("Bern")
    assert Empty() == Empty()
    nothing: object = Empty()
    assert nothing != Counter()
    assert len({Named(second=1), Named(second=1), Named(second=2), Empty(), Empty()}) == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(Counter())


def test_objects_support_matching_copying_and_inheritance() -> None:
    match Place("Ulm", "Lane"):
        case Place(town, street):
            assert (town, street) == ("Ulm", "Lane")
    place = Place("Ulm", tags=["old"])
    assert copy.deepcopy(place) == place
    assert pickle.loads(pickle.dumps(place)) == place  # noqa: S301
    assert replace(Flat("Ulm"), floor=2) == Flat("Ulm", floor=2)
    with pytest.raises(TypeError):
        Named(1, 2)  # type: ignore[call-arg]


def test_every_dataclass_of_hob_uses_the_fast_decorator() -> None:
    heavy = [
        source.name
        for source in sources()
        if source.name != "core/values.py"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if "dataclass" in {alias.name for alias in node.names}
    ]
    assert heavy == [], "a dataclass from hob.core.values is made in a quarter of the time"


def test_classes_share_methods_and_their_init_names_its_parameters() -> None:
    shared = ("__eq__", "__hash__", "__repr__", "__setattr__", "__delattr__")
    assert all(getattr(Place, name) is getattr(Named, name) for name in shared)
    parameters = inspect.signature(Place).parameters
    assert [(each.name, each.annotation) for each in parameters.values()][:2] == [("town", str), ("street", str)]
    assert parameters["street"].default == "Main Street"


def test_extended_class_keeps_the_fields_of_a_frozen_one() -> None:
    class Marked(Place):
        def __init__(self) -> None:
            super().__init__("Ulm")
            self.mark = 1

    marked = Marked()
    marked.mark = 2
    with pytest.raises(FrozenInstanceError):
        marked.town = "Bern"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del marked.street
    assert (marked.town, marked.mark) == ("Ulm", 2)
