"""Past calls and what they gave, as servers take them back."""

import json
from typing import Any, NoReturn

from hob.core.models import ToolMessage

# How deeply JSON is nested. What can just be read may be too deep to be written again, inside of something else.

MAX_DEPTH = 100
"""Levels; Python reads and writes several hundred, fewer the deeper it stands itself."""


def is_deep(value: Any, text: str) -> bool:
    """Whether the value, which was read from this text, is nested deeper than `MAX_DEPTH`."""
    if text.count("{") + text.count("[") <= MAX_DEPTH:  # nearly always
        return False
    level, depth = [value], 0
    while level:
        if depth > MAX_DEPTH:
            return True
        depth += 1
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return False


def read_arguments(text: str) -> dict[str, Any]:
    """The object that a model wrote; what is none, as `{"malformed": text}`: the model sees what it did."""
    arguments = _parse(text or "{}")
    return {"malformed": text} if arguments is None else arguments


def sound_arguments(text: str) -> str:
    """The same as JSON, to the letter where it is an object: several servers parse what they are sent back."""
    written = text.strip() or "{}"
    return json.dumps({"malformed": text}, ensure_ascii=False) if _parse(written) is None else written


def result_text(message: ToolMessage) -> str:
    """What a call gave, for wires without a flag for failure."""
    text = message.text
    return f"Error: {text}" if message.is_error and text[:5].lower() != "error" else text


def _parse(text: str) -> dict[str, Any] | None:
    try:
        arguments = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) and not is_deep(arguments, text) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
