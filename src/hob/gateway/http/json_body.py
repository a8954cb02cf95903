"""Reading JSON bodies: how deep they may be nested.

The parser ends at Python's own limit of recursion, and whatever writes, copies or looks through a value later needs a
little more of it than the parser did: what was only just read would fail there.
"""

import json
from typing import Any

from hob.core.errors import InvalidRequest

MAX_LEVELS = 100
"""Lists and objects within each other."""


def parse_json(text: bytes | str, what: str = "the body") -> Any:
    """The value. Raises InvalidRequest, which speaks of `what`, where it is no JSON or is nested too deeply."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise _too_deep(what) from error
    except ValueError as error:
        raise InvalidRequest(f"{what} is not JSON: {error}") from error
    # text without many brackets cannot be deep, and most is such
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
    """The lists and objects that stand directly in this one."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in inner if isinstance(each, dict | list)]


def _too_deep(what: str) -> InvalidRequest:
    return InvalidRequest(f"{what} has more than {MAX_LEVELS} lists and objects within each other")
