"""Values in a file, a line of JSON each, added at its end. Blocking; called in threads."""

import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hob.core.errors import StoreFull


class LineFile:
    """A file of lines, each on disk when `append` returns.

    A line that a crash cut short was never promised to anybody: it is passed over, and ended before the next one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def append(self, value: Mapping[str, Any]) -> None:
        """Keep it. Raises StoreFull where that is not possible."""
        line = json.dumps(value, separators=(",", ":")).encode()
        try:
            with self._lock:
                append_line(self._path, line)
        except OSError as error:
            raise StoreFull(f"{self._path} cannot be written: {error.strerror or error}.") from error

    def load(self) -> list[dict[str, Any]]:
        """All of them, in their order; none where there is no file. Raises OSError."""
        try:
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        return [value for value in map(_value, lines) if value is not None]

    def keep(self, wanted: Callable[[dict[str, Any]], bool]) -> int:
        """Drop all other lines, for good; how many there were. Raises OSError."""
        with self._lock:
            found = self.load()
            kept = [value for value in found if wanted(value)]
            if len(kept) < len(found):
                lines = b"".join(json.dumps(value, separators=(",", ":")).encode() + b"\n" for value in kept)
                replace_file(self._path, lines)
        return len(found) - len(kept)


def replace_file(path: Path, data: bytes) -> None:
    """Put this in the place of a file, all of it or nothing; durable when it returns. Raises OSError."""
    part = path.with_name(f"{path.name}.part")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(handle)
    part.replace(path)
    sync_folder(path.parent)


def append_line(path: Path, line: bytes) -> None:
    """Add a line, given without its end; it is on disk when this returns. Raises OSError."""
    line += b"\n"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            line = b"\n" + line
        while line:
            line = line[os.write(handle, line) :]
        os.fsync(handle)
    finally:
        os.close(handle)
    if not size:
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _value(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
