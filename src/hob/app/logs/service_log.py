"""The log of a launchd service (its standard error), trimmed by Hob."""

import os
from pathlib import Path

NAME = "service.log"
MAX_BYTES = 5_000_000


def trim_service_log(file: Path, maximum: int = MAX_BYTES) -> None:
    """Trim a log larger than `maximum` bytes to its newest whole lines, half of that. Raises OSError.

    Trimmed in place, since its writer has it open for appending. A line written meanwhile may be lost.
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
