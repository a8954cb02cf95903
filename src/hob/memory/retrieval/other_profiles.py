"""`memory.profile`: joining what words and what meaning find as OpenClaw and Kendra do (`ranking` has Hob's own way).

Hob's own adds the nearness in meaning to all else that speaks for an item (`ranking`). The others look at the two lists
alone; they serve who moves here and wants to compare.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Profile(StrEnum):
    """Whose way of joining words and meaning."""

    HOB = "hob"
    RRF = "rrf"
    """Reciprocal ranks, k = 60, meaning 0.7 and words 0.3 (Kendra)."""
    WEIGHTED = "weighted"
    """0.7 of the cosine and 0.3 of the words' rank, nothing below 0.35 (OpenClaw)."""


_K = 60
_MEANING, _WORDS = 0.7, 0.3
_MIN = 0.35


def reciprocal_ranks(by_words: Sequence[int], by_meaning: Sequence[int]) -> dict[int, float]:
    """The score of each item of two lists, the best of each first."""
    scores: dict[int, float] = {}
    for share, ranked in ((_WORDS, by_words), (_MEANING, by_meaning)):
        for rank, seq in enumerate(ranked, 1):
            scores[seq] = scores.get(seq, 0.0) + share / (_K + rank)
    return scores


def weighted(by_words: Sequence[int], cosines: Mapping[int, float]) -> dict[int, float]:
    """The score of each item; without any meaning to compare the words alone count."""
    texts = {seq: 1 / rank for rank, seq in enumerate(by_words, 1)}
    if not cosines:
        return texts
    scores = {
        seq: _MEANING * max(0.0, cosines.get(seq, 0.0)) + _WORDS * texts.get(seq, 0.0) for seq in {*texts, *cosines}
    }
    return {seq: score for seq, score in scores.items() if score >= _MIN}
