"""Past calls and their results in the form that servers accept."""

import json
from typing import Any, NoReturn

from hob.core.models import ToolMessage

# Maximum nesting of JSON. A value that can just be parsed may be too deep to be serialized within another one.

MAX_DEPTH = 100
"""Maximum levels; Python parses several hundred, fewer the deeper its own stack is."""


def is_too_deep(value: Any, text: str) -> bool:
    """Whether the value parsed from this text is nested deeper than `MAX_DEPTH`."""
    if text.count("{") + text.count("[") <= MAX_DEPTH:  # almost always
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


def parse_arguments(text: str) -> dict[str, Any]:
    """Parse the arguments written by a model; invalid ones are `{"malformed": text}`, so that the model sees them."""
    arguments = _parse(text or "{}")
    return {"malformed": text} if arguments is None else arguments


def normalize_arguments(text: str) -> str:
    """Return the arguments as JSON, unchanged if valid: several servers parse what they receive back."""
    written = text.strip() or "{}"
    return json.dumps({"malformed": text}, ensure_ascii=False) if _parse(written) is None else written


def format_result(message: ToolMessage) -> str:
    """Return the result of a call for wires without an error flag."""
    text = message.text
    return f"Error: {text}" if message.is_error and text[:5].lower() != "error" else text


def _parse(text: str) -> dict[str, Any] | None:
    try:
        arguments = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) and not is_too_deep(arguments, text) else None


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
