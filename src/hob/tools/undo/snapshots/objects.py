"""Content-addressed storage of file contents by SHA-256."""

import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from io import BufferedRandom
from pathlib import Path

_PIECE = 1024 * 1024
_CLONE = 0x40049409  # FICLONE of ioctl_ficlone(2)


class Damaged(Exception):
    """Raised if stored content is missing or corrupt."""


class ObjectStore:
    """Contents in a folder of Hob's own. They are written by renaming, so existing ones are complete."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: set[str] = set()

    def keep(self, fd: int, size: int) -> str:
        """Store the content of this descriptor; return its SHA-256. Raises OSError."""
        if size > _PIECE:
            return self._keep_large(fd)
        data = os.read(fd, _PIECE + 1)
        if len(data) > _PIECE:  # the file grew meanwhile
            os.lseek(fd, 0, os.SEEK_SET)
            return self._keep_large(fd)
        return self.keep_bytes(data)

    def keep_bytes(self, data: bytes) -> str:
        """Store these bytes; return their SHA-256. Raises OSError."""
        name = hashlib.sha256(data).hexdigest()
        if not self._has(name):
            temporary = self._temporary()
            with create_private(temporary) as file:
                file.write(data)
            self._settle(temporary, name)
        return name

    def load(self, name: str) -> bytes | None:
        """Return stored content; None if it is missing or corrupt."""
        try:
            data = self._path(name).read_bytes()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == name else None

    def copy(self, name: str, fd: int) -> None:
        """Write stored content to this descriptor. Raises Damaged if it is missing or corrupt, and OSError."""
        digest = hashlib.sha256()
        try:
            with self._path(name).open("rb") as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
                    _write_all(fd, piece)
        except FileNotFoundError as error:
            raise Damaged(name) from error
        if digest.hexdigest() != name:
            raise Damaged(name)

    def prune(self, needed: Iterable[str]) -> int:
        """Delete all contents except these; return the number of bytes freed."""
        kept = set(needed)
        freed = 0
        for path in self._folder.glob("??/*"):
            if path.parent.name + path.name not in kept:
                freed += path.stat().st_size
                path.unlink()
        for path in self._folder.glob("new-*"):
            path.unlink()
        self._known.intersection_update(kept)
        return freed

    def _keep_large(self, fd: int) -> str:
        temporary = self._temporary()
        with create_private(temporary) as file:
            try:
                fcntl.ioctl(file, _CLONE, fd)  # shares disk space, if the file system supports it
            except OSError:
                while piece := os.read(fd, _PIECE):
                    file.write(piece)
            file.seek(0)
            name = hashlib.file_digest(file, "sha256").hexdigest()
        if self._has(name):
            temporary.unlink()
        else:
            self._settle(temporary, name)
        return name

    def _has(self, name: str) -> bool:
        if name not in self._known and self._path(name).exists():
            self._known.add(name)
        return name in self._known

    def _settle(self, temporary: Path, name: str) -> None:
        path = self._path(name)
        with suppress(FileExistsError):
            path.parent.mkdir(mode=0o700)
        temporary.rename(path)
        self._known.add(name)

    def _temporary(self) -> Path:
        return self._folder / f"new-{secrets.token_hex(8)}"

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name[2:]


def create_private(path: Path) -> BufferedRandom:
    """Create an empty file that only its owner can access, open for writing and reading. Raises OSError."""
    return open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w+b")  # noqa: PTH123 - a descriptor


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
