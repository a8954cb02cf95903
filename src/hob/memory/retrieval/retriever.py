"""The retriever: lexical and dense search, ranked, deduplicated and packed to a budget."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import partial

from hob.core.memory import Layer, MemoryItem, Recalled, Scope
from hob.core.values import dataclass
from hob.memory.embedding import MemoryEmbedder
from hob.memory.retrieval.asked_facts import rank_asked_facts
from hob.memory.retrieval.dense import BinaryVectorIndex, NearItems
from hob.memory.retrieval.lexical import Accept, find_by_words
from hob.memory.retrieval.other_profiles import Profile, reciprocal_ranks, weighted
from hob.memory.retrieval.query import Query
from hob.memory.retrieval.ranking import Candidate, rank, rank_days
from hob.store.memory.analysis import words_of
from hob.store.memory.search import ScopedIndex, SearchEntry, StoredIndex

_PHRASE_CANDIDATES = 50
"""Number of best results that are searched for quoted phrases."""
_PHRASE_BONUS = 0.3
_ENDED_PENALTY = -0.2
"""Added to the scores of facts that no longer hold, unless the question is about the past."""
_ABOUT_THE_PAST = re.compile(
    r"\b(?:before|used to|former\w*|previous\w*|once|did|was|were|early|früher\w*|vorher|davor|zuvor|bevor|"
    r"damals|ehemal\w*|war|gewohnt|gelebt|gearbeitet|wohnte|lebte|arbeitete)\b",
    re.I,
)
_DUPLICATE_SHARE = 0.9
"""Share of common words above which two items count as duplicates."""
_MAX_REPEATS = 2
"""Maximum number of times the same text is returned if it was said on several days."""
_DAY = 86_400.0
_SHORT_ANSWER = 80
"""Answers shorter than this many characters are shown with their question."""
_SPARE_ITEMS = 4
"""Additional items loaded per step, because some of them are left out."""
_CHARACTERS_PER_TOKEN = 4
"""Characters per token."""


@dataclass(frozen=True, slots=True)
class SnapshotSearch:
    """One search on one database snapshot."""

    query: Query
    layers: frozenset[str]
    now: float
    limit: int
    budget: int
    meaning: "Callable[[ScopedIndex], NearItems] | None" = None
    profile: Profile = Profile.HOB
    as_of: float = math.inf
    """Search memory as it was at this time (Unix seconds)."""

    def __call__(self, index: ScopedIndex) -> tuple[Recalled, ...]:
        layers, session = self.layers, index.session

        def accept(entry: SearchEntry) -> bool:
            fits = (not layers or entry.layer in layers) and (not session or entry.session == session)
            return fits and entry.at <= self.as_of

        ranked = rank_days(index, self.query, accept) if self.query.day_alone else []
        if not self.query.day_alone or self.query.day_written:
            known = {each.entry.seq for each in ranked}
            ranked += [each for each in self._rank(index, accept) if each.entry.seq not in known]
        chosen = tuple(packed(self._choose(index, ranked), self.limit, self.budget))
        return tuple(self._attach_questions(index, chosen))

    def _rank(self, index: ScopedIndex, accept: Accept) -> list[Candidate]:
        """Rank lexical and dense matches."""
        near = self.meaning(index) if self.meaning else NearItems({}, 0)
        query = self.query
        found = find_by_words(index, query.day_written if query.day_alone else query.text, accept)
        ranked = rank(index, self.query, found, accept, near, self.limit)
        if self.profile is not Profile.HOB:
            ranked = _reorder_by_profile(self.profile, ranked, near.cosines)
        if self.query.phrases:
            ranked = self._prefer_phrases(index, ranked)
        past = _ABOUT_THE_PAST.search(self.query.text) is not None
        if not past and not self.query.days:
            ranked = self._prefer_current(index, ranked)
        if self.as_of == math.inf:
            ranked = rank_asked_facts(index, self.query, ranked, accept, self.now, past=past)
        return ranked

    def _attach_questions(self, index: ScopedIndex, chosen: Sequence[Recalled]) -> Iterator[Recalled]:
        """Attach to a short answer the question immediately before it, if that is equally trusted."""
        short = [each.item.seq for each in chosen if each.item.kind == "turn" and len(each.item.text) < _SHORT_ANSWER]
        before = {seq: around[0] for seq, around in index.neighbours(short).items() if around[0]} if short else {}
        asked = index.load(before.values()) if before else {}
        shown = {each.item.seq for each in chosen}
        for each in chosen:
            question = asked.get(before.get(each.item.seq, 0))
            fits = (
                question is not None
                and question.seq not in shown
                and question.text.rstrip().endswith("?")
                and (question.label.trusted or question.label == each.item.label)
                and self._is_valid(index, question)
            )
            yield replace(each, asked=question) if fits else each

    def _prefer_phrases(self, index: ScopedIndex, ranked: Sequence[Candidate]) -> list[Candidate]:
        some = ranked[:_PHRASE_CANDIDATES]
        texts = index.texts(each.entry.seq for each in some)
        better = []
        for each in some:
            text = texts.get(each.entry.seq, "").lower()
            held = sum(phrase in text for phrase in self.query.phrases)
            better.append(each.with_part("phrase", _PHRASE_BONUS * held) if held else each)
        return [*sorted(better, key=Candidate.order), *ranked[_PHRASE_CANDIDATES:]]

    def _prefer_current(self, index: ScopedIndex, ranked: Sequence[Candidate]) -> list[Candidate]:
        """Move facts that no longer hold behind those that do."""
        some = ranked[:_PHRASE_CANDIDATES]
        facts = [each.entry.seq for each in some if each.entry.layer == Layer.FACT]
        items = index.load(facts) if facts else {}
        over = {seq for seq, item in items.items() if item.valid_to is not None and item.valid_to <= self.now}
        if not over:
            return [*ranked]
        less = [each.with_part("no longer so", _ENDED_PENALTY) if each.entry.seq in over else each for each in some]
        return [*sorted(less, key=Candidate.order), *ranked[_PHRASE_CANDIDATES:]]

    def _choose(self, index: ScopedIndex, ranked: Sequence[Candidate]) -> Iterator[Recalled]:
        """Yield the best valid results, without duplicates from the same day."""
        said, known = _ChosenTexts(), _ChosenTexts()
        step = max(1, self.limit) + _SPARE_ITEMS
        for start in range(0, len(ranked), step):
            some = ranked[start : start + step]
            sets = {text: frozenset(text.split()) for text in {each.entry.stems for each in some}}
            some = [each for each in some if not known.has(sets[each.entry.stems], each.entry.at)]
            firsts = {each.entry.stems: each.entry.seq for each in reversed(some)}
            items = index.load(firsts.values())
            for each in some:
                seq, stems = each.entry.seq, sets[each.entry.stems]
                if seq not in items and known.has(stems, each.entry.at):
                    continue
                item = items.get(seq) or index.load([seq]).get(seq)
                if item is None or not self._is_valid(index, item):
                    continue
                words = frozenset(words_of(item.text))
                if said.has(words, item.at):
                    continue
                said.add(words, item.at)
                known.add(stems, item.at)
                parts = {name: round(part, 4) for name, part in each.parts.items()}
                yield Recalled(item, round(each.score, 4), parts, share=each.share)

    def _is_valid(self, index: ScopedIndex, item: MemoryItem) -> bool:
        stands = not item.superseded_by or (self.as_of < math.inf and not index.is_replaced(item, self.as_of))
        return stands and (item.expires_at is None or item.expires_at > self.now)


class Retriever:
    """Searches memory. Results always belong to the scope that asks."""

    def __init__(
        self,
        index: StoredIndex,
        embedder: MemoryEmbedder | None = None,
        profile: Profile = Profile.HOB,
        zone: tzinfo | None = UTC,
    ) -> None:
        """Days in questions are those of `zone` (None: the machine's)."""
        self._index = index
        self._embedder = embedder
        self._profile = profile
        self._zone = zone
        self._signs: BinaryVectorIndex | None = None

    async def search(
        self,
        query: str,
        *,
        scope: Scope,
        now: float,
        layers: Collection[str] = (),
        limit: int = 8,
        budget: int = 0,
        meaning: bool = True,
        as_of: float = math.inf,
    ) -> tuple[Recalled, ...]:
        """Return items that help with the query, best first: at most `limit`, from these layers or from all.

        With a budget, the texts have at most that many tokens in total. With `as_of` (Unix seconds), later items are
        left out and items replaced later are included. Equal queries over equal memory give equal results on the same
        day, unless an item ends or expires meanwhile. Raises StoreErrors, and ModelError if an embedder is configured
        and fails.
        """
        search = SnapshotSearch(
            Query.parse(query, self._start_of_day(now), self._zone),
            frozenset(layers),
            now,
            limit,
            budget,
            await self._dense_search(query, scope) if meaning else None,
            self._profile,
            as_of,
        )
        return await self._index.read(scope, search)

    def _start_of_day(self, now: float) -> float:
        day = datetime.fromtimestamp(now, self._zone)
        return day.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()

    async def prepare(self, scope: Scope) -> None:
        """Load this scope's vector index ahead of a question. Raises StoreErrors."""
        if self._embedder is not None and (number := await self._embedder.serving()):
            await self._index.read(scope, self._vector_index(number).update)

    def _vector_index(self, embedder: int) -> BinaryVectorIndex:
        if self._signs is None or self._signs.embedder != embedder:
            self._signs = BinaryVectorIndex(embedder)
        return self._signs

    async def _dense_search(self, query: str, scope: Scope) -> "Callable[[ScopedIndex], NearItems] | None":
        """Return the dense search for the question. It is embedded without speakers' names, which carry no meaning."""
        if self._embedder is None or not query.strip():
            return None
        names = await self._index.read(scope, ScopedIndex.speakers)
        number, vector = await self._embedder.embed_question(_remove_names(names, query) or query)
        return partial(self._vector_index(number).find, vector=vector)


def _remove_names(names: Sequence[str], text: str) -> str:
    firsts = {re.escape(words[0]) for name in names if (words := words_of(name)) and name not in {"user", "assistant"}}
    if not firsts:
        return text
    left = re.sub(rf"\b({'|'.join(sorted(firsts))})(['\u2019]s)?\b", " ", text, flags=re.IGNORECASE)
    return " ".join(left.split())


def _reorder_by_profile(profile: Profile, ranked: Sequence[Candidate], cosines: Mapping[int, float]) -> list[Candidate]:
    """Reorder the candidates as another assistant would, by words and meaning alone."""
    words = sorted((each for each in ranked if each.parts.get("words")), key=lambda each: -each.parts["words"])
    by_words = [each.entry.seq for each in words]
    known = {each.entry.seq for each in ranked}
    near = {seq: cosine for seq, cosine in cosines.items() if seq in known}
    by_meaning = sorted(near, key=lambda seq: (-near[seq], seq))
    scores = reciprocal_ranks(by_words, by_meaning) if profile is Profile.RRF else weighted(by_words, near)
    left = (each for each in ranked if each.entry.seq in scores)
    joined = [Candidate(each.entry, {profile.value: scores[each.entry.seq]}, scores[each.entry.seq]) for each in left]
    return sorted(joined, key=Candidate.order)


def packed(found: Iterable[Recalled], limit: int, budget: int) -> Iterator[Recalled]:
    """Yield the first results within the limit and the token budget. A budget of 0 is unlimited."""
    left, spent = limit, 0
    for each in found if limit > 0 else ():
        cost = estimate_tokens(each.item.text) if budget else 0
        if spent + cost <= budget:
            left, spent = left - 1, spent + cost
            yield each
            if not left:
                return


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    return -(-len(text.encode("utf-8", "replace")) // _CHARACTERS_PER_TOKEN)


class _ChosenTexts:
    """Results chosen so far, by their words and days."""

    def __init__(self) -> None:
        self._all: list[tuple[frozenset[str], int, float]] = []

    def has(self, words: frozenset[str], at: float) -> bool:
        """Return whether the same was said on that day, or often enough."""
        size = len(words)
        minimum, maximum = _DUPLICATE_SHARE * size, size / _DUPLICATE_SHARE
        days = [day for others, count, day in self._all if minimum <= count <= maximum and _is_duplicate(words, others)]
        return at // _DAY in days or len(days) >= _MAX_REPEATS

    def add(self, words: frozenset[str], at: float) -> None:
        """Record a chosen result."""
        self._all.append((words, len(words), at // _DAY))


def _is_duplicate(words: frozenset[str], others: frozenset[str]) -> bool:
    both = len(words & others)
    return both >= _DUPLICATE_SHARE * max(1, len(words) + len(others) - both)
