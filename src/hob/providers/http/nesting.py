"""How deeply JSON is nested. What can just be read may be too deep to be written again, inside of something else."""

from typing import Any

MOST_DEPTH = 100
"""Levels; Python reads and writes several hundred, fewer the deeper it stands itself."""


def is_deep(value: Any, text: str) -> bool:
    """Whether the value, which was read from this text, is nested deeper than `MOST_DEPTH`."""
    if text.count("{") + text.count("[") <= MOST_DEPTH:  # nearly always
        return False
    level, depth = [value], 0
    while level:
        if depth > MOST_DEPTH:
            return True
        depth += 1
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return False
