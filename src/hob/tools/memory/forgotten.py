"""What was erased of memories and notes, so that no restore brings it back: the turn and the time, not the words."""

import json
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hob.tools.filesystem.line_file import LineFile, sync_folder

MEMORIES = "memories.jsonl"
NOTES = "notes"
KEPT = (MEMORIES, f"{NOTES}/*.json")
"""Where memories and notes are kept in a folder, as patterns."""
_FILE = "forgotten.jsonl"


class Forgotten:
    """A file beside memories and notes. Blocking; called in threads."""

    def __init__(self, folder: Path) -> None:
        self._lines = LineFile(folder / _FILE)
        self._lock = threading.Lock()

    def add(self, values: Iterable[Mapping[str, Any]]) -> None:
        """Memories or notes, as they are kept, that must not come back. Durable when it returns. Raises StoreFull."""
        with self._lock:
            for turn, at in sorted({_stone(value) for value in values} - self._all()):
                self._lines.append({"turn": turn, "at": at})

    def screen(self, restored: Path) -> None:
        """Take out of a folder of restored memories and notes what was erased here since. Raises OSError."""
        stones = self._all()
        LineFile(restored / MEMORIES).keep(lambda line: _stone(line) not in stones)
        for note in tuple((restored / NOTES).glob("*.json")):
            if _stone(_read(note)) in stones:
                note.unlink()
                sync_folder(note.parent)

    def _all(self) -> set[tuple[str, float]]:
        return {_stone(line) for line in self._lines.load()}


def _stone(value: Mapping[str, Any]) -> tuple[str, float]:
    """By which one of them is known again: the turn that wrote it, and when (to the microsecond)."""
    turn = value.get("turn") or str(value.get("source", "")).rpartition(", ")[2]
    at = value.get("at")
    return str(turn), float(at) if isinstance(at, int | float) else 0.0


def _read(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
