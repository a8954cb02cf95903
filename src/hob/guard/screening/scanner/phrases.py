"""Finding words in order: one pass over the text, however many phrases there are."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from hob.guard.screening.scanner.rules import PHRASES, WORDS, Phrase

_TOKEN = re.compile(r"\w{1,60}+(?:['\u2019.-]\w{1,60}+){0,3}|[.!?;](?=\s|$)|\n\n")
_BREAKS = frozenset({".", "!", "?", ";", "\n\n"})
_STEM = 3  # letters that every stem has at least


@dataclass(frozen=True, slots=True)
class PhraseMatch:
    """A phrase in a text, from character to character."""

    phrase: Phrase
    start: int
    end: int


Place = tuple[int, int]
"""The first token and the one after the last."""


class _Vocabulary:
    """Which lists of words a token is in. Each list has a number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.words: defaultdict[str, list[int]] = defaultdict(list)
        self.stems: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self.rows: defaultdict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)

    def number_of(self, group: str) -> int:
        """The number of a list as a phrase writes it."""
        if group not in self.numbers:
            number = self.numbers[group] = len(self.numbers)
            for word in self._expand(group):
                self._add(word, number)
        return self.numbers[group]

    def look_up(self, word: str) -> tuple[list[int], list[tuple[tuple[str, ...], int]]]:
        """The lists that this word is in, and the rows of words that it begins, with their lists."""
        stems = [number for stem, number in self.stems.get(word[:_STEM], ()) if word.startswith(stem)]
        return self.words.get(word, []) + stems, self.rows.get(word, [])

    def _expand(self, group: str) -> Iterator[str]:
        for word in group.split("|"):
            yield from WORDS[word[1:]].split("|") if word.startswith("@") else (word,)

    def _add(self, word: str, number: int) -> None:
        first, *rest = word.split("_")
        if rest:
            self.rows[first].append((tuple(rest), number))
        elif first.endswith("*"):
            self.stems[first[:_STEM]].append((first[:-1], number))
        else:
            self.words[first].append(number)


@dataclass(frozen=True, slots=True)
class _Order:
    """A phrase ready to be looked for: its lists, and the most words before each of them but the first."""

    phrase: Phrase
    groups: tuple[int, ...]
    gaps: tuple[int, ...]


@cache
def _prepared() -> tuple[_Vocabulary, tuple[_Order, ...]]:
    vocabulary = _Vocabulary()
    orders = []
    for phrase in PHRASES:
        parts = phrase.words.split()
        groups = tuple(vocabulary.number_of(group) for group in parts[::2])
        orders.append(_Order(phrase, groups, tuple(map(int, parts[1::2]))))
    return vocabulary, tuple(orders)


def find_phrases(text: str) -> Iterator[PhraseMatch]:
    """The phrases in this text, each once."""
    tokens = list(_TOKEN.finditer(text))
    words = [token.group() for token in tokens]
    vocabulary, orders = _prepared()
    places = _places(words, vocabulary)
    breaks = {at for at, word in enumerate(words) if word in _BREAKS}
    for order in orders:
        if all(group in places for group in order.groups):
            found = _find(order, places, breaks)
            if found is not None:
                yield PhraseMatch(order.phrase, tokens[found[0]].start(), tokens[found[1] - 1].end())


def _places(words: Sequence[str], vocabulary: _Vocabulary) -> dict[int, list[Place]]:
    """Where words of each list stand, in order."""
    known = {word: found for word in set(words) if any(found := vocabulary.look_up(word))}
    places: defaultdict[int, list[Place]] = defaultdict(list)
    for at, word in enumerate(words):
        if word not in known:
            continue
        numbers, rows = known[word]
        for number in numbers:
            places[number].append((at, at + 1))
        for rest, number in rows:
            if tuple(words[at + 1 : at + 1 + len(rest)]) == rest:
                places[number].append((at, at + 1 + len(rest)))
    return places


def _find(order: _Order, places: dict[int, list[Place]], breaks: set[int]) -> Place | None:
    """The first place where the lists follow each other closely enough, with no end of a sentence between."""
    reached = {end: start for start, end in places[order.groups[0]]}
    for group, gap in zip(order.groups[1:], order.gaps, strict=True):
        further: dict[int, int] = {}
        for start, end in places[group]:
            for before in range(start, start - gap - 1, -1):
                if before in reached:
                    further.setdefault(end, reached[before])
                    break
                if before - 1 in breaks:
                    break
        if not further:
            return None
        reached = further
    end, start = next(iter(reached.items()))
    return start, end
