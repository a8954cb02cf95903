"""Hob's home folder: its layout, its location, and the lock of the process that owns it."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hob.core.errors import HomeInUse, NotReady, StoreFull
from hob.core.translation.language import translatable

PARTS = ("blobs", "secrets", "logs", "backups")
"""The folders of a home."""


def make_home(home: Path) -> None:
    """Create the home (0700) if it is missing. Raises NotReady if it cannot be used."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for part in PARTS:
            (home / part).mkdir(mode=0o700, exist_ok=True)
        if home.stat().st_mode & 0o077:
            home.chmod(0o700)
    except OSError as error:
        raise NotReady(
            translatable(
                "cannot use {home}: {reason}; set HOB_HOME to a directory of yours", home=home, reason=error.strerror
            )
        ) from error


def socket_of(home: Path) -> Path:
    """Return the path of the Unix socket on which the owner of a home listens."""
    return home / "hob.sock"


@contextmanager
def own(home: Path, role: str) -> Iterator[None]:
    """Own the home while the block is open. Raises HomeInUse, which names the holder, and StoreFull.

    The kernel releases the lock when the process dies; the text in the file is for people.
    """
    make_home(home)
    try:
        descriptor = os.open(home / "hob.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreFull(
            translatable(
                "{home} cannot be written: {reason}; make room or make it writable", home=home, reason=error.strerror
            )
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "another process"
            raise HomeInUse(
                translatable("{home} is in use by {holder}", home=home, holder=holder), holder=holder
            ) from None
        try:
            _write_holder(descriptor, role)
        except OSError as error:
            raise StoreFull(
                translatable(
                    "{home} cannot be written: {reason}; make room or make it writable",
                    home=home,
                    reason=error.strerror,
                )
            ) from error
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def holder_of(home: Path) -> str:
    """Return the description that the lock holder gave of itself; empty if the home is free. Changes nothing."""
    try:
        descriptor = os.open(home / "hob.lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        text = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip()
        if not text:  # free; taking the lock could disturb a process that is starting
            return ""
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return text
    except OSError:  # not a regular file
        return ""
    finally:
        os.close(descriptor)
    return ""  # its writer was killed


def _write_holder(descriptor: int, role: str) -> None:
    text = f"hob {role}, pid {os.getpid()}, since {time.strftime('%Y-%m-%d %H:%M:%S')}\n"
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)
