"""WordPiece tokenizer of BERT.

Follows the original implementation: https://github.com/google-research/bert/blob/master/tokenization.py
"""

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

_LONGEST_WORD = 100
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPieces:
    """Splits text into the tokens of a vocabulary."""

    def __init__(self, numbers: Mapping[str, int], *, lower: bool) -> None:
        """Take the vocabulary in `numbers`; `lower` ignores case and accents. Raises KeyError."""
        self._numbers = numbers
        self._lower = lower
        self._unknown = numbers["[UNK]"]
        self._first, self._last = numbers["[CLS]"], numbers["[SEP]"]
        self._pieces = lru_cache(20_000)(self._pieces_of)

    def encode(self, text: str, maximum: int) -> list[int]:
        """Return at most `maximum` token numbers, including the start and end tokens."""
        found = [self._first]
        for word in self._words(text):
            found += self._pieces(word)
            if len(found) >= maximum:
                break
        return [*found[: maximum - 1], self._last]

    def _words(self, text: str) -> Iterator[str]:
        spaced = "".join(_spaced(each) for each in text)
        if self._lower:
            spaced = "".join(
                each for each in unicodedata.normalize("NFD", spaced.lower()) if unicodedata.category(each) != "Mn"
            )
        for word in spaced.split():
            start = 0
            for place, each in enumerate(word):
                if _is_punctuation(each):
                    if start < place:
                        yield word[start:place]
                    yield each
                    start = place + 1
            if start < len(word):
                yield word[start:]

    def _pieces_of(self, word: str) -> tuple[int, ...]:
        """Return the longest matching tokens from left to right; a word that cannot be split completely is unknown."""
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        found, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._numbers.get(("##" if start else "") + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return (self._unknown,)
        return tuple(found)


@lru_cache(5_000)
def _spaced(each: str) -> str:
    if each in "\t\n\r":
        return " "
    category = unicodedata.category(each)
    if each in "\0\ufffd" or category.startswith("C"):
        return ""
    if category == "Zs":
        return " "
    return f" {each} " if any(first <= ord(each) <= last for first, last in _CHINESE) else each


@lru_cache(5_000)
def _is_punctuation(each: str) -> bool:
    return (each.isascii() and not each.isalnum() and each.isprintable() and each != " ") or unicodedata.category(
        each
    ).startswith("P")
