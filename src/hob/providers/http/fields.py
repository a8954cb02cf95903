"""Fields of JSON that comes from outside: each may be missing, or of any type."""

from collections.abc import Mapping
from typing import Any

Object = Mapping[str, Any]
_NOTHING: Object = {}


def object_in(data: Object, key: str) -> Object:
    """The object, or an empty one."""
    value = data.get(key)
    return value if isinstance(value, dict) else _NOTHING


def objects_in(data: Object, key: str) -> list[Object]:
    """The objects of a list."""
    value = data.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_in(data: Object, key: str) -> str:
    """The text, or an empty one."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def count_in(data: Object, key: str) -> int:
    """The number of something, or 0; nobody can have counted more than 10^9."""
    value = data.get(key)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e9 else 0


def number_in(data: Object, key: str) -> float | None:
    """The number, where there is a sensible one."""
    value = data.get(key)
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15 else None
    )
