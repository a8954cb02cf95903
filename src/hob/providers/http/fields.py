"""Access to fields of untrusted JSON, which may be missing or of any type."""

from collections.abc import Mapping
from typing import Any

Object = Mapping[str, Any]
_EMPTY: Object = {}


def get_object(data: Object, key: str) -> Object:
    """Return the object, or an empty one."""
    value = data.get(key)
    return value if isinstance(value, dict) else _EMPTY


def get_objects(data: Object, key: str) -> list[Object]:
    """Return the objects of a list."""
    value = data.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def get_text(data: Object, key: str) -> str:
    """Return the text, or an empty one."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def get_count(data: Object, key: str) -> int:
    """Return the count, or 0 if it is missing or implausible (above 10^9)."""
    value = data.get(key)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e9 else 0


def get_number(data: Object, key: str) -> float | None:
    """Return the number if it is plausible."""
    value = data.get(key)
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15 else None
    )
