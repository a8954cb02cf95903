"""Where each key of a TOML document stands.

Theory of operation. `tomllib` says what a document holds, not where. This scanner walks a document that tomllib has
already accepted, so it need not check anything: it reads keys, remembers their offsets, and skips values, looking
into arrays and inline tables only for the keys inside. A path is made of keys and, for arrays, of indexes, just as
one would index the parsed document. Format: TOML 1.0 (https://toml.io/en/v1.0.0); the laxer inline tables and the
further escapes of 1.1 are understood too.
"""

from bisect import bisect_right
from contextlib import suppress

from hob.core.translation.language import translatable

KeyPath = tuple[str | int, ...]

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", '"': '"', "\\": "\\"}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}


def find_positions(text: str) -> dict[KeyPath, tuple[int, int]]:
    """Line and column (from 1, in characters) of every key and array element of a valid document."""
    scanner = PositionScanner(text)
    with suppress(RecursionError):  # nested so deeply that tomllib only just managed; the keys before are known
        scanner.document()
    starts = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]
    found: dict[KeyPath, tuple[int, int]] = {}
    for path, offset in scanner.found.items():
        line = bisect_right(starts, offset)
        found[path] = (line, offset - starts[line - 1] + 1)
    return found


def parse_key(text: str) -> tuple[str, ...]:
    """The parts of a dotted key as TOML writes it: `prices."gpt-4.1".input`. Raises ValueError."""
    scanner = PositionScanner(text)
    try:
        parts = tuple(part for part, _ in scanner.key())
    except (IndexError, KeyError, ValueError) as error:
        raise ValueError(translatable("{text} is not a key", text=repr(text))) from error
    if scanner.at != len(text):
        raise ValueError(translatable("{text} is not a key", text=repr(text)))
    return parts


def dotted(path: KeyPath) -> str:
    """The path as TOML would write it; indexes stand in brackets."""
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
        """Read it all."""
        table: KeyPath = ()
        while self._skip_blank():
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def key(self) -> list[tuple[str, int]]:
        """The parts of a dotted key, each with its offset; stops after the blanks that follow it."""
        parts = []
        while True:
            self._skip_spaces()
            start = self.at
            parts.append((self._key_part(), start))
            self._skip_spaces()
            if self._here() != ".":
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
        self.at += 1  # the equals sign
        self._skip_spaces()
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        first = self.text[self.at]
        if first == "[":
            self._array(path)
        elif first == "{":
            self._inline_table(path)
        elif first in "\"'":
            self._skip_string(first)
        else:
            while self._here() not in ("", ",", "]", "}", "#", "\n"):
                self.at += 1

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

    def _key_part(self) -> str:
        first = self._here()
        if first == "'":
            end = self.text.index("'", self.at + 1)
            part = self.text[self.at + 1 : end]
            self.at = end + 1
            return part
        if first == '"':
            return self._basic_key()
        start = self.at
        while self._here() in _BARE:
            self.at += 1
        if start == self.at:
            raise ValueError("a key is missing here")
        return self.text[start : self.at]

    def _basic_key(self) -> str:
        self.at += 1
        part = ""
        while (character := self.text[self.at]) != '"':
            self.at += 1
            if character == "\\":
                escape = self.text[self.at]
                digits = _HEX_DIGITS.get(escape, 0)
                code = self.text[self.at + 1 : self.at + 1 + digits]
                character = chr(int(code, 16)) if digits else _ESCAPES[escape]
                self.at += 1 + digits
            part += character
        self.at += 1
        return part

    def _skip_string(self, quote: str) -> None:
        closing = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        self.at += len(closing)
        while not self.text.startswith(closing, self.at):
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += len(closing)
        if len(closing) == 3:  # one or two quotes may stand right before the closing three
            while self._here() == quote:
                self.at += 1

    def _skip_spaces(self) -> None:
        while self._here() in (" ", "\t"):
            self.at += 1

    def _skip_blank(self) -> bool:
        """Skip blanks, line ends and comments; whether anything is left."""
        while (here := self._here()) and here in " \t\r\n#":
            if here == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                self.at += 1
        return bool(here)

    def _here(self) -> str:
        return self.text[self.at : self.at + 1]
