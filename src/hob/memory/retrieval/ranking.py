"""Ranking by words, meaning, time, speaker and context.

The answer to a question rarely repeats its words: it is next to them, in a session about them, said by the person whom
the question names, and is not a question itself. docs/explanation/recall.md lists the contribution of each of these
rules.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from hob.core.memory import Layer
from hob.memory.retrieval.dense import NearItems
from hob.memory.retrieval.lexical import K1, Accept, B, Found
from hob.memory.retrieval.query import Query
from hob.store.memory.analysis import Kind, words_of
from hob.store.memory.search import ScopedIndex, SearchEntry

_BEFORE_1, _AFTER_1, _AFTER_2 = 0.3, 0.5, 0.3
"""Share of its score that an item lends to the one before it, and to the first and second after it."""
_ANSWER_SHARE = 0.3
"""Additional share that a question lends to the item after it."""
_SHORT_WORDS = 20
"""Items of at most this many words lend their full share."""
_ASSISTANT_FACTOR = 0.6
_TOP_OF_SESSION = 3
_WORDS_WEIGHT = 0.5
"""Weight of the lexical score of an item and its neighbours, scaled so that the best one has 1."""
_MEANING_WEIGHT = 0.6
_UNRELATED_COSINE = 0.1
"""Cosine of unrelated texts."""
_MEANING_BEFORE, _MEANING_AFTER = 0.2, 0.1
"""Share of its nearness that an item lends to the one before it and to the one after it."""
_MAX_LENDERS = 60
"""Number of best lexical matches, and of nearest items, that lend to their neighbours."""
_RECENCY_WEIGHT = 0.01
_MIN_CANDIDATES = 50
"""Minimum number of candidates scored by every rule; more for more wanted results, twice their number."""
_MAX_MEANING_ONLY = 100
"""Maximum number of nearest items that need not share a word with the question."""
_HALF_LIVES = {"preference": 365.0, "fact": 180.0}
"""Half-lives in days, by kind."""
_HALF_LIFE = 30.0
_CONTINUOUS_LAYERS = frozenset({Layer.CONVERSATION, Layer.TOOL, Layer.GROUP, Layer.DOCUMENT})
"""Layers whose items continue each other, unlike facts."""
_EVERGREEN_LAYERS = frozenset({Layer.SOUL, Layer.DOCUMENT})
_SECONDS_BEFORE, _SECONDS_AFTER = 3 * 86_400.0, 7 * 86_400.0
_MANY_WORDS = 6
"""Number of words that count as the whole of a longer question, if no item contains most of them."""
_FEW_DAYS = 31
_MAX_OF_DAYS = 1_000
_DAY_WEIGHT, _MIN_DAY_WEIGHT = 0.06, 0.03
"""Weight of a matching date, higher for a shorter period (a day 0.35, a month 0.15), and its minimum."""


class Candidate(NamedTuple):
    """An item that may help, with its score by rule."""

    entry: SearchEntry
    parts: Mapping[str, float]
    score: float
    share: float = 1.0
    """Share of the question contained in the item and its neighbours; 1 if unknown."""

    def with_part(self, name: str, part: float) -> "Candidate":
        """Return a copy with one more part of the score."""
        return self._replace(parts={**self.parts, name: part}, score=self.score + part)

    def order(self) -> tuple[float, int]:
        """Sort key: best first, and the newest of equals."""
        return -round(self.score, 6), -self.entry.seq


def rank(
    index: ScopedIndex, query: Query, found: Found, accept: Accept, nearest: NearItems, wanted: int
) -> list[Candidate]:
    """Rank the lexical and dense matches, and the neighbours of the lexical ones, best first."""
    cosines = nearest.cosines
    lenders = (seq for seq, entry in found.entries.items() if entry.layer in _CONTINUOUS_LAYERS)
    lexical = sorted(lenders, key=found.scores.__getitem__, reverse=True)[:_MAX_LENDERS]
    near = index.neighbours({*lexical, *heapq.nlargest(_MAX_LENDERS, cosines, key=cosines.__getitem__)})
    others = {seq for lender in lexical for seq in near.get(lender, ()) if seq} - found.entries.keys()
    meant = set(heapq.nlargest(_MAX_MEANING_ONLY, cosines, key=cosines.__getitem__)) - found.entries.keys()
    for start, end, days in query.spans:
        if days <= _FEW_DAYS:
            meant.update(set(index.between(start, end, _MAX_MEANING_ONLY)) - found.entries.keys())
    entries = found.entries | {
        seq: entry
        for seq, entry in index.entries(others | meant).items()
        if accept(entry) and (entry.layer in _CONTINUOUS_LAYERS or seq in meant)
    }
    return _Ranking(index, query, found, entries, near).best(nearest, max(_MIN_CANDIDATES, 2 * wanted))


def rank_days(index: ScopedIndex, query: Query, accept: Accept) -> list[Candidate]:
    """Return what happened on the given days: people's words before answers and documents, newest first."""
    found = {}
    for start, end, _ in query.spans:
        entries = index.entries(index.between(start, end, _MAX_OF_DAYS))
        length = end - start
        for seq, entry in entries.items():
            if accept(entry) and entry.layer != Layer.SOUL:
                parts = {
                    "day": 0.9 if entry.layer in _EVERGREEN_LAYERS else 1.0,
                    "recency": 0.1 * (entry.at - start) / length,
                    "importance": 0.1 * (entry.importance - 0.5),
                    "assistant": -0.2 if _is_assistants(entry) else 0.0,
                    "bare question": -0.2 if entry.kind & Kind.BARE_QUESTION else 0.0,
                }
                parts = {name: part for name, part in parts.items() if part}
                found[seq] = Candidate(entry, parts, sum(parts.values()))
    return sorted(found.values(), key=Candidate.order)


