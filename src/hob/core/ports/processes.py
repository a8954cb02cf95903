"""Port for the processes that Hob starts, so that none outlives it."""

from pathlib import Path
from typing import Protocol


class ProcessRecords(Protocol):
    """Persistent list of child processes, so that the next Hob can end any that outlived this one."""

    def add(self, pid: int, folder: Path | None = None) -> None:
        """Add a process that leads its own process group and belongs to this folder. Never raises."""

    def remove(self, pid: int) -> None:
        """Remove a process that has ended. Never raises."""
