"""Transformation of the texts in a call's arguments."""

import json
from collections.abc import Callable
from typing import Any

Change = Callable[[str, str], str]
"""Maps the name of a text (or "") and the text to the new text."""


def change_texts(arguments: str, change: Change) -> str:
    """Change every text in the arguments: names, strings and integers of the JSON, or the whole if it is not JSON.

    If nothing changes, the arguments are returned byte for byte.
    """
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return change("", arguments)
    changing = _Changing(change)
    changed = changing.of(value, "")
    return json.dumps(changed, ensure_ascii=False) if changing.touched else arguments


class _Changing:
    """Walks a JSON value and records whether anything was changed."""

    __slots__ = ("_change", "touched")

    def __init__(self, change: Change) -> None:
        self._change = change
        self.touched = False

    def of(self, value: Any, name: str) -> Any:
        if isinstance(value, str):
            return self._text(value, name)
        if isinstance(value, dict):
            return {self._text(key, ""): self.of(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.of(inner, name) for inner in value]
        if type(value) is int:
            written = str(value)
            changed = self._text(written, name)
            return value if changed == written else changed
        return value

    def _text(self, text: str, name: str) -> str:
        changed = self._change(name, text)
        self.touched = self.touched or changed != text
        return changed