class _Ranking:
    def __init__(
        self,
        index: ScopedIndex,
        query: Query,
        found: Found,
        entries: Mapping[int, SearchEntry],
        near: Mapping[int, tuple[int, ...]],
    ) -> None:
        self._query = query
        self._near = near
        self._words = found.words
        self._unknown = found.unknown
        self._entries = entries
        self._held = held = dict.fromkeys(entries, 0)
        """The question's words that each item contains, as a bit mask."""
        self._scores = scores = dict.fromkeys(entries, 0.0) | found.scores
        others = entries.keys() - found.scores.keys()
        for bit, word in enumerate(found.words):
            mask, weights = 1 << bit, word.weights
            for seq in entries.keys() & weights.keys():
                held[seq] |= mask
            for seq in weights.keys() & others:
                scores[seq] += weights[seq]
        self._around = dict(self._held)
        """The same for each item together with its direct neighbours."""
        self._spread(found)
        self._sessions = self._weigh_sessions(index)

    def _spread(self, found: Found) -> None:
        """Lend scores of matches to their neighbours."""
        scores, entries, held = self._scores, self._entries, self._held
        for seq, around in self._near.items():
            if seq not in found.scores:
                continue
            entry = entries[seq]
            lent = found.scores[seq] * min(1.0, _SHORT_WORDS / max(1, entry.length))
            after = _AFTER_1 + (_ANSWER_SHARE if entry.kind & Kind.QUESTION else 0.0)
            before, after_it, second = around
            if before in entries:
                scores[before] += _BEFORE_1 * lent
                self._around[before] |= held[seq]
            if after_it in entries:
                scores[after_it] += after * lent
                self._around[after_it] |= held[seq]
            if second in entries:
                scores[second] += _AFTER_2 * lent
        for seq, entry in entries.items():
            if entry.role == "assistant" and _is_assistants(entry):
                scores[seq] *= _ASSISTANT_FACTOR
        self._scores = _normalise(scores)

    def _weigh_sessions(self, index: ScopedIndex) -> dict[int, float]:
        """Score each session by BM25 over its words as a whole, and by its best items."""
        held, scores = self._held, self._scores
        members: defaultdict[int, list[float]] = defaultdict(list)
        masks: dict[int, int] = {}
        several: defaultdict[int, list[int]] = defaultdict(list)
        for seq, entry in self._entries.items():
            if session := entry.session:
                members[session].append(scores[seq])
                if mask := held[seq]:
                    if session in masks:
                        several[session] = several.get(session) or [masks[session]]
                        several[session].append(mask)
                        masks[session] |= mask
                    else:
                        masks[session] = mask
        often: defaultdict[int, int] = defaultdict(int)
        for mask, count in Counter(masks.values()).items():
            for bit in _split_bits(mask):
                often[bit] += count
        idf = {bit: math.log(1 + (index.sessions - some + 0.5) / (some + 0.5)) for bit, some in often.items()}
        once = {mask: sum([idf[bit] for bit in _split_bits(mask)]) * (K1 + 1) for mask in {*masks.values()}}
        weights = dict.fromkeys(members, 0.0)
        even, by_length = K1 * (1 - B), K1 * B / (index.session_mean or 1.0)
        for session, size in index.session_sizes(masks).items():
            norm = even + by_length * size
            if session in several:
                times = _count_bits(several[session])
                weights[session] = sum([idf[bit] * some * (K1 + 1) / (some + norm) for bit, some in times.items()])
            else:
                weights[session] = once[masks[session]] / (1 + norm)
        tops = _normalise(
            {
                session: sum(best if len(best) <= _TOP_OF_SESSION else sorted(best)[-_TOP_OF_SESSION:])
                for session, best in members.items()
            }
        )
        return {session: 0.3 * weight + 0.05 * tops[session] for session, weight in _normalise(weights).items()}

    def best(self, nearest: NearItems, maximum: int) -> list[Candidate]:
        """Return at most `maximum` of the best items, with the parts of their scores."""
        speaker, cosines = self._speaker_in_query(), nearest.cosines
        meaning = _scale_cosines(cosines)
        if meaning:  # an item that waits for its vector counts as near as its words are
            meaning |= {seq: self._scores[seq] for seq in self._entries if seq > nearest.last}
            meaning |= self._lend_meaning(meaning)
        mass = sum(word.idf for word in self._words) or 1.0
        scores, sessions, kinds = self._scores, self._sessions, self._kind_sums()
        rough = {
            seq: _WORDS_WEIGHT * scores[seq] + sessions.get(entry.session, 0.0) + kinds[entry.kind]
            for seq, entry in self._entries.items()
        }
        for seq, nearness in meaning.items():
            if seq in rough:
                rough[seq] += _MEANING_WEIGHT * nearness
        best = sorted(rough, key=rough.__getitem__, reverse=True)[:maximum]
        masks = {self._around[seq] for seq in best}
        covered = {mask: sum([self._words[bit].idf for bit in _split_bits(mask)]) / mass for mask in masks}
        shares = self._question_shares(masks)
        ranked = []
        for seq in best:
            entry = self._entries[seq]
            parts = self._score_parts(seq, entry, speaker, covered[self._around[seq]])
            if meaning:
                parts["meaning"] = _MEANING_WEIGHT * meaning.get(seq, 0.0)
            share = max(shares[self._around[seq]], cosines.get(seq, 0.0) - _UNRELATED_COSINE)
            ranked.append(Candidate(entry, parts, sum(parts.values()), share))
        return sorted(ranked, key=Candidate.order)

    def _lend_meaning(self, meaning: Mapping[int, float]) -> Mapping[int, float]:
        """Return the nearness of items next to near ones: an answer is often next to what is like the question."""
        more = dict[int, float]()
        for seq in self._near.keys() & meaning.keys() & self._entries.keys():
            before, after, _ = self._near[seq]
            lent = meaning[seq] * min(1.0, _SHORT_WORDS / max(1, self._entries[seq].length))
            for other, share in ((before, _MEANING_BEFORE), (after, _MEANING_AFTER)):
                if other in self._entries:
                    more[other] = more.get(other, meaning.get(other, 0.0)) + share * lent
        return more

    def _kind_sums(self) -> Mapping[int, float]:
        """Return the sum of the parts of each kind, as of a person's text."""
        kinds = {entry.kind for entry in self._entries.values()}
        return {kind: sum(self._kind_parts(kind, user=True).values()) for kind in kinds}

    def _question_shares(self, masks: Collection[int]) -> dict[int, float]:
        """Return the share of the question for each bit mask, not counting digits and single letters."""
        count = min(len(self._words) + self._unknown, _MANY_WORDS) or 1
        telling = sum(1 << bit for bit, word in enumerate(self._words) if word.tells)
        return {mask: min(1.0, (mask & telling).bit_count() / count) for mask in masks}

    def _speaker_in_query(self) -> str:
        """Return the speaker that the question names; empty unless there is exactly one."""
        names = {entry.speaker for entry in self._entries.values()}
        asked = set(words_of(self._query.text))
        named = {name for name in names if name and words_of(name)[:1] and words_of(name)[0] in asked}
        return named.pop() if len(named) == 1 else ""

    def _score_parts(self, seq: int, entry: SearchEntry, speaker: str, covered: float) -> dict[str, float]:
        query, kind, user = self._query, entry.kind, not _is_assistants(entry)
        parts = {
            "words": _WORDS_WEIGHT * self._scores[seq],
            "coverage": 0.2 * covered,
            "session": self._sessions.get(entry.session, 0.0),
            "recency": _RECENCY_WEIGHT * _decay(entry, query.now),
            "importance": 0.1 * (entry.importance - 0.5),
        }
        if speaker and entry.speaker == speaker:
            parts["speaker"] = 0.2
        if kind:
            parts |= self._kind_parts(kind, user=user)
        if not user:
            parts["assistant"] = 0.2 if query.assistants else -0.2
        if query.days:
            parts["day"] = self._day_part(entry.at)
        return {name: part for name, part in parts.items() if part}

    def _kind_parts(self, kind: int, *, user: bool) -> dict[str, float]:
        query = self._query
        return {
            "question": -0.1 if kind & Kind.QUESTION else 0.0,
            "bare question": -0.2 if kind & Kind.BARE_QUESTION else 0.0,
            "own past": (0.3 if query.own else 0.05) if user and kind & Kind.OWN_PAST else 0.0,
            "liking": 0.15 if query.advice and user and kind & Kind.LIKING else 0.0,
            "time": (0.15 if query.when else 0.05) if kind & Kind.TIME else 0.0,
            "name": 0.05 if query.names and kind & Kind.NAME else 0.0,
        }

    def _day_part(self, at: float) -> float:
        fits = (
            (1.0 if start <= at < end else 0.5 if start - _SECONDS_BEFORE <= at < end + _SECONDS_AFTER else 0.0)
            * max(_MIN_DAY_WEIGHT, _DAY_WEIGHT * math.log(366 / days))
            for start, end, days in self._query.spans
        )
        return max(fits)


