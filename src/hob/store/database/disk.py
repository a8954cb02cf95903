"""The database's files on disk: fsync, moving with `-wal` and `-shm`, permissions, free space."""

import os
import shutil
from datetime import datetime
from pathlib import Path

SIDES = ("-wal", "-shm")


def sync(path: Path) -> None:
    """Flush a file's bytes, or a directory's names, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def stamp(now: datetime) -> str:
    """Return a time as part of a file name; names sort by time."""
    return now.strftime("%Y%m%dT%H%M%SZ")


def free_name(wanted: Path) -> Path:
    """Return the path, or the path with the lowest number that makes it unused."""
    path, number = wanted, 1
    while path.exists():
        number += 1
        path = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
    return path


def move_database(path: Path, goal: Path) -> Path:
    """Rename a database and its side files; return the new path."""
    goal = free_name(goal)
    for side in ("", *SIDES):
        part = path.with_name(path.name + side)
        if part.exists():
            part.rename(goal.with_name(goal.name + side))
    sync(path.parent)
    return goal


def drop_database(path: Path) -> None:
    """Delete a database and its side files, if present."""
    for side in ("", *SIDES, "-journal"):
        path.with_name(path.name + side).unlink(missing_ok=True)


def drop_unfinished(path: Path) -> None:
    """Delete what a killed restore, upgrade or backup left: its copy, and its second name for this database.

    The caller owns the home.
    """
    backups = path.parent / "backups"
    for copy in (".restoring", ".upgrading"):
        drop_database(path.with_name(path.name + copy))
    for part in (*backups.glob("before-*.part"), *backups.glob(".*.part")):
        drop_database(part)
    for name in (*path.parent.glob(f"{path.name}.before-restore-*"), *backups.glob("before-*.db")):
        if path.exists() and name.samefile(path):
            name.unlink()


def make_private(path: Path) -> None:
    """Create the file if it does not exist; only its owner may read it."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


def free_bytes(path: Path) -> int:
    """Return the free bytes on the disk of this path."""
    return shutil.disk_usage(path).free
