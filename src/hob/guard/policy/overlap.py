"""Whether a text repeats a passage of another: a net under mishaps, since words can always be put differently."""

import re
from functools import lru_cache

_WORD = re.compile(r"\w+")
_RUN = 6  # words in a row that are no coincidence


def shares(text: str, private: str) -> bool:
    """Whether some words in a row, or a whole short private text, stand in both; case and marks count for nothing."""
    passages = _passages(private)
    return bool(passages) and not passages.isdisjoint(_runs(text, len(next(iter(passages)))))


@lru_cache(maxsize=64)
def _passages(private: str) -> frozenset[tuple[str, ...]]:
    words = len(_WORD.findall(private))
    return frozenset(_runs(private, min(_RUN, words))) if words >= 3 else frozenset()


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = [found.casefold() for found in _WORD.findall(text)]
    return {tuple(words[n : n + length]) for n in range(len(words) - length + 1)}
