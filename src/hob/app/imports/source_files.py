"""Reading another assistant's files: regular files below one folder, never through a link, with size limits."""

import os
import stat
from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from hob.core.content.json_text import parse_json, parse_json_object
from hob.core.errors import HobError
from hob.core.translation.language import translatable

MAX_JSON = 16_000_000
MAX_JSON5 = 1_000_000
"""Size limit in bytes: JSON5 parses at a tenth of a megabyte per second, and settings files are far smaller."""
MAX_LINE = 16_000_000
MAX_CHARS = 400_000
"""Maximum characters of one message."""
MAX_ARGUMENTS = 20_000
"""Maximum characters of one call's arguments."""
MAX_CALLS = 50
"""Maximum calls of one message."""

_PIECE = 1_000_000
_NEWEST = 4_102_444_800.0  # the year 2100
_CUT = "\n[… cut when it was imported]"

Object = Mapping[str, Any]


class Unreadable(HobError):
    """It cannot be read."""


def open_plain(path: Path, root: Path) -> int:
    """Open a regular file below the resolved root. Return its descriptor.

    Raises Unreadable for links, pipes and missing files.
    """
    try:
        if path.resolve(strict=True) != path or not path.is_relative_to(root):
            raise Unreadable(translatable("it is a link, or is behind one; links are not followed"))
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise Unreadable(translatable("it is not a regular file"))
    except (OSError, ValueError, RuntimeError) as error:
        raise Unreadable(
            translatable("it cannot be read: {reason}", reason=getattr(error, "strerror", None) or error)
        ) from error
    return descriptor


def read_bytes(path: Path, root: Path, maximum: int) -> bytes:
    """Return a file's bytes. Raises Unreadable, also for more than `maximum`."""
    with os.fdopen(open_plain(path, root), "rb") as file:
        try:
            data = file.read(maximum + 1)
        except OSError as error:
            raise Unreadable(translatable("it cannot be read: {reason}", reason=error.strerror)) from error
    if len(data) > maximum:
        raise Unreadable(translatable("it is larger than {maximum:,} bytes", maximum=maximum))
    return data


def read_object(path: Path, root: Path) -> Object:
    """Return the object in a JSON or JSON5 file. Raises Unreadable."""
    try:
        text = read_bytes(path, root, MAX_JSON).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(translatable("it is not UTF-8 text")) from error
    found = parse_json(text) or _read_json5(text)
    if not isinstance(found, dict):
        raise Unreadable(translatable("it contains no JSON object"))
    return found


def _read_json5(text: str) -> Any:
    if len(text) > MAX_JSON5:
        raise Unreadable(
            translatable(
                "it is not JSON, and too large to be read as JSON5 (more than {maximum:,} characters)",
                maximum=MAX_JSON5,
            )
        )
    loads = import_module("json5").loads  # loaded only for files that are not plain JSON
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(translatable("it is neither JSON nor JSON5")) from error


def read_lines(path: Path, root: Path) -> Iterator[bytes | None]:
    """Yield the lines of a file of any size; None stands for a line that is too long. Raises Unreadable."""
    with os.fdopen(open_plain(path, root), "rb") as file:
        try:
            while line := file.readline(MAX_LINE):
                if len(line) == MAX_LINE and not line.endswith(b"\n"):
                    while (rest := file.readline(_PIECE)) and not rest.endswith(b"\n"):
                        pass
                    yield None
                elif line.strip():
                    yield line
        except OSError as error:
            raise Unreadable(translatable("it cannot be read to its end: {reason}", reason=error.strerror)) from error


def parse(line: object) -> Object | None:
    """Return the object of a line, or None."""
    return parse_json_object(line) if isinstance(line, str | bytes) else None


def text_of(value: object, maximum: int = MAX_CHARS) -> str:
    """Return a text as valid Unicode, cut to `maximum`; empty if the value is not a text."""
    if not isinstance(value, str):
        return ""
    text = value if len(value) <= maximum else value[: maximum - len(_CUT)] + _CUT
    return text.encode("utf-8", "replace").decode()


def time_of(value: object) -> float | None:
    """Return the Unix seconds of a number (or milliseconds) or ISO 8601 text (local without a zone), or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if not 0 < value < 1000 * _NEWEST:  # a huge integer could not be divided
            return None
        seconds = value / 1000 if value > _NEWEST else float(value)
        return seconds if 0 < seconds < _NEWEST else None
    if isinstance(value, str) and len(value) <= 40:
        try:
            seconds = datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
        return seconds if 0 < seconds < _NEWEST else None
    return None


def inner(value: object, *path: str) -> Any:
    """Return the value at this path of nested objects, or None."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def object_at(value: object, *path: str) -> Object:
    """Return the object at this path, or an empty one."""
    found = inner(value, *path)
    return found if isinstance(found, Mapping) else {}
