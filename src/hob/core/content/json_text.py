"""Parsing JSON that others wrote: what cannot be read is no error."""

import json
from typing import Any


def json_value(text: str | bytes) -> Any:
    """The value; None where the text is no JSON, or nested too deep to be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def json_bytes(value: Any) -> bytes:
    """The value as compact JSON. A lone surrogate becomes a question mark: it must not cost the turn."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """The object; None where the text is none."""
    found = json_value(text)
    return found if isinstance(found, dict) else None
