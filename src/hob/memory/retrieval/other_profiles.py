"""Alternative values of `memory.profile`: the lexical-dense fusion of OpenClaw and of Kendra.

They use only the two result lists, while Hob's own profile adds the dense score to all other features (`ranking`). They
exist for comparison, for people who move to Hob.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Profile(StrEnum):
    """How lexical and dense results are combined."""

    HOB = "hob"
    RRF = "rrf"
    """Reciprocal ranks, k = 60, dense 0.7 and lexical 0.3 (Kendra)."""
    WEIGHTED = "weighted"
    """0.7 of the cosine plus 0.3 of the lexical rank, at least 0.35 (OpenClaw)."""


_K = 60
_MEANING, _WORDS = 0.7, 0.3
_MIN = 0.35


def reciprocal_ranks(by_words: Sequence[int], by_meaning: Sequence[int]) -> dict[int, float]:
    """Return the fused score of each item from two lists, both best first."""
    scores: dict[int, float] = {}
    for share, ranked in ((_WORDS, by_words), (_MEANING, by_meaning)):
        for rank, seq in enumerate(ranked, 1):
            scores[seq] = scores.get(seq, 0.0) + share / (_K + rank)
    return scores


def weighted(by_words: Sequence[int], cosines: Mapping[int, float]) -> dict[int, float]:
    """Return the fused score of each item, or the lexical ranks alone if there are no cosines."""
    texts = {seq: 1 / rank for rank, seq in enumerate(by_words, 1)}
    if not cosines:
        return texts
    scores = {
        seq: _MEANING * max(0.0, cosines.get(seq, 0.0)) + _WORDS * texts.get(seq, 0.0) for seq in {*texts, *cosines}
    }
    return {seq: score for seq, score in scores.items() if score >= _MIN}
