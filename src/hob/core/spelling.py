"""Suggesting the nearest known name for one that is not known."""

from collections.abc import Iterable


def close_names(word: str, known: Iterable[str], maximum: int = 3, likeness: float = 0.6) -> list[str]:
    """The known names that are most like this one, the most like first."""
    from difflib import get_close_matches  # only a mistake needs it

    return get_close_matches(word, list(known), maximum, likeness)
