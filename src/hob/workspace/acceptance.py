"""Accepted contents of identity files, recorded in a small file in the home, outside the workspace.

Anything that can write into the workspace (a tool, another program, a `git pull`) can write instructions for Hob. So a
file is followed only while its SHA-256 equals the last accepted one. Accepted contents are kept, so that a change can
be shown and reverted.
"""

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path

from hob.core.ids import digest

log = logging.getLogger(__name__)

FILE = "accepted-files.json"
"""Name of the record in the home."""
KEPT = "accepted-files"
"""Folder in the home with the accepted contents."""


class AcceptedFiles:
    """The accepted hash of each file. Changes by other processes are noticed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._name = str(path)
        self._kept = path.with_name(KEPT)
        self._stamp: tuple[int, ...] | None = None
        self._hashes: Mapping[str, str] = {}

    @property
    def known(self) -> bool:
        """Whether there is a record, even one without accepted files."""
        return self._path.exists()

    @property
    def any(self) -> bool:
        """Whether any file was ever accepted."""
        return bool(self._read())

    def stamp(self) -> tuple[int, ...] | None:
        """A value that changes with the accepted hashes; None if there is no record."""
        try:
            found = os.stat(self._name)  # noqa: PTH116  # asked for every file: a Path costs more than the call
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino)

    def accepts(self, name: str, hash_: str) -> bool:
        """Whether this content of the file was accepted last. An unreadable record accepts nothing."""
        stamp = self.stamp()
        if stamp is not None and stamp != self._stamp:
            self._hashes, self._stamp = self._read(), stamp
        return self._hashes.get(name) == hash_

    def accept(self, hashes: Mapping[str, str]) -> None:
        """Accept these hashes, in place of earlier ones of the same files. On disk on return.

        Raises OSError.
        """
        self._hashes = {**self._read(), **hashes}
        self._stamp = None
        self._write()
        self._stamp = self.stamp()

    def keep(self, name: str, data: bytes) -> None:
        """Keep this accepted content of a file. A failure does not affect its acceptance."""
        if self.kept(name) is not None:
            return
        try:
            write_private(self._kept / name, data)
        except OSError as error:
            log.warning("what is accepted of %s cannot be kept: %s", name, error)

    def kept(self, name: str) -> bytes | None:
        """Return the content that was accepted last; None if it was not kept."""
        try:
            with open(f"{self._kept}/{name}", "rb") as file:  # noqa: PTH123
                data = file.read()
        except OSError:
            return None
        return data if self.accepts(name, digest(data)) else None

    def _read(self) -> Mapping[str, str]:
        try:
            value = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            log.warning("%s cannot be read (%s): no identity file is trusted; see `hob accept`", self._path, error)
            return {}
        return value if isinstance(value, dict) else {}

    def _write(self) -> None:
        write_private(self._path, json.dumps(self._hashes, indent=1, sort_keys=True).encode())


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only the owner can read, atomically. On disk on return.

    Raises OSError.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
