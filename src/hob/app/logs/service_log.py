"""The log of a launchd service (its standard error): the largest one, cut by Hob."""

import os
from pathlib import Path

NAME = "service.log"
MAX_BYTES = 5_000_000


def trim_service_log(file: Path, maximum: int = MAX_BYTES) -> None:
    """Keep its newest whole lines, half of what it may hold, once it holds more than `most` bytes. Raises OSError.

    In its place, since its writer has it open, at its end. A line that is written meanwhile may be lost.
    """
    try:
        handle = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    with os.fdopen(handle, "r+b") as opened:
        size = os.fstat(handle).st_size
        if size <= maximum:
            return
        opened.seek(size - maximum // 2)
        opened.readline()  # the rest of a line
        kept = opened.read()
        opened.truncate(0)
        opened.seek(0)
        opened.write(kept)
