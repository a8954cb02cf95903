"""Templates: a text with `{{field.path}}` in it, filled in from what a machine sent.

That is the whole language: no code, no conditions, no loops. A path leads through objects by name and through lists by
number; `{{.}}` is everything, `{{@Name}}` a header of the request. What is not there is nothing; what is no text is
written as JSON. What was filled in is never looked at again, so a value cannot bring a placeholder with it.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

# compiled with the first webhook: most have none
_PLACE = r"(?s)\{\{(.*?)\}\}"
_PATH = r"\.|@[A-Za-z0-9-]{1,80}|[^\s.{}@][^\s.{}]*(?:\.[^\s.{}]+)*"
_CUT = "…"


def check_template(template: str) -> None:
    """Raises ValueError that names the first placeholder that is none."""
    for found in re.finditer(_PLACE, template):
        if not re.fullmatch(_PATH, found[1].strip()):
            raise ValueError(
                f"{found[0]!r} is no placeholder; write {{{{issue.title}}}} for a field, {{{{items.0}}}} for an entry "
                "of a list, {{.}} for everything, {{@X-Event}} for a header"
            )


def fill(template: str, body: Any, headers: Mapping[str, str], most: int) -> str:
    """The template with the values of this body; each value, and the whole, has at most so many characters."""

    def value(found: re.Match[str]) -> str:
        path = found[1].strip()
        if path.startswith("@"):
            return shortened(headers.get(path[1:].lower(), ""), most)
        return shortened(text_of(body if path == "." else _find(body, path.split("."))), most)

    return shortened(re.sub(_PLACE, value, template), most)


def text_of(value: Any) -> str:
    """A value as text: a text as it is, nothing for null, everything else as JSON."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()  # JSON may hold halves of characters, which are no text


def shortened(text: str, most: int) -> str:
    """The text, cut where it is longer."""
    return text if len(text) <= most else text[: most - 1] + _CUT


def _find(value: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isascii() and part.isdecimal() and len(part) < 10:
            place = int(part)
            value = value[place] if place < len(value) else None
        else:
            return None
    return value
