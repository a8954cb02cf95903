"""The configuration file as read: its text, its values, and the position of each key."""

import os
import re
import stat
from pathlib import Path
from typing import Any

from hob.config.positions import KeyPath, find_positions
from hob.config.problems import ConfigInvalid, ConfigProblem, FilePlace
from hob.core.translation.language import translatable

FILE_NAME = "config.toml"
_BOM = b"\xef\xbb\xbf"
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class ConfigFile:
    """A file with valid TOML. `text` has plain line ends."""

    def __init__(self, path: Path, text: str, table: dict[str, Any], mode: int) -> None:
        self.path = path
        self.text = text
        self.table = table
        self.mode = mode
        self._positions: dict[KeyPath, tuple[int, int]] | None = None

    @property
    def readable_by_others(self) -> bool:
        """Whether other users may read it."""
        return bool(self.mode & (stat.S_IRGRP | stat.S_IROTH))

    def place(self, path: KeyPath) -> FilePlace:
        """Return the position of this key or of the nearest table above it. Scans on first use."""
        if self._positions is None:
            self._positions = find_positions(self.text)
        for length in range(len(path), 0, -1):
            if path[:length] in self._positions:
                return FilePlace(str(self.path), *self._positions[path[:length]])
        return FilePlace(str(self.path))


def read_file(path: Path) -> ConfigFile | None:
    """Read the file; return None if it does not exist. Raises ConfigInvalid if it is not valid TOML."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            what = "a directory" if stat.S_ISDIR(status.st_mode) else "no regular file"
            raise _invalid(path, translatable("this is {what}; a file is wanted here", what=what))
        data = path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            raise _invalid(path, translatable("this link leads nowhere ({path})", path=os.readlink(path))) from None  # noqa: PTH115
        return None
    except OSError as error:
        raise _invalid(path, translatable("cannot be read: {reason}", reason=error.strerror)) from None
    text = decode(path, data)
    return ConfigFile(path, text, parse(path, text), status.st_mode)


def decode(path: Path, data: bytes) -> str:
    """Return the text of the file, with plain line ends. Raises ConfigInvalid."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _invalid(path, translatable("the file is UTF-16; save it as UTF-8"), 1, 1)
    if data.startswith(_BOM):
        raise _invalid(path, translatable("the file begins with a byte order mark; save it as UTF-8 without one"), 1, 1)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line, column = _position(data[: error.start].decode())
        reason = translatable("the byte 0x{data:02x} is not UTF-8; save the file as UTF-8", data=data[error.start])
        raise _invalid(path, reason, line, column) from None
    if "\0" in text:
        raise _invalid(
            path, translatable("the file holds a NUL byte; is it a text file?"), *_position(text[: text.index("\0")])
        )
    return text.replace("\r\n", "\n")


def parse(path: Path, text: str) -> dict[str, Any]:
    """Parse the text. Raises ConfigInvalid with line and column."""
    from tomllib import loads  # 14 ms that a home without a file should not pay

    try:
        return loads(text)
    except RecursionError:
        raise _invalid(path, translatable("the values are nested too deeply")) from None
    except ValueError as error:  # TOMLDecodeError is one; so is what int() raises for thousands of digits
        message = str(error)
        where = _TOML_PLACE.search(message)
        if where is None:
            raise _invalid(path, message) from None
        line, column = (int(where[1]), int(where[2])) if where[1] else _position(text)
        reason = message[: where.start()].strip()
        if not where[1]:
            reason += "; the file ends too early: a bracket or a quote is not closed"
        raise _invalid(path, reason, line, column) from None


def _position(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _invalid(path: Path, reason: str, line: int = 0, column: int = 0) -> ConfigInvalid:
    return ConfigInvalid([ConfigProblem(reason, place=FilePlace(str(path), line, column))])
