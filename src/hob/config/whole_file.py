"""Atomic writing of files."""

import os
from collections.abc import Callable
from pathlib import Path


def write_whole(path: Path, data: bytes, mode: int = 0o600, ready: Callable[[], None] = lambda: None) -> None:
    """Write a file atomically and durably, and never readable by others meanwhile; a missing folder is created.

    `ready` is called before the file is put in place, and may raise. Raises OSError. On failure nothing has changed.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        ready()
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
