"""Parsing of untrusted JSON: unreadable input is not an error."""

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """Return the parsed value, or None if the text is not JSON or is nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def dump_json(value: Any) -> bytes:
    """Return the value as compact JSON. Lone surrogates become question marks instead of failing."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def parse_json_object(text: str | bytes) -> dict[str, Any] | None:
    """Return the parsed object, or None if the text is not a JSON object."""
    found = parse_json(text)
    return found if isinstance(found, dict) else None
