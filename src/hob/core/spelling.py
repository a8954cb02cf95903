"""Suggestions for misspelled names."""

from collections.abc import Iterable


def close_names(word: str, known: Iterable[str], maximum: int = 3, likeness: float = 0.6) -> list[str]:
    """Return the known names most similar to this one, best first."""
    from difflib import get_close_matches  # needed only after a mistake

    return get_close_matches(word, list(known), maximum, likeness)
