"""The port for programs that Hob starts, so that none outlives it."""

from pathlib import Path
from typing import Protocol


class ProcessRecords(Protocol):
    """Where the processes of a Hob are written down, so that the next one ends those that have outlived it."""

    def add(self, pid: int, folder: Path | None = None) -> None:
        """It leads a process group of its own, and goes with this folder. Never raises."""

    def remove(self, pid: int) -> None:
        """It has ended. Never raises."""
