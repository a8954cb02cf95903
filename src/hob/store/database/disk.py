"""The database's files on disk: fsync, moved with their `-wal` and `-shm`, private, free space."""

import os
import shutil
from datetime import datetime
from pathlib import Path

SIDES = ("-wal", "-shm")


def sync(path: Path) -> None:
    """Make a file's bytes durable, or the names in a directory."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def stamp(now: datetime) -> str:
    """A time as part of a file name, in order when sorted."""
    return now.strftime("%Y%m%dT%H%M%SZ")


def free_name(wanted: Path) -> Path:
    """The path, or the path with the first number that makes it new."""
    path, number = wanted, 1
    while path.exists():
        number += 1
        path = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
    return path


def move_database(path: Path, goal: Path) -> Path:
    """Rename a database and its side files; the new path."""
    goal = free_name(goal)
    for side in ("", *SIDES):
        part = path.with_name(path.name + side)
        if part.exists():
            part.rename(goal.with_name(goal.name + side))
    sync(path.parent)
    return goal


def drop_database(path: Path) -> None:
    """Delete a database and its side files, as far as they are there."""
    for side in ("", *SIDES, "-journal"):
        path.with_name(path.name + side).unlink(missing_ok=True)


def make_private(path: Path) -> None:
    """Create the file if it is not there; only its owner may read it."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


def free_bytes(path: Path) -> int:
    """How much may still be written beside this path."""
    return shutil.disk_usage(path).free