def _is_assistants(entry: SearchEntry) -> bool:
    """Return whether the assistant said it in a conversation. Text it was asked to remember counts as the owner's."""
    return entry.role == "assistant" and entry.layer == Layer.CONVERSATION


def _scale_cosines(cosines: Mapping[int, float]) -> dict[int, float]:
    """Scale cosines from the farthest candidate to the nearest. The nearest has 1 if the farthest is unrelated.

    In a large memory all candidates are near, so that meaning discriminates less and counts less.
    """
    minimum, maximum = min(cosines.values(), default=0.0), max(cosines.values(), default=0.0)
    return {
        seq: (cosine - minimum) / ((maximum - min(minimum, _UNRELATED_COSINE)) or 1.0)
        for seq, cosine in cosines.items()
    }


def _decay(entry: SearchEntry, now: float) -> float:
    """Return 1 for a new item, halved after each half-life."""
    if entry.layer in _EVERGREEN_LAYERS:
        return 1.0
    days = max(0.0, now - entry.at) / 86_400
    return float(0.5 ** (days / _HALF_LIVES.get(entry.sort or entry.layer, _HALF_LIFE)))


@lru_cache(4_096)
def _split_bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def _count_bits(masks: Sequence[int]) -> Mapping[int, int]:
    """Count how many masks have each bit."""
    times: dict[int, int] = {}
    for mask in masks:
        for bit in _split_bits(mask):
            times[bit] = times.get(bit, 0) + 1
    return times


def _normalise(weights: Mapping[int, float]) -> dict[int, float]:
    best = max(weights.values(), default=0.0) or 1.0
    return {key: weight / best for key, weight in weights.items()}
