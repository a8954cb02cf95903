"""Lexical search (BM25) under a budget of postings.

Words are read rarest first until the budget is spent, so that a search costs about the same in a memory of a thousand
items as in one of a million.
"""

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from hob.core.values import dataclass
from hob.store.memory.index import ANALYZER
from hob.store.memory.search import Matches, ScopedIndex, SearchEntry

K1, B = 1.2, 0.75
BUDGET = 5_000
"""Maximum postings read for a question."""
BASE = 150
"""Number of items that are selected by their words for the later stages."""
_SAMPLE_STEP = 8
_RARE_ITEMS, _MAX_COMPOUNDS = 50, 20
"""A German word in at most `_RARE_ITEMS` items also matches up to `_MAX_COMPOUNDS` compounds that begin with it."""

Accept = Callable[[SearchEntry], bool]


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of the question, and the BM25 weight of each item that contains it."""

    stems: tuple[str, ...]
    idf: float
    weights: Mapping[int, float]
    whole: bool
    """Whether all of its postings were read. If not, it is too common."""

    @property
    def tells(self) -> bool:
        """Whether it is more than a digit or a letter."""
        return len(self.stems[0]) > 1 or not self.stems[0].isascii()


@dataclass(slots=True)
class Found:
    """The best items by their words."""

    words: Sequence[QueryWord]
    unknown: int
    """Number of further words of the question that no item contains."""
    scores: dict[int, float]
    entries: dict[int, SearchEntry]


def find_by_words(index: ScopedIndex, question: str, accept: Accept) -> Found:
    """Return the best accepted items that contain words of the question."""
    concepts = ANALYZER.concepts(question)
    words = _read_words(index, concepts, ANALYZER.beginnings(question))
    scores: dict[int, float] = {}
    for word in words:
        both = {seq: scores[seq] + word.weights[seq] for seq in scores.keys() & word.weights.keys()}
        scores |= word.weights
        scores |= both
    found = Found(words, len(concepts) - len(words), {}, {})
    left: Mapping[int, float] = scores
    while left and len(found.entries) < BASE:
        some = _select_best(left, BASE)
        for seq, entry in index.entries(some).items():
            if accept(entry):
                found.scores[seq], found.entries[seq] = scores[seq], entry
        taken = set(some)
        left = {seq: score for seq, score in left.items() if seq not in taken} if len(found.entries) < BASE else {}
    _add_common(found)
    return found


def _select_best(scores: Mapping[int, float], count: int) -> list[int]:
    """Return the best-scored rows, best first. The cut-off is estimated from a sample of the scores."""
    some = sorted(islice(scores.values(), None, None, _SAMPLE_STEP), reverse=True)
    minimum = some[min(len(some) - 1, 2 * count // _SAMPLE_STEP)]
    good = [seq for seq, score in scores.items() if score >= minimum] if len(scores) > 4 * count else list(scores)
    if len(good) < min(count, len(scores)):
        return heapq.nlargest(count, scores, key=scores.__getitem__)
    return sorted(good, key=scores.__getitem__, reverse=True)[:count]


def _read_words(
    index: ScopedIndex, concepts: Sequence[tuple[str, ...]], beginnings: Mapping[tuple[str, ...], str]
) -> list[QueryWord]:
    sizes = index.sizes(stem for stems in concepts for stem in stems)
    known = []
    for stems in concepts:
        size = sum(sizes.get(stem, 0) for stem in stems)
        if stems in beginnings and size <= _RARE_ITEMS:
            longer = index.beginning(beginnings[stems], _MAX_COMPOUNDS)
            stems, size = tuple(dict.fromkeys((*stems, *longer))), size + sum(longer.values())
            sizes |= dict.fromkeys(longer, size)  # as rare as the word itself
        known.append((size, stems))
    left = BUDGET
    words: list[QueryWord] = []
    for size, stems in sorted(each for each in known if each[0]):
        if left <= 0 or (words and size > left):
            stems = tuple(stem for stem in stems if stem in sizes)
            words.append(QueryWord(stems, math.log(1 + (index.size - size + 0.5) / (size + 0.5)), {}, whole=False))
            continue
        found = [index.matches(stem, sizes[stem], left, K1, B) for stem in stems if stem in sizes]
        left -= sum(len(each.weights) for each in found)
        words.append(
            QueryWord(stems, max(each.idf for each in found), _merge(found), all(each.whole for each in found))
        )
    return words


def _merge(found: Sequence[Matches]) -> Mapping[int, float]:
    weights = found[0].weights
    for each in found[1:]:
        others = each.weights
        both = {seq: max(weights[seq], others[seq]) for seq in weights.keys() & others.keys()}
        weights = {**weights, **others, **both}
    return weights


def _add_common(found: Found) -> None:
    """Add the weight of words that are too common to be read in full to the items found by other words."""
    common = [word for word in found.words if not word.whole]
    held = {seq: f" {entry.stems} " for seq, entry in found.entries.items()} if common else {}
    for word in common:
        asked = [f" {stem} " for stem in word.stems]
        holding = {seq for stem in asked for seq, stems in held.items() if stem in stems}
        for seq in holding - word.weights.keys():
            found.scores[seq] += word.idf
