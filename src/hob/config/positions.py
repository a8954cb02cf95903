"""Positions of the keys in a TOML document.

Theory of operation. `tomllib` returns what a document contains, not where. This scanner walks a document that tomllib
has already accepted, so it checks nothing: it reads keys, remembers their offsets, and skips values, looking into
arrays and inline tables only for the keys inside. A path consists of keys and, for arrays, of indexes, just as one
would index the parsed document. Format: TOML 1.0 (https://toml.io/en/v1.0.0); the laxer inline tables of 1.1 are
understood too.
"""

import re
from bisect import bisect_right
from contextlib import suppress

from hob.core.translation.language import translatable

KeyPath = tuple[str | int, ...]

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_KEY_PART = re.compile(r"""[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)[ \t]*""")
_EQUALS = re.compile(r"=[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
# A text in triple or single quotes (one or two quotes may precede the closing three), or an unquoted value.
_PLAIN_VALUE = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")' r"|'{3}.*?'{3,5}(?!')" r'|"(?:[^"\\]|\\.)*"' r"|'[^']*'|[^,\]}#\n]*", re.DOTALL
)


def find_positions(text: str) -> dict[KeyPath, tuple[int, int]]:
    """Return line and column (from 1, in characters) of every key and array element of a valid document."""
    scanner = PositionScanner(text)
    with suppress(RecursionError):  # nested so deeply that tomllib only just managed; earlier keys are known
        scanner.document()
    starts = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]
    found: dict[KeyPath, tuple[int, int]] = {}
    for path, offset in scanner.found.items():
        line = bisect_right(starts, offset)
        found[path] = (line, offset - starts[line - 1] + 1)
    return found


def parse_key(text: str) -> tuple[str, ...]:
    """Split a dotted key in TOML syntax: `prices."gpt-4.1".input`. Raises ValueError."""
    scanner = PositionScanner(text)
    try:
        parts = tuple(part for part, _ in scanner.key())
    except ValueError as error:
        raise ValueError(translatable("{text} is not a key", text=repr(text))) from error
    if scanner.at != len(text):
        raise ValueError(translatable("{text} is not a key", text=repr(text)))
    return parts


def dotted(path: KeyPath) -> str:
    """Return the path in TOML syntax, with indexes in brackets."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if part and _BARE.issuperset(part) else _quoted(part))
    return text


def _quoted(part: str) -> str:
    escaped = part.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'


class PositionScanner:
    """Reads one document from front to back. `found` maps paths to offsets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[KeyPath, int] = {}
        self._last_index: dict[KeyPath, int] = {}

    def document(self) -> None:
        """Read the whole document."""
        table: KeyPath = ()
        while self._skip_blank():
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def key(self) -> list[tuple[str, int]]:
        """Read a key; return its parts with their offsets. Stops after the following blanks. Raises ValueError."""
        parts = []
        while True:
            found = _KEY_PART.match(self.text, self.at)
            if found is None:
                raise ValueError("a key is missing here")
            parts.append((_unquoted(found[1]), found.start(1)))
            self.at = found.end()
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def _header(self) -> KeyPath:
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        keys = self.key()
        self.at += 2 if is_array else 1
        path: KeyPath = ()
        for number, (part, offset) in enumerate(keys, 1):
            path = (*path, part)
            self.found.setdefault(path, offset)
            if is_array and number == len(keys):
                self._last_index[path] = self._last_index.get(path, -1) + 1
                path = (*path, self._last_index[path])
                self.found[path] = offset
            elif path in self._last_index:
                path = (*path, self._last_index[path])
        return path

    def _pair(self, table: KeyPath) -> None:
        path = table
        for part, offset in self.key():
            path = (*path, part)
            self.found.setdefault(path, offset)
        self._skip(_EQUALS)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        first = self.text[self.at]
        if first == "[":
            self._array(path)
        elif first == "{":
            self._inline_table(path)
        else:
            self._skip(_PLAIN_VALUE)

    def _array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while self._skip_blank() and self.text[self.at] != "]":
            self.found[(*path, index)] = self.at
            self._value((*path, index))
            index += 1
            if self._skip_blank() and self.text[self.at] == ",":
                self.at += 1
        self.at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while self._skip_blank() and self.text[self.at] != "}":
            self._pair(path)
            if self._skip_blank() and self.text[self.at] == ",":
                self.at += 1
        self.at += 1

    def _skip_blank(self) -> bool:
        """Skip blanks, line ends and comments; return whether anything is left."""
        self._skip(_BLANK)
        return self.at < len(self.text)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        if (found := pattern.match(self.text, self.at)) is not None:
            self.at = found.end()


def _unquoted(part: str) -> str:
    if part[0] == '"':
        from tomllib import loads  # 14 ms that plain keys should not pay

        return str(loads(f"key = {part}")["key"])
    return part.strip("'") if part[0] == "'" else part
