"""Parsing JSON bodies with a nesting limit.

The parser stops only at Python's recursion limit, but code that writes, copies or traverses the value later needs a
little more stack than the parser, and would fail.
"""

import json
from typing import Any

from hob.core.errors import InvalidRequest

MAX_LEVELS = 100
"""Maximum nesting of lists and objects."""


def parse_json(text: bytes | str, what: str = "the body") -> Any:
    """Return the value. Raises InvalidRequest, which names `what`, for invalid JSON or deep nesting."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise _too_deep(what) from error
    except ValueError as error:
        raise InvalidRequest(f"{what} is not JSON: {error}") from error
    # text with few brackets cannot be deep, and most texts have few
    brackets = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    if brackets > MAX_LEVELS and _is_deep(value):
        raise _too_deep(what)
    return value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_LEVELS):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    """Return the lists and objects directly inside."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in inner if isinstance(each, dict | list)]


def _too_deep(what: str) -> InvalidRequest:
    return InvalidRequest(f"{what} has more than {MAX_LEVELS} lists and objects within each other")
