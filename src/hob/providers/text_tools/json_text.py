"""JSON as a model wrote it: where a value ends and what its members are, to the letter, also where it is broken."""

import json
import re
from typing import Any

# Strings count as a whole, so that brackets inside of them do not. A lone quote begins a string that does not end.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*"|[{}\[\]:,"]', re.DOTALL)
_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*"|[{}\[\]"]', re.DOTALL)


def value_end(text: str, start: int) -> int:
    """Where the object or array that begins at `start` ends, or -1 if it does not end."""
    depth = 0
    for token in _BRACKET.finditer(text, start):
        match token[0]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
                if depth == 0:
                    return token.end()
            case '"':
                return -1
    return -1


def parts(text: str) -> list[tuple[str, str]]:
    """The members of an object, or the elements of an array with empty names, each value as it is written.

    Where the text breaks off the last value is what there is of it.
    """
    found: list[tuple[str, str]] = []
    listed = text[:1] == "["
    depth, name, start = 0, "", 1 if listed else -1
    for token in _TOKEN.finditer(text):
        kind = token[0]
        if kind in "{[":
            depth += 1
            continue
        closing = kind in "}]"
        depth -= closing
        if kind == '"' or depth > 1:
            if kind == '"':
                break
        elif (closing and depth == 0) or (kind == "," and depth == 1):
            _add(found, name, text[start : token.start()] if start >= 0 else "")
            name, start = "", token.end() if listed else -1
            if closing:
                return found
        elif kind == ":" and depth == 1 and start < 0 and name:
            start = token.end()
        elif kind[0] == '"' and depth == 1 and start < 0:
            name = read(kind) or ""
    if start >= 0:
        _add(found, name, text[start:])
    return found


def read(text: str) -> Any:
    """The value, with line breaks in strings forgiven; None where it is no JSON."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def write(value: Any) -> str:
    """The value as JSON."""
    return json.dumps(value, ensure_ascii=False)


def _add(found: list[tuple[str, str]], name: str, value: str) -> None:
    value = value.strip()
    if value:
        found.append((name, value))
