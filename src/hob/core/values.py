"""`dataclass`: frozen dataclasses that are created four times as fast.

The standard library compiles six functions per frozen class, which takes a third of a millisecond; for the three
hundred classes that one question needs, that was a third of the CPU time. Here only `__init__` is compiled, and all
classes share the other functions, which also saves a kilobyte each. Everything else behaves the same: fields,
`replace`, `asdict`, pattern matching, copies, errors; type checkers see the standard library's decorator.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from dataclasses import dataclass as dataclass
from operator import attrgetter
from typing import Any

_ABSENT = object()
_set = object.__setattr__
_NAMES: dict[str, Any] = {"_set": _set, "_absent": _ABSENT}
"""Names used by every `__init__`."""


def _fast_dataclass(cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, **options: Any) -> Any:
    """The `dataclass` decorator for the options Hob uses; other options and base classes use the standard one."""
    if cls is None:
        return lambda made: _fast_dataclass(made, frozen=frozen, eq=eq, **options)
    if options.keys() - {"slots", "kw_only"} or any(map(dataclasses.is_dataclass, cls.__mro__[1:])):
        return dataclasses.dataclass(cls, frozen=frozen, eq=eq, **options)
    own_hash = cls.__dict__.get("__hash__", MISSING)
    hashes = frozen and (own_hash is MISSING or (own_hash is None and "__eq__" in cls.__dict__))
    cls = dataclasses.dataclass(cls, init=False, repr=False, eq=False, **options)
    of_class = fields(cls)
    made: dict[str, Any] = {"__init__": _compile_init(cls, of_class, frozen=frozen), "__repr__": _repr}
    if eq:
        made |= {"__compared__": _make_getter([each.name for each in of_class if each.compare]), "__eq__": _equal}
        if hashes:
            made["__hash__"] = _hash
        elif own_hash is MISSING:
            cls.__hash__ = None  # type: ignore[assignment]
    if frozen:
        made |= _GUARDS
        cls.__dataclass_params__.frozen = True  # type: ignore[attr-defined]
    for name, function in made.items():
        if name not in cls.__dict__ or name == "__hash__":
            setattr(cls, name, function)
    return cls


globals()["dataclass"] = _fast_dataclass


def _compile_init(cls: type, of_class: tuple[Field[Any], ...], *, frozen: bool) -> Callable[..., None]:
    """Compile `__init__`, so that creating an object costs no more than usual."""
    known: dict[str, Any] = {}
    factories = any(each.default_factory is not MISSING for each in of_class)
    plain, keyword, lines = ["self"], list[str](), list[str]()
    for each in of_class:
        name, value, default = each.name, each.name, ""
        if each.default is not MISSING:
            default, known[f"_of_{name}"] = f"=_of_{name}", each.default
        elif each.default_factory is not MISSING:
            default, known[f"_of_{name}"] = "=_absent", each.default_factory
            value = f"_of_{name}() if {name} is _absent else {name}"
        (keyword if each.kw_only else plain).append(name + default)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    heads = ", ".join([*plain, *(["*", *keyword] if keyword else [])])
    # defaults are looked up once; only factories need names at call time
    names = known | _NAMES if factories else _NAMES
    exec(f"def __init__({heads}):\n " + ("\n ".join(lines) or "pass"), names, known)  # noqa: S102, what the standard library does
    init = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = cls.__annotations__
    return init  # type: ignore[no-any-return]


def _repr(self: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({shown})"


def _make_getter(names: list[str]) -> Callable[[Any], Any]:
    """Return a function that returns the values of these attributes as a tuple."""
    return attrgetter(*names) if len(names) > 1 else lambda of: tuple(getattr(of, name) for name in names)


def _equal(self: Any, other: Any) -> bool:
    values = self.__class__.__compared__
    return bool(values(self) == values(other)) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(self.__class__.__compared__(self))


def _refuse_assignment(self: Any, name: str, value: object) -> None:
    if _is_frozen(self, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    _set(self, name, value)


def _refuse_deletion(self: Any, name: str) -> None:
    if _is_frozen(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_frozen(of: Any, name: str) -> bool:
    """Whether the attribute is immutable: all of a dataclass, but only the declared fields in a plain subclass."""
    return "__dataclass_fields__" in type(of).__dict__ or any(each.name == name for each in fields(of))


def _get_state(self: Any) -> list[object]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        _set(self, each.name, value)


_GUARDS = {
    "__setattr__": _refuse_assignment,
    "__delattr__": _refuse_deletion,
    "__getstate__": _get_state,
    "__setstate__": _set_state,
}
"""Methods that keep instances immutable and copyable."""
