"""A tool call on the screen: a line, some of its output, and its outcome."""

import json
import time
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hob.cli.chat.sentences import say
from hob.cli.output import line, printable
from hob.core.content.json_text import parse_json
from hob.core.translation.language import translate
from hob.core.values import dataclass

_Line = list[tuple[str, str]]  # as in `fragments`, which imports more than the plain chat needs
MAX_LINES = 8
"""Output lines that are shown per call; the newest while it runs."""
_LONGEST = 4_000  # characters of output that are examined


STATUS_NAMES: Mapping[str, str] = {
    "error": "failed",
    "timeout": "no result in time",
    "unknown_tool": "there is no such tool",
    "not_loaded": "the model has not loaded this tool yet",
    "bad_arguments": "the model's arguments do not fit the tool",
    "denied": "not allowed",
    "cancelled": "stopped",
    "skipped": "not made, a message came first",
    "loop": "refused: the same call again and again",
    "child": "waits for sub-agents",
    "unknown_outcome": "Hob was stopped during it, so its outcome is unknown",
}
"""Outcomes other than success, in words."""


@dataclass(slots=True)
class RunningCall:
    """A call in progress."""

    name: str
    arguments: str
    began: float = field(default_factory=time.monotonic)
    _tail: str = ""
    _lines: int = 0

    def write(self, text: str) -> None:
        """Append output."""
        shown = printable(text)
        self._lines += shown.count("\n")
        self._tail = (self._tail + shown)[-_LONGEST:]

    def preview(self, width: int) -> list[_Line]:
        """Render the call while it runs."""
        seconds = f" {time.monotonic() - self.began:.0f} s"
        head = line(self._head(), max(8, width - len(seconds) - 3))
        return [[("fg:ansicyan", "● "), ("", head), ("dim", seconds)], *self._output(width)]

    def ended(self, status: str, width: int, language: str) -> list[_Line]:
        """Render the call after it ended."""
        mark, style = ("✓", "fg:ansigreen") if status == "ok" else ("✗", "fg:ansired")
        took = time.monotonic() - self.began
        tail = "" if status == "ok" else f"  {translate(STATUS_NAMES.get(status, status), language)}"
        tail += f" {took:.1f} s" if took >= 0.95 else ""
        head: _Line = [(style, f"{mark} "), ("", line(self._head(), max(8, width - len(tail) - 3)))]
        return [[*head, ("dim", tail)] if tail else head, *self._output(width, language)]

    def _head(self) -> str:
        brief = brief_arguments(self.arguments)
        return f"{self.name}: {brief}" if brief else self.name

    def _output(self, width: int, language: str = "") -> list[_Line]:
        rows = self._tail.rstrip("\n").split("\n") if self._tail.strip() else []
        hidden = max(0, self._lines + (not self._tail.endswith("\n")) - min(len(rows), MAX_LINES))
        shown: list[_Line] = [[("dim", "  " + row.expandtabs(4)[: max(8, width - 2)])] for row in rows[-MAX_LINES:]]
        if rows and hidden and language:
            shown.insert(0, [("dim", "  " + say("… {count} more lines", language, count=hidden))])
        return shown


def brief_arguments(arguments: str) -> str:
    """Return the arguments as one line: a single text as it is, several with their names."""
    values = parse_json(arguments)
    if values is None:  # truncated, or none
        return line(arguments, 200)
    if not isinstance(values, dict):
        return ""
    if len(values) == 1:
        return line(_brief(next(iter(values.values()))), 200)
    return line(", ".join(f"{name}={_brief(value)}" for name, value in values.items()), 200)


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ⏎ ".join(part for row in text.split("\n") if (part := row.strip()))
